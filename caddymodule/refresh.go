package caddymodule

import (
	"context"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// How long a good answer holds before the file is read again in the
// background. Reading the site itself or a file is cheap.
const (
	lifeNear = 10 * time.Minute
	lifeURL  = 24 * time.Hour
)

// newSource returns the configured source, what identifies it, and how long an
// answer from it holds.
func newSource(s *Source, allowPrivate bool) (source, string, time.Duration) {
	switch {
	case s == nil:
		return newServerSource(allowPrivate), "", lifeNear
	case s.File != "":
		return fileSource{path: s.File}, s.File, lifeNear
	}
	return newURLSource(s.URL, allowPrivate), s.URL, lifeURL
}

// standing returns what is known of the site, nil if nothing is. If the
// robots.txt is due it is read in the background. Only who is to wait waits for
// that, only for a first copy or one that is too old, and for most at most.
func (g *guard) standing(r *http.Request, entry *policy.Entry, j *judgement, waits bool, now time.Time, most time.Duration) *policy.Standing {
	standing := entry.Standing()
	if !entry.Due(now) {
		return standing
	}
	read, ok := g.source.prepare(r, j.site.key, witness{})
	if !ok {
		return standing
	}
	var have *policy.Version
	if standing != nil {
		have = standing.Good
	}
	refresh := func() <-chan struct{} {
		return entry.Refresh(g.freshness, timed(g.asWitness(r, j.site, read), have, j.site.key, g.fetchTimeout), g.settled(j.site))
	}
	begun := time.Now()
	done := refresh()
	for done == nil && waits && entry.Standing() == nil && time.Since(begun) < most { // others are being read
		awaitClosed(r, nil, min(slotInterval, most))
		if r.Context().Err() != nil {
			break
		}
		done = refresh()
	}
	if done == nil || !waits || standing != nil && !standing.Expired(now) {
		return standing
	}
	awaitClosed(r, done, most-time.Since(begun))
	return entry.Standing()
}

// timed bounds and counts an attempt to read a robots.txt. The attempt is ended
// by cancelling its context, never by a deadline: reverse_proxy takes a
// deadline for a failure of the upstream.
func timed(read reader, have *policy.Version, key policy.Key, timeout time.Duration) func() policy.Answer {
	return func() policy.Answer {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		timer := time.AfterFunc(timeout, func() { cancel(errFetchTimeout) })
		defer timer.Stop()
		start := time.Now()
		answer := read(ctx, have)
		sharedMetrics().fetched(key, answer.Meaning(), time.Since(start))
		return answer
	}
}

// settled returns what is to be done when an attempt to read a robots.txt has
// changed what is known of the site.
func (g *guard) settled(s site) func(before, after policy.Standing) {
	return func(before, after policy.Standing) {
		changed := after.Failures == 0 && (before.Good == nil || before.Good.Hash != after.Good.Hash)
		if s.label != otherLabel && s.segment == policy.Named {
			// Not only after a change: what was restored from the storage is
			// not shown yet.
			g.metrics.settled(s.label, after)
		}
		g.logSettled(s, before, after, changed)
		if changed {
			g.emitChanged(s, before, after)
		}
		g.holds(s, &after)
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
