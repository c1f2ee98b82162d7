package edition

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

const wantEntry = `an entry is an object such as {"token": "FooBot", "class": "search", "source": "https://foo.example/bot"}`

// entryFields are the fields of an entry, in the order in which they are written.
var (
	entryFields = []string{
		"token", "operator", "class", "user_triggered", "wildcard", "fallback", "aliases", "robots_only", "controls", "family", "app",
		"exact_case", "verification", "source", "checked", "provenance", "crawl_delay", "crawl_delay_max", "crawl_delay_wildcard", "crawl_delay_source",
		"purposes", "purposes_source", "robots_lag", "robots_lag_source", "note",
	}
	verificationFields = []string{"rdns", "ranges", "confirming_ranges", "web_bot_auth", "unsure"}
)

// The words of a provenance, of a crawl_delay and of purposes.
var (
	provenances = []string{"documented", "dataset", "unsourced"}
	habits      = []string{"undocumented", "obeys", "ignores"}
	purposes    = uaident.PurposeSet(^uaident.PurposeSet(0)).Words()
)

// entry is an entry of a text.
type entry struct {
	uaident.Crawler
	at int // where it begins
}

// classes returns the words of the classes that an entry may have.
func classes() (all []string) {
	for _, c := range uaident.Classes() {
		if c != uaident.Browser {
			all = append(all, c.String())
		}
	}
	return all
}

// entry reads an entry and checks what does not need others.
func (r *reader) entry() (e entry) {
	_, e.at = r.Peek()
	before, class, provenance, delay := len(r.errs), "", "", false
	r.object("", wantEntry, entryFields, func(field string) {
		switch field {
		case "token":
			e.Token = r.text(field, maxName)
		case "operator":
			e.Operator = r.text(field, maxName)
		case "class":
			class = r.word(field, classes())
			e.Class, _ = uaident.ParseClass(class)
		case "user_triggered":
			e.UserTriggered = r.flag(field)
		case "wildcard":
			e.Wildcard = uaident.WildcardOff
			if r.flag(field) {
				e.Wildcard = uaident.WildcardOn
			}
		case "fallback":
			e.Fallback = r.texts(field, maxName)
		case "aliases":
			e.Aliases = r.texts(field, maxName)
		case "robots_only":
			e.RobotsOnly = r.flag(field)
		case "controls":
			e.Controls = r.text(field, maxText)
		case "family":
			e.Family = r.flag(field)
		case "app":
			e.App = r.flag(field)
		case "exact_case":
			e.ExactCase = r.flag(field)
		case "verification":
			r.verification(&e.Verification)
		case "source":
			e.Source = r.link(field)
		case "checked":
			e.Checked = r.date(field)
		case "provenance":
			provenance = r.word(field, provenances)
			e.Provenance = uaident.Provenance(max(0, slices.Index(provenances, provenance)))
		case "crawl_delay":
			delay = true
			e.CrawlDelay.Habit = uaident.DelayHabit(max(0, slices.Index(habits, r.word(field, habits))))
		case "crawl_delay_max":
			e.CrawlDelay.Max = time.Duration(r.number(field, 86400)) * time.Second
		case "crawl_delay_wildcard":
			e.CrawlDelay.Wildcard = r.flag(field)
		case "crawl_delay_source":
			e.CrawlDelay.Source = r.link(field)
		case "purposes":
			r.array("purposes has to be a list such as [\"training\"]", func() {
				word := r.word("purpose", purposes)
				if i := slices.Index(purposes, word); i >= 0 {
					e.Purposes.Of |= 1 << i
				}
			})
		case "purposes_source":
			e.Purposes.Source = r.link(field)
		case "robots_lag":
			e.RobotsLag.Most = time.Duration(r.number(field, uint64(uaident.MaxRobotsLag/time.Second))) * time.Second
		case "robots_lag_source":
			e.RobotsLag.Source = r.link(field)
		case "note":
			r.text(field, maxText)
		}
	})
	if len(r.errs) > before {
		return e // what else is wrong may follow from that
	}
	r.check(&e, class, provenance, delay)
	return e
}

