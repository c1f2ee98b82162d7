package managed

import (
	"context"
	"runtime"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// leads are how long before a turn pages are made: all of them in good time, then
// those of sites that were asked for the first time since, or have a new base.
var leads = []time.Duration{time.Minute, 10 * time.Second, time.Second, 0}

// maxNap bounds how long Run sleeps at once: the clock may be set.
const maxNap = time.Minute

// Run makes the pages of the next turn ahead, until ctx ends. What is served goes by
// the clock and not by this: a page that is missing is made by the request that
// asks for it.
func (p *Publisher) Run(ctx context.Context) {
	for ctx.Err() == nil {
		p.prepare(ctx)
	}
}

// prepare makes the pages of the next turn ahead, and comes back after it, or once
// another schedule is served.
func (p *Publisher) prepare(ctx context.Context) {
	var turn time.Time
	if e := p.serving.Load(); e != nil {
		turn = e.next(p.Now())
	}
	if turn.IsZero() {
		select {
		case <-ctx.Done():
		case <-p.changed:
		}
		return
	}
	for _, lead := range leads {
		if !p.sleepUntil(ctx, turn.Add(-lead)) {
			return
		}
		p.ComposeAhead(ctx, turn)
	}
	p.forget(ctx, turn)
}

// sleepUntil reports whether a time has come, and not the end of ctx nor another
// schedule.
func (p *Publisher) sleepUntil(ctx context.Context, when time.Time) bool {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-p.changed:
			return false
		case <-timer.C:
		}
		rest := when.Sub(p.Now())
		if rest <= 0 {
			return ctx.Err() == nil
		}
		timer.Reset(min(rest, maxNap))
	}
}

// ComposeAhead makes the pages that will be served from a turn on, of all sites that
// were asked for theirs and have a turn then, those that the configuration names
// first.
func (p *Publisher) ComposeAhead(ctx context.Context, turn time.Time) {
	e := p.serving.Load()
	if e == nil {
		return
	}
	p.eachAsked(ctx, func(site policy.Key) {
		if at := e.spotOf(site, turn); at.table.start(at.turn).Equal(turn) {
			p.composeAhead(site, at)
		}
	})
}

// eachAsked calls do for all sites that were asked for their robots.txt, those that
// the configuration names first, until ctx ends.
func (p *Publisher) eachAsked(ctx context.Context, do func(site policy.Key)) {
	for _, segment := range []policy.Segment{policy.Named, policy.Invented} {
		p.mu.Lock()
		sites := p.shelves[segment].asked.Keys()
		p.mu.Unlock()
		for _, site := range sites {
			if ctx.Err() != nil {
				return
			}
			if site.Source == "" { // and not where a base comes from
				do(site)
				runtime.Gosched() // requests first
			}
		}
	}
}

// composeAhead makes a page before a request asks for it.
func (p *Publisher) composeAhead(site policy.Key, at spot) {
	at.ahead = true
	if at.staging {
		return
	}
	if p.Source == nil {
		p.composed(nil, at)
	} else if base := p.whereBase(site); p.Bases.Get(base) != nil {
		p.best(base, p.Bases.Get(base).State(), at, nil)
	}
}

// forget drops pages that no request will be answered with from a time on: those of
// turns before, and of other schedules than those that are served.
func (p *Publisher) forget(ctx context.Context, now time.Time) {
	serving := p.serving.Load()
	if serving == nil {
		return
	}
	for _, s := range p.shelves {
		p.mu.Lock()
		keys := s.pages.Keys()
		p.mu.Unlock()
		for _, key := range keys {
			if ctx.Err() != nil {
				return
			}
			if key.table != nil && (!serving.has(key.table.schedule, key.since) || key.turn < key.table.turn(now)) {
				p.mu.Lock() // for a moment each, as requests wait
				s.pages.Remove(key)
				p.mu.Unlock()
			}
		}
	}
}

// Lifetime returns how long clients may keep a page: no longer than until another
// takes its place, and never less than the minute that all of them keep it. It is
// rounded up to a second: who comes back before the turn would keep the old page
// for another minute.
func Lifetime(most time.Duration, now, until time.Time) time.Duration {
	if until.IsZero() {
		return most
	}
	rest := (until.Sub(now) + time.Second - 1).Truncate(time.Second)
	return max(min(most, rest), time.Minute)
}
