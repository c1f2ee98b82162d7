package guard

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/copies"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// state returns what is known of the site, nil if nothing is. If the robots.txt is due it
// is fetched in the background. With waits the request waits for that, for most at most,
// where there is no copy, where it is too old to be used, or where the site is closed while
// the file cannot be read.
func (g *Guard) state(r *http.Request, entry *policy.Entry, site *request.Site, waits bool, now time.Time, most time.Duration) *policy.State {
	if !entry.Due(now) {
		return entry.State() // not what was known before it was asked, since when it may have been read
	}
	refresh, ok := g.refresher(r, entry, site)
	if !ok {
		return entry.State()
	}
	g.shared.proxies.saw(r)
	begun := time.Now()
	done := refresh()
	for done == nil && waits && entry.State() == nil && time.Since(begun) < most { // others are being fetched
		awaitClosed(r, nil, min(slotInterval, most))
		if r.Context().Err() != nil {
			break
		}
		done = refresh()
	}
	state := entry.State()
	if done == nil || !waits {
		return state
	}
	if state != nil && !state.Expired(now) {
		if _, closed := state.Usable(now, g.Fallback); !closed {
			return state
		}
	}
	awaitClosed(r, done, most-time.Since(begun))
	return entry.State()
}

// readAgain reads the robots.txt before a crawler is blocked or slowed that may know a newer
// one than our copy, and returns what is known then, nil if that is the same text by the same
// redirects. A crawler may have read the file where this guard does not see it, at a cache or
// at another instance; one that was seen to read our copy may have done so, too. It reads at
// most once in [Guard.leastAge], sooner if the site was seen to answer otherwise, and after an
// attempt that failed not before the next one is due. With waits the request waits for that, until the given time
// at most.
func (g *Guard) readAgain(r *http.Request, j *Judgement, entry *policy.Entry, state *policy.State, waits bool, now, until time.Time) *policy.State {
	if state == nil || state.Good == nil || j.Identity == verify.Spoofed {
		return nil
	}
	if entry.Suspect() || now.Sub(state.Good.LastRead) >= g.leastAge(j.Site.Key) {
		if refresh, ok := g.refresher(r, entry, j.Site); ok {
			done := refresh()
			// An attempt under way is new enough, and so is one that has failed since.
			if latest := entry.State(); done == nil && latest != nil && latest.Failures == 0 && !entry.Suspect() {
				entry.MarkSuspect(now)
				done = refresh()
			}
			if done != nil && waits {
				awaitClosed(r, done, time.Until(until))
			}
		}
	}
	// It may have been read meanwhile on behalf of this request, since it was due, or of
	// another one while this has waited.
	return newerState(entry, state)
}

// newerState returns what is known of a site if that is another file than state has, or one by
// other redirects; else nil.
func newerState(entry *policy.Entry, state *policy.State) *policy.State {
	newer := entry.State()
	if newer == nil || newer.Good == nil || newer.Good.Hash == state.Good.Hash && slices.Equal(newer.Via, state.Via) {
		return nil
	}
	return newer
}

// fileInterval is how often a file is read at most before blocks.
const fileInterval = 10 * time.Second

// leastAge is how old a copy is at least that is read again before a block. A file may be
// read more often than a URL: nobody else has to answer, and nothing but reading it shows that
// it was edited.
func (g *Guard) leastAge(key policy.Key) time.Duration {
	if key.IsFile() {
		return fileInterval
	}
	return max(g.Freshness.Min, time.Minute)
}

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
		g.holds(s, of, &after)
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
