package publish

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/changeguard"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Confirm says which changes wait for a person.
type Confirm string

// The words of Confirm.
const (
	Search Confirm = "search" // that newly forbid a search engine / or a page that it was served
	Any    Confirm = "any"    // that change a text
	Off    Confirm = "off"    // none
)

// mostCompared bounds how many texts are compared.
const mostCompared = 1000

// reasons returns why a wish has to be confirmed, none if it does not. first says that
// nothing was published before.
func (r *Release) reasons(published *managed.Schedule, w wish, first bool) []string {
	if r.Confirm == Off {
		return nil
	}
	lost := r.lostLists(published, w.schedule)
	if r.Confirm == Search && managed.SameFor(published, w.schedule, searchEngines(r.Registry)) {
		return lost
	}
	f, hosts := r.newFinder(first)
	compare := managed.Comparison{Before: published, After: w.schedule, Hosts: hosts, Base: r.Base(), Now: r.Now(), Most: mostCompared}
	var unread map[string]bool
	if r.begun.Load() {
		compare.Hosts = append(hosts, r.place.Hosts...) // which may have bases of their own
		if unread = r.unread(compare.Base); len(unread) > 0 {
			r.publisher.AwaitStored(context.Background())
			compare.Base = r.Base()
			unread = r.unread(compare.Base)
		}
	}
	left := compare.Each(f.search(r.Confirm))
	if len(lost) > 0 {
		return append(lost, f.reasons...)
	}
	if why := f.found(left); len(why) > 0 || r.Confirm == Any || len(unread) == 0 {
		return why
	}
	return r.reasonsUnread(compare, f, unread)
}

// lostLists returns which lists would lose more than half of their rules: that is more often
// a mistake of the source than what its owner wants.
func (r *Release) lostLists(published, next *managed.Schedule) (reasons []string) {
	for _, list := range r.Lists {
		if lost, all := published.LostRules(next, list, r.Now()); 2*lost > all {
			reasons = append(reasons, fmt.Sprintf("%s: it has lost more than half of its %d rules", list, all))
		}
	}
	return reasons
}

// reasonsUnread is reasons for hosts whose base was not read here, as where it fails since
// the start: the rules may have opened what it closes. f has found nothing else.
func (r *Release) reasonsUnread(compare managed.Comparison, f *finder, unread map[string]bool) []string {
	base := compare.Base
	compare.Base = func(host string) []byte {
		if unread[host] {
			return []byte("User-agent: *\nDisallow: /\n")
		}
		return base(host)
	}
	left := compare.Each(f.search(r.Confirm))
	for i := range f.reasons {
		f.reasons[i] += ", if the site's own robots.txt forbids it, which was not read here yet"
	}
	return f.found(left)
}

// shutOut returns the pages that search engines requested lately and that a change newly
// disallows in the files in force now, in words.
func (r *Release) shutOut(published, tried *managed.Schedule) []string {
	if managed.SameFor(published, tried, searchEngines(r.Registry)) {
		return nil
	}
	f, hosts := r.newFinder(false)
	f.engines = nil
	compare := managed.Comparison{Before: published, After: tried, Hosts: hosts, Base: r.Base(), Now: r.Now(), OnlyNow: true, Most: mostCompared}
	compare.Each(f.closed)
	return f.reasons
}

// unread returns the hosts of the place, but for wildcards, of which no base is known.
func (r *Release) unread(base func(host string) []byte) map[string]bool {
	unread := make(map[string]bool)
	for _, host := range r.place.Hosts {
		if !strings.ContainsAny(host, "*{") && base(host) == nil {
			unread[host] = true
		}
	}
	return unread
}

// newFinder returns what looks at what changes, and the hosts whose pages were served.
func (r *Release) newFinder(first bool) (f *finder, hosts []string) {
	f = &finder{engines: searchEngines(r.Registry), first: first, visits: make(map[string][]ledger.Visit), told: make(map[string]time.Time)}
	for _, v := range r.Visits() {
		if v.Host == judge.OtherName {
			v.Host = ""
		}
		if f.visits[v.Host] == nil {
			hosts = append(hosts, v.Host)
		}
		f.visits[v.Host] = append(f.visits[v.Host], v)
	}
	return f, hosts
}

