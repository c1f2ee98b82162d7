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

// entryFields are the fields of an entry, in output order.
var (
	entryFields = []string{
		"token", "operator", "class", "user_triggered", "wildcard", "fallback", "aliases", "robots_only", "controls", "family", "app",
		"exact_case", "verification", "source", "checked", "provenance", "crawl_delay", "crawl_delay_max", "crawl_delay_wildcard", "crawl_delay_source",
		"purposes", "purposes_source", "robots_lag", "robots_lag_source", "note",
	}
	verificationFields = []string{"rdns", "ranges", "confirming_ranges", "web_bot_auth", "unsure"}
)

// Allowed values of provenance, crawl_delay and purposes.
var (
	provenances = []string{"documented", "dataset", "unsourced"}
	habits      = []string{"undocumented", "obeys", "ignores"}
	purposes    = uaident.PurposeSet(^uaident.PurposeSet(0)).Words()
)

// entry is a decoded entry.
type entry struct {
	uaident.Crawler
	at int // byte offset of the entry
}

// classes returns the names of the allowed classes.
func classes() (all []string) {
	for _, c := range uaident.Classes() {
		if c != uaident.Browser {
			all = append(all, c.String())
		}
	}
	return all
}

// entry decodes an entry and checks every rule that concerns this entry only.
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
			r.array("purposes must be a list such as [\"training\"]", func() {
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
		return e // further errors could be consequences
	}
	r.check(&e, class, provenance, delay)
	return e
}

func (r *reader) verification(v *uaident.Verification) {
	r.object("verification: ", `must be an object such as {"rdns": [".foo.example"]}`, verificationFields, func(field string) {
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

// link decodes an https URL.
func (r *reader) link(field string) string {
	text := r.text(field, maxText)
	r.checkLink(r.At(), field, text)
	return text
}

// links decodes a list of https URLs.
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
		r.failAt(at, "%s: %.80q is not an https URL such as https://foo.example/bot", field, link)
	}
}

// check checks the rules that concern several fields of an entry.
func (r *reader) check(e *entry, class, provenance string, delay bool) {
	fail := func(format string, args ...any) {
		r.failAt(e.at, "%s: "+format, append([]any{cmp.Or(e.Token, "an entry")}, args...)...)
	}
	switch {
	case e.Token == "":
		fail("missing token; %s", wantEntry)
		return
	case class == "":
		fail("missing class; write one of %s", strings.Join(classes(), ", "))
		return
	case e.Source == "" && provenance != "unsourced":
		fail(`missing source; add the operator's page, or write "provenance": "unsourced"`)
	}
	if err := e.Validate(); err != nil {
		fail("%s", strings.TrimPrefix(err.Error(), fmt.Sprintf("crawler %q: ", e.Token)))
	}
	d := e.CrawlDelay
	switch {
	case !delay && (d.Max > 0 || d.Wildcard || d.Source != ""):
		fail("crawl_delay_max, crawl_delay_wildcard and crawl_delay_source require crawl_delay; add obeys, ignores or undocumented")
	case delay && d.Source == "":
		fail("crawl_delay requires crawl_delay_source, the URL of the documentation")
	case d.Max > 0 && d.Habit != uaident.DelayObeyed:
		fail("crawl_delay_max requires crawl_delay obeys")
	case d.Wildcard && d.Habit != uaident.DelayObeyed:
		fail("crawl_delay_wildcard requires crawl_delay obeys")
	}
	if (e.Purposes.Of == 0) != (e.Purposes.Source == "") {
		fail("purposes and purposes_source require each other; purposes_source is the URL of the documentation")
	}
	if (e.RobotsLag.Most == 0) != (e.RobotsLag.Source == "") {
		fail("robots_lag (seconds) and robots_lag_source require each other; robots_lag_source is the URL of the documentation")
	}
}

// checkTogether reports names in several entries and unknown fallbacks.
func (r *reader) checkTogether(entries []entry) {
	for i := range entries {
		e := &entries[i]
		for _, name := range append([]string{e.Token}, e.Aliases...) {
			key := strings.ToLower(name)
			if e.ExactCase && name == e.Token {
				key = name
			}
			if other, ok := r.owner[key]; ok && name != "" {
				r.failAt(e.at, "%s: the name %q already belongs to %s; use a name once", e.Token, name, other)
			}
			r.owner[key] = e.Token
		}
	}
	for i := range entries {
		for _, f := range entries[i].Fallback {
			if _, ok := r.owner[strings.ToLower(f)]; !ok && uaident.Default().Lookup(f) == nil {
				r.failAt(entries[i].at, "%s: unknown fallback %q; add an entry for it, or remove it", entries[i].Token, f)
			}
		}
	}
}