func (r *reader) verification(v *uaident.Verification) {
	r.object("verification: ", `it has to be an object such as {"rdns": [".foo.example"]}`, verificationFields, func(field string) {
		switch field {
		case "rdns":
			v.RDNS = r.texts(field, maxText)
		case "ranges":
			v.Ranges = r.links(field)
		case "confirming_ranges":
			v.ConfirmingRanges = r.links(field)
		case "web_bot_auth":
			v.WebBotAuth = r.link(field)
		case "unsure":
			v.Unsure = r.flag(field)
		}
	})
}

// link reads an https URL.
func (r *reader) link(field string) string {
	text := r.text(field, maxText)
	r.checkLink(r.At(), field, text)
	return text
}

// links reads a list of https URLs.
func (r *reader) links(field string) []string {
	_, at := r.Peek()
	links := r.texts(field, maxText)
	for _, link := range links {
		r.checkLink(at, field, link)
	}
	return links
}

func (r *reader) checkLink(at int, field, link string) {
	if u, err := url.Parse(link); link != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil) {
		r.failAt(at, "%s: %.80q is no https URL; write one such as https://foo.example/bot", field, link)
	}
}

// check tells what is wrong with an entry as a whole.
func (r *reader) check(e *entry, class, provenance string, delay bool) {
	fail := func(format string, args ...any) {
		r.failAt(e.at, "%s: "+format, append([]any{cmp.Or(e.Token, "an entry")}, args...)...)
	}
	switch {
	case e.Token == "":
		fail("it has no token; %s", wantEntry)
		return
	case class == "":
		fail("it has no class; write one of %s", strings.Join(classes(), ", "))
		return
	case e.Source == "" && provenance != "unsourced":
		fail(`it has no source; name the operator's page, or write "provenance": "unsourced"`)
	}
	if err := e.Validate(); err != nil {
		fail("%s", strings.TrimPrefix(err.Error(), fmt.Sprintf("crawler %q: ", e.Token)))
	}
	d := e.CrawlDelay
	switch {
	case !delay && (d.Max > 0 || d.Wildcard || d.Source != ""):
		fail("it has crawl_delay_max, crawl_delay_wildcard or crawl_delay_source and no crawl_delay; add obeys, ignores or undocumented")
	case delay && d.Source == "":
		fail("crawl_delay has no source; add crawl_delay_source, the page that says so")
	case d.Max > 0 && d.Habit != uaident.DelayObeyed:
		fail("crawl_delay_max is for crawlers that obey; remove it")
	case d.Wildcard && d.Habit != uaident.DelayObeyed:
		fail("crawl_delay_wildcard is for crawlers that obey; remove it")
	}
	if (e.Purposes.Of == 0) != (e.Purposes.Source == "") {
		fail("purposes and purposes_source, the page that says so, go together; write both")
	}
	if (e.RobotsLag.Most == 0) != (e.RobotsLag.Source == "") {
		fail("robots_lag, in seconds, and robots_lag_source, the page that says so, go together; write both")
	}
}

// checkTogether tells which names several entries have, and which fallbacks none has.
func (r *reader) checkTogether(entries []entry) {
	for i := range entries {
		e := &entries[i]
		for _, name := range append([]string{e.Token}, e.Aliases...) {
			key := strings.ToLower(name)
			if e.ExactCase && name == e.Token {
				key = name
			}
			if other, ok := r.owner[key]; ok && name != "" {
				r.failAt(e.at, "%s: the name %q is already that of %s; a name is that of one crawler", e.Token, name, other)
			}
			r.owner[key] = e.Token
		}
	}
	for i := range entries {
		for _, f := range entries[i].Fallback {
			if _, ok := r.owner[strings.ToLower(f)]; !ok && uaident.Default().Lookup(f) == nil {
				r.failAt(entries[i].at, "%s: the fallback %q is no known crawler; add an entry for it, or remove it", entries[i].Token, f)
			}
		}
	}
}
