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

// ConfirmationMode selects the changes that a person must confirm before they are published.
type ConfirmationMode string

// The values of ConfirmationMode.
const (
	// A person must confirm changes that newly disallow / or a requested page for a search engine.
	ConfirmSearch ConfirmationMode = "search"
	ConfirmAny    ConfirmationMode = "any" // A person must confirm all changes of a file.
	// No change must be confirmed, except a changed list of rules after a rollback.
	ConfirmOff ConfirmationMode = "off"
)

// maxCompared is the maximum number of compared files.
const maxCompared = 1000

// confirmationReasons returns why a person must confirm a submission. The result is empty if the
// submission needs no confirmation. isFirst is true if no change was published before.
func (p *Publisher) confirmationReasons(published *managed.Schedule, next submission, isFirst bool) []string {
	if p.ConfirmationMode == ConfirmOff {
		return nil
	}
	lost := p.shrunkListReasons(published, next.schedule)
	if p.ConfirmationMode == ConfirmSearch && managed.SameEffectFor(published, next.schedule, searchEngines(p.Registry)) {
		return lost
	}
	f, hosts := p.newReasonFinder(isFirst)
	compare := managed.Comparison{Before: published, After: next.schedule, Hosts: hosts, Base: p.NewBaseLookup(), Now: p.Now(), MaxPairs: maxCompared}
	var unread map[string]bool
	if p.hasBegun.Load() {
		compare.Hosts = append(hosts, p.place.Hosts...) // Each host may have its own base.
		if unread = p.hostsWithoutBase(compare.Base); len(unread) > 0 {
			p.awaitStorageRead(context.Background(), requestWait)
			compare.Base = p.NewBaseLookup()
			unread = p.hostsWithoutBase(compare.Base)
		}
	}
	add := f.addNewlyDisallowed
	if p.ConfirmationMode == ConfirmAny {
		add = func(files managed.FilePair) { f.addReason("the file changes", describeHosts(files), files) }
	}
	left := compare.ForEachDifference(add)
	if len(lost) > 0 {
		return append(lost, f.reasons...)
	}
	if why := f.reasonsOrLimit(left); len(why) > 0 || p.ConfirmationMode == ConfirmAny || len(unread) == 0 {
		return why
	}
	return p.reasonsWithoutBase(compare, f, unread)
}

// shrunkListReasons returns a reason for each list of rules that would lose more than half of its
// rules, which is often a mistake.
func (p *Publisher) shrunkListReasons(published, next *managed.Schedule) (reasons []string) {
	for _, list := range next.RuleListNames() {
		if lost, all := published.CountLostRules(next, list, p.Now()); 2*lost > all {
			reasons = append(reasons, fmt.Sprintf("%s: the list has lost more than half of its %d rules", list, all))
		}
	}
	return reasons
}

// reasonsWithoutBase returns the reasons that would apply if the unknown bases, of the hosts in
// unread, disallowed everything. The published rules may allow pages that such a base disallows. f
// must not have reasons yet.
func (p *Publisher) reasonsWithoutBase(compare managed.Comparison, f *reasonFinder, unread map[string]bool) []string {
	base := compare.Base
	compare.Base = func(host string) []byte {
		if unread[host] {
			return []byte("User-agent: *\nDisallow: /\n")
		}
		return base(host)
	}
	left := compare.ForEachDifference(f.addNewlyDisallowed)
	for i := range f.reasons {
		f.reasons[i] += ", if the site's own robots.txt, which was not read yet, forbids it"
	}
	return f.reasonsOrLimit(left)
}

// disallowedVisitReasons returns a reason for each page that the trial's rules disallow now, the published
// rules allow, and a search engine requested in the last 24 hours.
func (p *Publisher) disallowedVisitReasons(published, trial *managed.Schedule) []string {
	if managed.SameEffectFor(published, trial, searchEngines(p.Registry)) {
		return nil
	}
	f, hosts := p.newReasonFinder(false)
	f.engines = nil
	compare := managed.Comparison{Before: published, After: trial, Hosts: hosts, Base: p.NewBaseLookup(), Now: p.Now(), OnlyNow: true, MaxPairs: maxCompared}
	compare.ForEachDifference(f.addNewlyDisallowed)
	return f.reasons
}

