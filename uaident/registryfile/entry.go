package registryfile

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

const entryDescription = `an entry is an object such as {"token": "FooBot", "class": "search", "source": "https://foo.example/bot"}`

// These are the field names of an entry, in output order, and of its verification object.
var (
	entryFields = []string{
		"token", "operator", "class", "user_triggered", "wildcard", "fallback", "aliases", "robots_only", "controls", "family", "app",
		"exact_case", "verification", "source", "checked", "provenance", "crawl_delay", "crawl_delay_max", "crawl_delay_wildcard", "crawl_delay_source",
		"purposes", "purposes_source", "robots_lag", "robots_lag_source", "note",
	}
	verificationFields = []string{"rdns", "ranges", "confirming_ranges", "web_bot_auth", "unsure"}
)

// These are the allowed values of provenance, crawl_delay and purposes.
var (
	provenances   = []string{"documented", "dataset", "unsourced"}
	delaySupports = []string{"undocumented", "obeys", "ignores"}
	purposes      = uaident.PurposeSet(^uaident.PurposeSet(0)).Names()
)

// entry is a decoded registry entry with its position in the file.
type entry struct {
	uaident.Crawler
	offset int // offset is the byte offset of the entry.
}

// classNames returns the names of the classes that an entry can have.
func classNames() (names []string) {
	for _, c := range uaident.Classes() {
		if c != uaident.Browser {
			names = append(names, c.String())
		}
	}
	return names
}

// parseEntry decodes an entry and checks everything except duplicate names and fallbacks (see checkNames).
func (r *parser) parseEntry() (e entry) {
	_, e.offset = r.Peek()
	numErrors, class, provenance, delay := len(r.errs), "", "", false
	r.readObject("", entryDescription, entryFields, func(field string) {
		switch field {
		case "token":
			e.Token = r.readString(field, maxName)
		case "operator":
			e.Operator = r.readString(field, maxName)
		case "class":
			class = r.readEnum(field, classNames())
			e.Class, _ = uaident.ParseClass(class)
		case "user_triggered":
			e.UserTriggered = r.readBool(field)
		case "wildcard":
			e.Wildcard = uaident.WildcardOff
			if r.readBool(field) {
				e.Wildcard = uaident.WildcardOn
			}
		case "fallback":
			e.Fallback = r.readStrings(field, maxName)
		case "aliases":
			e.Aliases = r.readStrings(field, maxName)
		case "robots_only":
			e.RobotsOnly = r.readBool(field)
		case "controls":
			e.Controls = r.readString(field, maxText)
		case "family":
			e.Family = r.readBool(field)
		case "app":
			e.App = r.readBool(field)
		case "exact_case":
			e.ExactCase = r.readBool(field)
		case "verification":
			r.parseVerification(&e.Verification)
		case "source":
			e.Source = r.readHTTPSURL(field)
		case "checked":
			e.Checked = r.readDate(field)
		case "provenance":
			provenance = r.readEnum(field, provenances)
			e.Provenance = uaident.Provenance(max(0, slices.Index(provenances, provenance)))
		case "crawl_delay":
			delay = true
			e.CrawlDelay.Support = uaident.DelaySupport(max(0, slices.Index(delaySupports, r.readEnum(field, delaySupports))))
		case "crawl_delay_max":
			e.CrawlDelay.Max = time.Duration(r.readNumber(field, 86400)) * time.Second
		case "crawl_delay_wildcard":
			e.CrawlDelay.FallsBackToWildcard = r.readBool(field)
		case "crawl_delay_source":
			e.CrawlDelay.Source = r.readHTTPSURL(field)
		case "purposes":
			r.readArray("purposes must be a list, for example [\"training\"]", func() {
				word := r.readEnum("purpose", purposes)
				if i := slices.Index(purposes, word); i >= 0 {
					e.Purposes.Set |= 1 << i
				}
			})
		case "purposes_source":
			e.Purposes.Source = r.readHTTPSURL(field)
		case "robots_lag":
			e.RobotsLag.Max = time.Duration(r.readNumber(field, uint64(uaident.MaxRobotsLag/time.Second))) * time.Second
		case "robots_lag_source":
			e.RobotsLag.Source = r.readHTTPSURL(field)
		case "note":
			r.readString(field, maxText)
		}
	})
	if len(r.errs) > numErrors {
		return e // Otherwise, checkEntry would report consequences of these errors.
	}
	r.checkEntry(&e, class, provenance, delay)
	return e
}

