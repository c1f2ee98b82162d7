package guard

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// ServesSome says until end is called that some operators are served a change before
// others, or were less than a day ago. Their crawlers may have read it at another
// instance, whose readings are not known here.
func (s *State) ServesSome(change shadow.Change) (end func()) {
	return sync.OnceFunc(s.tried.ofSome.add(change))
}

// Changed says that hosts are served another robots.txt than until now: our copies of
// it are due.
func (s *State) Changed(has func(host string) bool) {
	for _, e := range s.Cache.Entries() {
		if host, _ := addr.CutPort(e.Key().Host); e.Key().Source == "" && has(host) {
			e.MakeDue()
		}
	}
}

// knowsChange reports whether a crawler may know a change that its operator is served
// before others and that allows a request. One whose identity is not known yet is given
// the benefit of the doubt a few times only, and so is a text. waits and until are as
// for [Guard.servedTo].
func (g *Guard) knowsChange(r *http.Request, j *Judgement, waits bool, now, until time.Time) bool {
	if j.Identity != verify.Verified && j.Identity != verify.Unknown {
		return false
	}
	for _, c := range g.changesFor(r, j) {
		versions := c.versions(r, waits, now, until, g.graceOf(j))
		may := len(versions) == 0 // it is not known yet
		for _, v := range versions {
			may = may || g.allows(r, j, v)
		}
		sure := j.Identity == verify.Verified && len(versions) > 0
		if may && (sure || g.shared.served.Site(*j.Site.Own()).MayPass(addr.Network(request.ClientAddr(r)), now)) {
			return true
		}
	}
	return false
}

// changesFor returns the changes that the operator of a crawler is served before others,
// or was since the crawler has read the file last.
func (g *Guard) changesFor(r *http.Request, j *Judgement) (found []tried) {
	if g.shared.tried == nil || g.SourceKey != "" || j.Client.Crawler == nil {
		return nil
	}
	all := g.shared.tried.ofSome.all.Load()
	if all == nil {
		return nil
	}
	host, _ := addr.CutPort(j.Site.Own().Host)
	for _, c := range *all {
		if !c.Has(host) || !c.ServedTo(operatorOf(j)) {
			continue
		}
		if last, known := g.lastReading(r, j); known && !c.Ended.IsZero() && last.At.After(c.Ended) {
			continue
		}
		found = append(found, g.shared.tried.of(c, j.Site, host))
	}
	return found
}

// versions returns the text that is tried with those that it has replaced within the
// grace, none while that is not known. Only who waits waits for it, until then at most.
func (t tried) versions(r *http.Request, waits bool, now, until time.Time, grace time.Duration) []*policy.Version {
	if t.entry.Due(now) {
		done := t.candidate.read(t.entry, t.host)
		if done != nil && waits && t.entry.State() == nil {
			awaitClosed(r, done, time.Until(until))
		}
	}
	state := t.entry.State()
	version := shadow.Readable(state)
	if version == nil {
		return nil
	}
	return slices.Concat([]*policy.Version{version}, state.Held(now, time.Time{}, grace))
}
