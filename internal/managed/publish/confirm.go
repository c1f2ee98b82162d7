package publish

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// ConfirmationMode selects the changes that need confirmation by a person.
type ConfirmationMode string

// The values of ConfirmationMode.
const (
	Search ConfirmationMode = "search" // changes that newly disallow / or a requested page for a search engine
	Any    ConfirmationMode = "any"    // all changes of a file
	Off    ConfirmationMode = "off"    // no changes
)

// maxCompared is the maximum number of compared files.
const maxCompared = 1000

// confirmationReasons returns the reasons to confirm a submission. first is true if nothing was published before.
func (p *Publisher) confirmationReasons(published *managed.Schedule, next submission, first bool) []string {
	if p.ConfirmationMode == Off {
		return nil
	}
	lost := p.lostListReasons(published, next.schedule)
	if p.ConfirmationMode == Search && managed.SameEffectFor(published, next.schedule, searchEngines(p.Registry)) {
		return lost
	}
	f, hosts := p.newReasonFinder(first)
	compare := managed.Comparison{Before: published, After: next.schedule, Hosts: hosts, Base: p.NewBaseLookup(), Now: p.Now(), MaxPairs: maxCompared}
	var unread map[string]bool
	if p.hasBegun.Load() {
		compare.Hosts = append(hosts, p.place.Hosts...) // each host may have its own base
		if unread = p.hostsWithoutBase(compare.Base); len(unread) > 0 {
			p.awaitStored(context.Background(), requestWait)
			compare.Base = p.NewBaseLookup()
			unread = p.hostsWithoutBase(compare.Base)
		}
	}
	left := compare.ForEach(f.checkFor(p.ConfirmationMode))
	if len(lost) > 0 {
		return append(lost, f.reasons...)
	}
	if why := f.sortedReasons(left); len(why) > 0 || p.ConfirmationMode == Any || len(unread) == 0 {
		return why
	}
	return p.reasonsWithoutBase(compare, f, unread)
}

// lostListReasons describes the lists that would lose more than half of their rules, often by mistake.
func (p *Publisher) lostListReasons(published, next *managed.Schedule) (reasons []string) {
	for _, list := range next.ListNames() {
		if lost, all := published.CountLostRules(next, list, p.Now()); 2*lost > all {
			reasons = append(reasons, fmt.Sprintf("%s: the list has lost more than half of its %d rules", list, all))
		}
	}
	return reasons
}

// reasonsWithoutBase returns reasons for the hosts whose base is unknown. The base may disallow everything,
// and the published rules may allow disallowed pages. f must not have reasons yet.
func (p *Publisher) reasonsWithoutBase(compare managed.Comparison, f *reasonFinder, unread map[string]bool) []string {
	base := compare.Base
	compare.Base = func(host string) []byte {
		if unread[host] {
			return []byte("User-agent: *\nDisallow: /\n")
		}
		return base(host)
	}
	left := compare.ForEach(f.checkFor(p.ConfirmationMode))
	for i := range f.reasons {
		f.reasons[i] += ", if the site's own robots.txt, which was not read yet, forbids it"
	}
	return f.sortedReasons(left)
}

// shutOutReasons describes pages newly disallowed by a change that takes effect now. Search engines requested
// the pages in the last 24 hours.
func (p *Publisher) shutOutReasons(published, trial *managed.Schedule) []string {
	if managed.SameEffectFor(published, trial, searchEngines(p.Registry)) {
		return nil
	}
	f, hosts := p.newReasonFinder(false)
	f.engines = nil
	compare := managed.Comparison{Before: published, After: trial, Hosts: hosts, Base: p.NewBaseLookup(), Now: p.Now(), OnlyNow: true, MaxPairs: maxCompared}
	compare.ForEach(f.addShutOut)
	return f.reasons
}

// hostsWithoutBase returns the hosts whose base is unknown. Wildcards are skipped.
func (p *Publisher) hostsWithoutBase(base func(host string) []byte) map[string]bool {
	unread := make(map[string]bool)
	for _, host := range p.place.Hosts {
		if !strings.ContainsAny(host, "*{") && base(host) == nil {
			unread[host] = true
		}
	}
	return unread
}

