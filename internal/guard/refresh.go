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

// prepareFetch returns a function that starts a fetch of a site's robots.txt for a request, like
// [policy.Entry.Refresh]. ok is false if the source cannot fetch for the request.
func (g *Guard) prepareFetch(r *http.Request, entry *policy.Entry, s *site.Site) (refresh func() <-chan struct{}, ok bool) {
	fetch, ok := g.Source.Prepare(r, s.Key)
	if !ok {
		return nil, false
	}
	own, of := *s, g.newRequestHost(r, s) // These copies are allocated only for a refresh.
	return func() <-chan struct{} {
		return entry.Refresh(g.Freshness, g.wrapToRecordFetch(&own, g.limitFetchTime(fetch, entry.Current(), own.Key)), g.newFetchObserver(&own, of))
	}, true
}

// fetchAndWait starts a fetch of a site's robots.txt if the file is due, and waits for the fetch
// until the given time. The zero time means not to wait.
func (g *Guard) fetchAndWait(r *http.Request, entry *policy.Entry, s *site.Site, until time.Time) {
	refresh, ok := g.prepareFetch(r, entry, s)
	if !ok {
		return
	}
	g.state.proxies.recordProxy(r)
	if time.Until(until) <= 0 {
		refresh()
		return
	}
	ctx, cancel := context.WithDeadline(r.Context(), until)
	defer cancel()
	_ = startAndAwaitFetch(ctx, entry, refresh, entry.State() == nil) // The request goes on without the file.
}

// fetchEntryNow fetches the robots.txt of an entry and waits until the fetch or ctx ends. If a
// fetch already runs, fetchEntryNow starts another one after it, because the file may have changed
// since.
func fetchEntryNow(ctx context.Context, entry *policy.Entry, refresh func() <-chan struct{}) error {
	entry.MakeDue()
	// If a fetch already runs, the first turn waits for it. MakeDue has made the entry due after it.
	for range 2 {
		if err := startAndAwaitFetch(ctx, entry, refresh, true); err != nil {
			return err
		}
	}
	return nil
}

// slotInterval is the interval at which startAndAwaitFetch tries to start a fetch while too many
// other fetches run.
const slotInterval = 5 * time.Millisecond

// startAndAwaitFetch starts a fetch if the entry is due, and waits until the fetch or ctx ends. If
// too many other fetches run, it does not fetch, or waits for its turn if queues is true.
// startAndAwaitFetch returns an error only if ctx ends first.
func startAndAwaitFetch(ctx context.Context, entry *policy.Entry, refresh func() <-chan struct{}, queues bool) error {
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

// limitFetchTime returns a fetch with the timeout FetchTimeout that also updates the fetch metrics.
// It cancels the context instead of setting a deadline, because reverse_proxy treats a deadline as
// a failure of the upstream.
func (g *Guard) limitFetchTime(fetch site.FetchFunc, have *policy.Version, key policy.Key) func() policy.FetchResult {
	return func() policy.FetchResult {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		timer := time.AfterFunc(g.FetchTimeout, func() { cancel(site.ErrFetchTimeout) })
		defer timer.Stop()
		start := time.Now()
		answer := fetch(ctx, have)
		answer.CachedVersion = have
		g.state.Metrics.ObserveFetch(key.SourceKind(), answer.AccessResult(), time.Since(start))
		return answer
	}
}

// newFetchObserver returns a function that records and reports the result of a fetch, given the
// states of the robots.txt before and after the fetch.
func (g *Guard) newFetchObserver(s *site.Site, of copies.RequestHost) func(before, after policy.State) {
	return func(before, after policy.State) {
		changed := after.FailureCount == 0 && (before.Current == nil || before.Current.Hash != after.Current.Hash)
		if s.Label != judge.OtherName && s.CacheSegment == policy.ConfiguredHosts {
			// Also without a change: a state restored from the storage is not in the metrics yet.
			g.state.Metrics.SetRobotsState(s.Label, after)
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
		g.logProtectionChanges(s.Key)
		if changed {
			g.logFindings(s, after.Current)
			g.recordEdit(s.Key, before.Current, after.Current)
			g.emitRobotsChanged(s, before, after)
		}
		g.updateHolds(s, of, &after)
	}
}
