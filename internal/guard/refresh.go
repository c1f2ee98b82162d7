package guard

import (
	"context"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// refresher returns a function that starts a fetch of a site's robots.txt for a request, like
// [policy.Entry.Refresh]. ok is false if the source cannot fetch for the request.
func (g *Guard) refresher(r *http.Request, entry *policy.Entry, site *site.Site) (refresh func() <-chan struct{}, ok bool) {
	fetch, ok := g.Source.Prepare(r, site.Key)
	if !ok {
		return nil, false
	}
	own, of := *site, g.copiesOf(r, site) // allocated only for a refresh
	return func() <-chan struct{} {
		return entry.Refresh(g.Freshness, g.noteOwnFetch(&own, g.timed(fetch, entry.Current(), own.Key)), g.onFetched(&own, of))
	}, true
}

// fetchResult is the result of [Guard.fetchAndWait].
type fetchResult uint8

const (
	notDue     fetchResult = iota // the file is not due
	fetchBusy                     // due, but too many other fetches are under way
	noFetch                       // the source cannot fetch for the request
	fetchBegun                    // under way or done
)

// fetchAndWait starts a fetch of a site's robots.txt if it is due, and waits for the fetch until a time.
// The zero time means no wait.
func (g *Guard) fetchAndWait(r *http.Request, entry *policy.Entry, site *site.Site, until time.Time) fetchResult {
	refresh, ok := g.refresher(r, entry, site)
	if !ok {
		return noFetch
	}
	g.shared.proxies.saw(r)
	done := refresh()
	switch {
	case done == nil && entry.IsDue(time.Now()):
		return fetchBusy
	case done == nil:
		return notDue
	}
	if wait := time.Until(until); wait > 0 {
		awaitClosed(r, done, wait)
	}
	return fetchBegun
}

// timed limits the time of a fetch and counts it. It cancels the context instead of setting a deadline,
// because reverse_proxy treats a deadline as a failure of the upstream.
func (g *Guard) timed(fetch site.Fetch, have *policy.Version, key policy.Key) func() policy.FetchResult {
	return func() policy.FetchResult {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		timer := time.AfterFunc(g.FetchTimeout, func() { cancel(site.ErrFetchTimeout) })
		defer timer.Stop()
		start := time.Now()
		answer := fetch(ctx, have)
		answer.CachedVersion = have
		g.Metrics.ObserveFetch(key.SourceKind(), answer.AccessResult(), time.Since(start))
		return answer
	}
}

// onFetched returns the function that handles a new state of the site after a fetch.
func (g *Guard) onFetched(s *site.Site, of copies.RequestHost) func(before, after policy.State) {
	return func(before, after policy.State) {
		changed := after.Failures == 0 && (before.Current == nil || before.Current.Hash != after.Current.Hash)
		if s.Label != judge.OtherName && s.Segment == policy.ConfiguredHosts {
			// Also without a change: a state restored from the storage is not in the metrics yet.
			g.Metrics.SetState(s.Label, after)
		}
		g.noteElsewhere(s, after.RedirectTargets)
		if after.Failures == 0 {
			now := time.Now()
			if before.Failures > 0 {
				g.shared.Copies.ExtendGrace(of.Host, before.FailingSince, now)
			}
			g.shared.Copies.RecordCurrent(of, &after, now)
		}
		takesEffect := time.Time{}
		if changed {
			takesEffect = g.shared.Copies.EffectiveAt(of.Host, time.Now())
		}
		g.logFetched(s, before, after, changed, takesEffect)
		g.noteProtection(s.Key)
		if changed {
			g.logFindings(s, after.Current)
			g.edited(s.Key, before.Current, after.Current)
			g.emitChanged(s, before, after)
		}
		g.updateHolds(s, of, &after)
	}
}

// slotInterval is how often a waiting request checks whether its robots.txt can be fetched now.
const slotInterval = 5 * time.Millisecond

// awaitClosed waits until a channel is closed, the request is cancelled, or most has passed.
func awaitClosed(r *http.Request, done <-chan struct{}, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-r.Context().Done():
	}
}