// newReasonFinder returns a finder of reasons, and the hosts whose pages search engines requested.
func (p *Publisher) newReasonFinder(first bool) (f *reasonFinder, hosts []string) {
	f = &reasonFinder{engines: searchEngines(p.Registry), isFirstChange: first, visits: make(map[string][]ledger.Visit), startTimes: make(map[string]time.Time)}
	for _, v := range p.Visits() {
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

// reasonFinder collects the reasons to confirm a change.
type reasonFinder struct {
	engines       []*uaident.Crawler
	isFirstChange bool
	visits        map[string][]ledger.Visit // by host
	reasons       []string
	startTimes    map[string]time.Time // start of each reason, by reason and hosts
}

// checkFor returns the check for a pair of files.
func (f *reasonFinder) checkFor(confirm ConfirmationMode) func(managed.FilePair) {
	if confirm == Any {
		return f.addDifference
	}
	return f.addShutOut
}

// sortedReasons returns the reasons. left is the number of files without a comparison.
func (f *reasonFinder) sortedReasons(left int) []string {
	if left > 0 && len(f.reasons) == 0 {
		return []string{fmt.Sprintf("only the first %d files were compared, %d more were not", maxCompared, left)}
	}
	return f.reasons
}

// addDifference adds a reason for every difference.
func (f *reasonFinder) addDifference(p managed.FilePair) {
	f.addReason("the file changes", hostsPhrase(p), p)
}

// addReason adds a reason for a pair at some hosts, or at all hosts if at is "". add skips a reason that already
// applies earlier at the same hosts or at all hosts.
func (f *reasonFinder) addReason(reason, at string, p managed.FilePair) {
	for _, key := range []string{reason, reason + at} {
		if since, ok := f.startTimes[key]; ok && !since.After(p.From) {
			return
		}
	}
	f.startTimes[reason+at] = p.From
	f.reasons = append(f.reasons, reason+at+startPhrase(p))
}

// addShutOut adds a reason for each search engine that newly must not fetch / or a requested page. A site
// whose first change is staging may disallow everything.
func (f *reasonFinder) addShutOut(p managed.FilePair) {
	before, after := policy.Parse(p.Before), policy.Parse(p.After)
	engines := f.engines
	if f.isFirstChange && string(p.After) == managed.Staging {
		engines = nil
	}
	if out := judge.FindShutOut(before, after, judge.ProtectedSearchTraffic{Engines: engines}); !out.IsEmpty() {
		f.addReason(joinFirstTokens(out.Engines)+" may not fetch / any more", hostsPhrase(p), p)
	}
	for _, host := range p.Hosts {
		visits := f.visits[host]
		for _, i := range judge.FindShutOut(before, after, judge.ProtectedSearchTraffic{Pages: ledger.ServedPagesOf(visits)}).Pages {
			f.addReason(fmt.Sprintf("%s may not fetch %s any more, which it requested in the last 24 hours", visits[i].Crawler, visits[i].Target), "", p)
		}
	}
}

// joinFirstTokens returns the first crawlers of a long list. The large search engines come first.
func joinFirstTokens(tokens []string) string {
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

// hostsPhrase describes the hosts of a pair. The result is "" for any host.
func hostsPhrase(p managed.FilePair) string {
	named := slices.DeleteFunc(slices.Clone(p.Hosts), func(host string) bool { return host == "" })
	switch {
	case len(named) < len(p.Hosts) || len(named) == 0: // hosts that no rule names, too
		return ""
	case len(named) > 2:
		return fmt.Sprintf(" at %s and %d more", named[0], len(named)-1)
	}
	return " at " + strings.Join(named, " and ")
}

// startPhrase describes the start of a pair. The result is "" for now.
func startPhrase(p managed.FilePair) string {
	if p.From.IsZero() {
		return ""
	}
	return " from " + p.From.Format(time.RFC3339)
}
