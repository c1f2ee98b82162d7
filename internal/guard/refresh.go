package guard

import (
	"context"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// refresher returns what begins to read the robots.txt of a site on behalf of a
// request, as [policy.Entry.Refresh] does. ok is false if it cannot be read on
// behalf of that.
func (g *Guard) refresher(r *http.Request, entry *policy.Entry, site *request.Site) (refresh func() <-chan struct{}, ok bool) {
	fetch, ok := g.Source.Prepare(r, site.Key)
	if !ok {
		return nil, false
	}
	own, of := *site, g.copiesOf(r, site) // so that those who do not refresh need no memory for it
	return func() <-chan struct{} {
		return entry.Refresh(g.Freshness, g.noteOwnFetch(&own, g.timed(fetch, entry.Good(), own.Key)), g.onFetched(&own, of))
	}, true
}

// fetchResult is what came of [Guard.fetchAndWait].
type fetchResult uint8

const (
	notDue     fetchResult = iota // the file is not due
	fetchBusy                     // it is due, and too many others are being fetched
	noFetch                       // it cannot be fetched on behalf of the request
	fetchBegun                    // it is being fetched, or was
)

// fetchAndWait fetches the robots.txt of a site in the background if it is due, and waits for the
// fetch until a time, not at all if that is zero.
func (g *Guard) fetchAndWait(r *http.Request, entry *policy.Entry, site *request.Site, until time.Time) fetchResult {
	refresh, ok := g.refresher(r, entry, site)
	if !ok {
		return noFetch
	}
	g.shared.proxies.saw(r)
	done := refresh()
	switch {
	case done == nil && entry.Due(time.Now()):
		return fetchBusy
	case done == nil:
		return notDue
	}
	if wait := time.Until(until); wait > 0 {
		awaitClosed(r, done, wait)
	}
	return fetchBegun
}

// timed bounds and counts an attempt to fetch a robots.txt. The attempt is ended
// by cancelling its context, never by a deadline: reverse_proxy takes a
// deadline for a failure of the upstream.
func (g *Guard) timed(fetch origin.Fetch, have *policy.Version, key policy.Key) func() policy.Answer {
	return func() policy.Answer {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		timer := time.AfterFunc(g.FetchTimeout, func() { cancel(origin.ErrFetchTimeout) })
		defer timer.Stop()
		start := time.Now()
		answer := fetch(ctx, have)
		answer.Of = have
		g.Metrics.Fetched(key.SourceKind(), answer.Meaning(), time.Since(start))
		return answer
	}
}

// onFetched returns what is to be done when an attempt to fetch a robots.txt has
// changed what is known of the site.
func (g *Guard) onFetched(s *request.Site, of copies.Of) func(before, after policy.State) {
	return func(before, after policy.State) {
		changed := after.Failures == 0 && (before.Good == nil || before.Good.Hash != after.Good.Hash)
		if s.Label != judge.OtherName && s.Segment == policy.Named {
			// Not only after a change: what was restored from the storage is
			// not shown yet.
			g.Metrics.SetState(s.Label, after)
		}
		g.noteElsewhere(s, after.Via)
		if after.Failures == 0 {
			now := time.Now()
			if before.Failures > 0 {
				g.shared.Copies.Recover(of.Host, before.FailingSince, now)
			}
			g.shared.Copies.Note(of, &after, now)
		}
		takesEffect := time.Time{}
		if changed {
			takesEffect = g.shared.Copies.EffectiveAt(of.Host, time.Now())
		}
		g.logFetched(s, before, after, changed, takesEffect)
		g.noteProtection(s.Key)
		if changed {
			g.logFindings(s, after.Good)
			g.edited(s.Key, before.Good, after.Good)
			g.emitChanged(s, before, after)
		}
		g.updateHolds(s, of, &after)
	}
}

// slotInterval is how often a request that waits looks whether its robots.txt can
// be read now.
const slotInterval = 5 * time.Millisecond

// awaitClosed waits until a channel is closed or a request has gone, for most at
// most.
func awaitClosed(r *http.Request, done <-chan struct{}, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-r.Context().Done():
	}
}