// searchEngines returns the crawlers of the class search.
func searchEngines(registry *uaident.Registry) (all []*uaident.Crawler) {
	crawlers := registry.Crawlers()
	for i := range crawlers {
		if c := &crawlers[i]; c.Class == uaident.Search {
			all = append(all, c)
		}
	}
	return all
}

// finder finds out what speaks against a change.
type finder struct {
	engines []*uaident.Crawler
	first   bool
	visits  map[string][]ledger.Visit // by host
	reasons []string
	told    map[string]time.Time // since when a reason holds, by its words and hosts
}

// search returns what looks for that which has to be confirmed.
func (f *finder) search(confirm Confirm) func(managed.Pair) {
	if confirm == Any {
		return f.any
	}
	return f.closed
}

// found returns what was found, where so many texts were left out.
func (f *finder) found(left int) []string {
	if left > 0 && len(f.reasons) == 0 {
		return []string{fmt.Sprintf("there are %d texts more than the %d that were compared", left, mostCompared)}
	}
	return f.reasons
}

// any takes every difference for a reason.
func (f *finder) any(p managed.Pair) { f.add("the text changes", at(p), p) }

// add takes a reason that holds for a pair at some hosts, all for "". One that holds
// before, there or everywhere, is told once.
func (f *finder) add(reason, at string, p managed.Pair) {
	for _, key := range []string{reason, reason + at} {
		if since, ok := f.told[key]; ok && !since.After(p.From) {
			return
		}
	}
	f.told[reason+at] = p.From
	f.reasons = append(f.reasons, reason+at+since(p))
}

// closed looks for search engines that are newly forbidden / or what they were served.
// A site that says from its beginning that it is for tests is meant to be closed.
func (f *finder) closed(p managed.Pair) {
	before, after := policy.Parse(p.Before), policy.Parse(p.After)
	engines := f.engines
	if f.first && string(p.After) == managed.Staging {
		engines = nil
	}
	if out := judge.ShutsOutSearch(before, after, judge.Served{Engines: engines}); !out.IsEmpty() {
		f.add(someOf(out.Engines)+" may not fetch / any more", at(p), p)
	}
	for _, host := range p.Hosts {
		visits := f.visits[host]
		for _, i := range judge.ShutsOutSearch(before, after, judge.Served{Pages: changeguard.PagesOf(visits)}).Pages {
			f.add(fmt.Sprintf("%s may not fetch %s any more, which it requested in the last 24 hours", visits[i].Crawler, visits[i].Target), "", p)
		}
	}
}

// someOf names the first of many crawlers, the big ones before others.
func someOf(tokens []string) string {
	const most = 3
	engines := judge.SearchEngines()
	place := func(token string) int {
		if i := slices.IndexFunc(engines, func(c *uaident.Crawler) bool { return c.Token == token }); i >= 0 {
			return i
		}
		return len(engines)
	}
	slices.SortStableFunc(tokens, func(a, b string) int { return place(a) - place(b) })
	if len(tokens) > most {
		return fmt.Sprintf("%s and %d more search crawlers", strings.Join(tokens[:most], ", "), len(tokens)-most)
	}
	return strings.Join(tokens, ", ")
}

// at tells for which hosts a pair is, "" for any.
func at(p managed.Pair) string {
	named := slices.DeleteFunc(slices.Clone(p.Hosts), func(host string) bool { return host == "" })
	switch {
	case len(named) < len(p.Hosts) || len(named) == 0: // hosts that no rule names, too
		return ""
	case len(named) > 2:
		return fmt.Sprintf(" at %s and %d more", named[0], len(named)-1)
	}
	return " at " + strings.Join(named, " and ")
}

// since tells from when a pair is, "" for now.
func since(p managed.Pair) string {
	if p.From.IsZero() {
		return ""
	}
	return " from " + p.From.Format(time.RFC3339)
}