// parseVerification decodes the object in the field verification.
func (r *parser) parseVerification(v *uaident.Verification) {
	r.readObject("verification: ", `must be an object, for example {"rdns": [".foo.example"]}`, verificationFields, func(field string) {
		switch field {
		case "rdns":
			v.RDNS = r.readStrings(field, maxText)
		case "ranges":
			v.Ranges = r.readHTTPSURLs(field)
		case "confirming_ranges":
			v.PartialRanges = r.readHTTPSURLs(field)
		case "web_bot_auth":
			v.WebBotAuth = r.readHTTPSURL(field)
		case "unsure":
			v.IsThirdParty = r.readBool(field)
		}
	})
}

// readHTTPSURL decodes an https URL.
func (r *parser) readHTTPSURL(field string) string {
	text := r.readString(field, maxText)
	r.checkHTTPSURL(r.Offset(), field, text)
	return text
}

// readHTTPSURLs decodes a list of https URLs.
func (r *parser) readHTTPSURLs(field string) []string {
	_, offset := r.Peek()
	links := r.readStrings(field, maxText)
	for _, link := range links {
		r.checkHTTPSURL(offset, field, link)
	}
	return links
}

// checkHTTPSURL records an error at the byte offset if link is neither "" nor an https URL.
func (r *parser) checkHTTPSURL(offset int, field, link string) {
	if u, err := url.Parse(link); link != "" && (err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil) {
		r.failAt(offset, "%s: %.80q is not an https URL, for example https://foo.example/bot", field, link)
	}
}

// checkEntry checks rules about several fields of an entry: required fields, and fields that
// require others.
func (r *parser) checkEntry(e *entry, class, provenance string, delay bool) {
	fail := func(format string, args ...any) {
		r.failAt(e.offset, "%s: "+format, append([]any{cmp.Or(e.Token, "an entry")}, args...)...)
	}
	switch {
	case e.Token == "":
		fail("missing token; %s", entryDescription)
		return
	case class == "":
		fail("missing class; write one of %s", strings.Join(classNames(), ", "))
		return
	case e.Source == "" && provenance != "unsourced":
		fail(`missing source; add the operator's page, or write "provenance": "unsourced"`)
	}
	if err := r.base.Validate(&e.Crawler); err != nil {
		fail("%s", strings.TrimPrefix(err.Error(), fmt.Sprintf("crawler %q: ", e.Token)))
	}
	d := e.CrawlDelay
	switch {
	case !delay && (d.Max > 0 || d.FallsBackToWildcard || d.Source != ""):
		fail("crawl_delay_max, crawl_delay_wildcard and crawl_delay_source require crawl_delay; add obeys, ignores or undocumented")
	case delay && d.Source == "":
		fail("crawl_delay requires crawl_delay_source, the URL of the documentation")
	case d.Max > 0 && d.Support != uaident.DelayObeyed:
		fail(`crawl_delay_max requires "crawl_delay": "obeys"`)
	case d.FallsBackToWildcard && d.Support != uaident.DelayObeyed:
		fail(`crawl_delay_wildcard requires "crawl_delay": "obeys"`)
	}
	if (e.Purposes.Set == 0) != (e.Purposes.Source == "") {
		fail("purposes or purposes_source is missing; write both (purposes_source is the URL of the documentation)")
	}
	if (e.RobotsLag.Max == 0) != (e.RobotsLag.Source == "") {
		fail("robots_lag or robots_lag_source is missing; write both (seconds, and the URL of the documentation)")
	}
}

// checkNames records an error for each name of two entries, and for each fallback that is a name in
// neither the file nor base.
func (r *parser) checkNames(entries []entry) {
	for i := range entries {
		e := &entries[i]
		for _, name := range append([]string{e.Token}, e.Aliases...) {
			key := strings.ToLower(name)
			if e.ExactCase && name == e.Token {
				key = name
			}
			if other, ok := r.nameOwners[key]; ok && name != "" {
				r.failAt(e.offset, "%s: the name %q already belongs to %s; remove it from one of the entries", e.Token, name, other)
			}
			r.nameOwners[key] = e.Token
		}
	}
	for i := range entries {
		for _, f := range entries[i].Fallback {
			if _, ok := r.nameOwners[strings.ToLower(f)]; !ok && r.base.Lookup(f) == nil {
				r.failAt(entries[i].offset, "%s: unknown fallback %q; add an entry for it, or remove it", entries[i].Token, f)
			}
		}
	}
}