// hostsWithoutBase returns the hosts of the site whose base is unknown, except wildcards.
func (p *Publisher) hostsWithoutBase(base func(host string) []byte) map[string]bool {
	unread := make(map[string]bool)
	for _, host := range p.place.Hosts {
		if !strings.ContainsAny(host, "*{") && base(host) == nil {
			unread[host] = true
		}
	}
	return unread
}

// newReasonFinder returns a finder without reasons, and the hosts at which search engines requested
// pages in the last 24 hours.
func (p *Publisher) newReasonFinder(isFirst bool) (f *reasonFinder, hosts []string) {
	f = &reasonFinder{engines: searchEngines(p.Registry), isFirstChange: isFirst, visits: make(map[string][]ledger.CrawlerVisit), startTimes: make(map[string]time.Time)}
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

// reasonFinder collects the reasons for which a person must confirm a change.
type reasonFinder struct {
	engines       []*uaident.Crawler
	isFirstChange bool
	visits        map[string][]ledger.CrawlerVisit // The key is the host.
	reasons       []string
	// startTimes has the time from which each reason applies, by the reason and its hosts.
	startTimes map[string]time.Time
}

// reasonsOrLimit returns the reasons. left is the number of files that were not compared. If no
// other reason is known, this is the reason.
func (f *reasonFinder) reasonsOrLimit(left int) []string {
	if left > 0 && len(f.reasons) == 0 {
		return []string{fmt.Sprintf("only the first %d files were compared, %d more were not", maxCompared, left)}
	}
	return f.reasons
}

// addReason adds a reason for the files of p. hosts describes their hosts; it is "" for all hosts.
// A reason that applies to the same hosts or to all hosts from the same time or earlier is not
// added again.
func (f *reasonFinder) addReason(reason, hosts string, p managed.FilePair) {
	for _, key := range []string{reason, reason + hosts} {
		if since, ok := f.startTimes[key]; ok && !since.After(p.From) {
			return
		}
	}
	f.startTimes[reason+hosts] = p.From
	f.reasons = append(f.reasons, reason+hosts+describeStart(p))
}

// addNewlyDisallowed adds reasons if a search engine may no longer fetch / or a page that it
// requested in the last 24 hours. The first change of a site may disallow everything at staging
// hosts.
func (f *reasonFinder) addNewlyDisallowed(p managed.FilePair) {
	before, after := policy.Parse(p.Before), policy.Parse(p.After)
	engines := f.engines
	if f.isFirstChange && string(p.After) == managed.Staging {
		engines = nil
	}
	if out := judge.FindShutOut(before, after, judge.ProtectedSearchTraffic{Engines: engines}); !out.IsEmpty() {
		f.addReason(joinFirstTokens(out.Engines)+" may not fetch / any more", describeHosts(p), p)
	}
	for _, host := range p.Hosts {
		visits := f.visits[host]
		for _, i := range judge.FindShutOut(before, after, judge.ProtectedSearchTraffic{Pages: ledger.PagesFromVisits(visits)}).Pages {
			f.addReason(fmt.Sprintf("%s may not fetch %s any more, which it requested in the last 24 hours", visits[i].Crawler, visits[i].Target), "", p)
		}
	}
}

// joinFirstTokens joins the product tokens of search engines, the large search engines first. A
// long list is shortened to three tokens and a number.
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

// describeHosts returns the hosts of p as in " at a.example and b.example", or "" if p is also for
// hosts that no rule names.
func describeHosts(p managed.FilePair) string {
	named := slices.DeleteFunc(slices.Clone(p.Hosts), func(host string) bool { return host == "" })
	switch {
	case len(named) < len(p.Hosts) || len(named) == 0: // The pair is for hosts that no rule names, too.
		return ""
	case len(named) > 2:
		return fmt.Sprintf(" at %s and %d more", named[0], len(named)-1)
	}
	return " at " + strings.Join(named, " and ")
}

// describeStart returns the start of p as in " from 2026-11-27T00:00:00Z", or "" for now.
func describeStart(p managed.FilePair) string {
	if p.From.IsZero() {
		return ""
	}
	return " from " + p.From.Format(time.RFC3339)
}
