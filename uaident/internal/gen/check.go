package main

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// check returns all that is wrong with the entries of registry.json.
func check(entries []entry) error {
	var errs []error
	owner := map[string]string{} // name in lower case: token
	for i, e := range entries {
		for _, name := range append([]string{e.Token}, e.Aliases...) {
			lower := strings.ToLower(name)
			if e.ExactCase && name == e.Token {
				lower = name
			}
			if other, ok := owner[lower]; ok {
				errs = append(errs, fmt.Errorf("%s: the name %q is already that of %s", e.Token, name, other))
			}
			owner[lower] = e.Token
		}
		if i > 0 && strings.ToLower(entries[i-1].Token) > strings.ToLower(e.Token) {
			errs = append(errs, fmt.Errorf("%s: must come before %s", e.Token, entries[i-1].Token))
		}
	}
	for _, e := range entries {
		fail := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf(e.Token+": "+format, args...))
		}
		if goClasses[e.Class] == "" {
			fail("unknown class %q", e.Class)
		}
		for _, f := range e.Fallback {
			if o, ok := owner[strings.ToLower(f)]; !ok {
				fail("the fallback %q is in no entry", f)
			} else if o == e.Token {
				fail("falls back to itself")
			}
		}
		for _, suffix := range e.Verification.RDNS {
			if !strings.HasPrefix(suffix, ".") || strings.Count(suffix, ".") < 2 || suffix != strings.ToLower(suffix) {
				fail("rdns %q must be a dot and a domain in lower case", suffix)
			}
		}
		links := []string{e.Verification.WebBotAuth, e.Source, e.CrawlDelaySource, e.PurposesSource, e.RobotsLagSource}
		for _, link := range slices.Concat(links, e.Verification.Ranges, e.Verification.Confirming) {
			if u, err := url.Parse(link); link != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
				fail("%q is not an https URL", link)
			}
		}
		checkDelay(e, fail)
		checkPurposes(e, fail)
		if e.RobotsLag < 0 || (e.RobotsLag > 0) != (e.RobotsLagSource != "") {
			fail("has a robots_lag, in seconds, without robots_lag_source, or the other way round")
		}
		if _, err := time.Parse(time.DateOnly, e.Checked); err != nil {
			fail("checked %q is not the day on which the entry was checked, such as 2026-11-23", e.Checked)
		}
		switch e.Provenance {
		case "", "dataset":
			if e.Source == "" {
				fail("has no source, so its provenance is \"unsourced\"")
			}
		case "unsourced":
		default:
			fail("unknown provenance %q", e.Provenance)
		}
	}
	return errors.Join(errs...)
}

// checkDelay tells what is wrong with what an entry says of Crawl-delay: nothing may
// be said of an operator without a page that says it.
func checkDelay(e entry, fail func(format string, args ...any)) {
	switch {
	case e.CrawlDelay == "" && (e.CrawlDelayMax != 0 || e.CrawlDelaySource != ""):
		fail("has a crawl_delay_max or crawl_delay_source without crawl_delay")
	case e.CrawlDelay != "" && goHabits[e.CrawlDelay] == "":
		fail("unknown crawl_delay %q", e.CrawlDelay)
	case e.CrawlDelay != "" && e.CrawlDelaySource == "":
		fail("crawl_delay has no source")
	case e.CrawlDelayMax < 0 || e.CrawlDelayMax > 0 && e.CrawlDelay != "obeys":
		fail("crawl_delay_max %d is for crawlers that obey, in seconds", e.CrawlDelayMax)
	case e.DelayWildcard && e.CrawlDelay != "obeys":
		fail("crawl_delay_wildcard is for crawlers that obey")
	}
}

// checkPurposes tells what is wrong with what an entry says of purposes: nothing may be
// said of an operator without a page that says it.
func checkPurposes(e entry, fail func(format string, args ...any)) {
	if (len(e.Purposes) > 0) != (e.PurposesSource != "") {
		fail("has purposes without purposes_source, or the other way round")
	}
	for i, word := range e.Purposes {
		if goPurposes[word] == "" || slices.Contains(e.Purposes[:i], word) {
			fail("unknown or repeated purpose %q", word)
		}
	}
}
