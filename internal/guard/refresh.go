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

// newRefresher returns a function that starts a fetch of a site's robots.txt for a request, like
// [policy.Entry.Refresh]. ok is false if the source cannot fetch for the request.
func (g *Guard) newRefresher(r *http.Request, entry *policy.Entry, site *site.Site) (refresh func() <-chan struct{}, ok bool) {
	fetch, ok := g.Source.Prepare(r, site.Key)
	if !ok {
		return nil, false
	}
	own, of := *site, g.requestHostOf(r, site) // allocated only for a refresh
	return func() <-chan struct{} {
		return entry.Refresh(g.Freshness, g.recordOwnFetch(&own, g.withTimeout(fetch, entry.Current(), own.Key)), g.fetchObserver(&own, of))
	}, true
}

// fetchAndWait starts a fetch of a site's robots.txt if due, and waits for the fetch until a time.
// The zero time means no wait.
func (g *Guard) fetchAndWait(r *http.Request, entry *policy.Entry, site *site.Site, until time.Time) {
	refresh, ok := g.newRefresher(r, entry, site)
	if !ok {
		return
	}
	g.state.proxies.record(r)
	if time.Until(until) <= 0 {
		refresh()
		return
	}
	ctx, cancel := context.WithDeadline(r.Context(), until)
	defer cancel()
	_ = awaitFetch(ctx, entry, refresh, entry.State() == nil) // the request goes on without the file
}

// fetchNow starts a new fetch and waits for its end. A running fetch may have started before a
// change, so another fetch follows.
func fetchNow(ctx context.Context, entry *policy.Entry, refresh func() <-chan struct{}) error {
	entry.MakeDue()
	for range 2 {
		if err := awaitFetch(ctx, entry, refresh, true); err != nil {
			return err
		}
	}
	return nil
}

// slotInterval is how often awaitFetch tries to start a fetch while too many other fetches run.
const slotInterval = 5 * time.Millisecond

// awaitFetch starts a fetch if the entry is due, and waits for the end of the fetch or of ctx.
// While too many other fetches run, awaitFetch also waits for the start if queues is true.
func awaitFetch(ctx context.Context, entry *policy.Entry, refresh func() <-chan struct{}, queues bool) error {
	done := refresh()
	for done == nil && queues && entry.IsDue(time.Now()) {
		select {
		case <-time.After(slotInterval):
			done = refresh()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// withTimeout limits the time of a fetch and updates the fetch metrics. It cancels the context instead of
// setting a deadline, because reverse_proxy treats a deadline as a failure of the upstream.
func (g *Guard) withTimeout(fetch site.FetchFunc, have *policy.Version, key policy.Key) func() policy.FetchResult {
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

// fetchObserver returns a function for handling a new state of the site after a fetch.
func (g *Guard) fetchObserver(s *site.Site, of copies.RequestHost) func(before, after policy.State) {
	return func(before, after policy.State) {
		changed := after.FailureCount == 0 && (before.Current == nil || before.Current.Hash != after.Current.Hash)
		if s.Label != judge.OtherName && s.Segment == policy.ConfiguredHosts {
			// Also without a change: a state restored from the storage is not in the metrics yet.
			g.Metrics.SetState(s.Label, after)
		}
		g.recordRedirectTargets(s, after.RedirectTargets)
		if after.FailureCount == 0 {
			now := time.Now()
			if before.FailureCount > 0 {
				g.state.Copies.ExtendGrace(of.Host, before.FailingSince, now)
			}
			g.state.Copies.RecordCurrentCopy(of, &after, now)
		}
		takesEffect := time.Time{}
		if changed {
			takesEffect = g.state.Copies.EffectiveTime(of.Host, time.Now())
		}
		g.logFetched(s, before, after, changed, takesEffect)
		g.logProtection(s.Key)
		if changed {
			g.logFindings(s, after.Current)
			g.recordEdit(s.Key, before.Current, after.Current)
			g.emitChanged(s, before, after)
		}
		g.updateHolds(s, of, &after)
	}
}
