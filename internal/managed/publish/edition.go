package publish

import (
	"context"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// edition is what sites are served: a schedule, or at some hosts another one that is
// tried there. It is immutable.
type edition struct {
	all    version
	canary *Change        // that some hosts are served, nil for none
	trial  version        // of the canary
	hosts  *request.Hosts // that are served the canary
}

// version is a schedule with the time since which it is served.
type version struct {
	schedule *managed.Schedule
	since    time.Time
}

// at returns what holds at a host.
func (e *edition) at(host string) version {
	if e.canary != nil && e.hosts.Has(host) {
		return e.trial
	}
	return e.all
}

// next returns the first time after now at which some text changes, zero if none
// does any more.
func (e *edition) next(now time.Time) time.Time {
	turn := e.all.schedule.Next(now)
	if e.canary != nil {
		if other := e.trial.schedule.Next(now); turn.IsZero() || !other.IsZero() && other.Before(turn) {
			return other
		}
	}
	return turn
}

// spotOf returns the spot of a site at a time.
func (e *edition) spotOf(site policy.Key, now time.Time) spot {
	return e.at(nameOf(site)).spotOf(site, now)
}

func (v version) spotOf(site policy.Key, now time.Time) spot {
	s := spot{segment: site.Segment(), host: nameOf(site), since: v.since}
	s.staging = v.schedule.IsStaging(s.host)
	s.period = v.schedule.Period(s.host, now)
	return s
}

// firstWait is how long after its start requests wait for a publisher that was told
// no schedule yet.
const firstWait = 2 * time.Second

// edition returns what a request is answered by.
func (p *Publisher) edition(ctx context.Context) *edition {
	if e := p.serving.Load(); e != nil {
		return e
	}
	timer := time.NewTimer(firstWait - p.Now().Sub(p.since))
	defer timer.Stop()
	select {
	case <-p.begun:
	case <-timer.C:
		p.put(&edition{all: version{p.otherwise(), p.since}}, true)
	case <-ctx.Done():
		return &edition{all: version{p.otherwise(), p.since}} // for somebody who has left
	}
	return p.serving.Load()
}

// otherwiseOf returns what makes the schedule of a publisher that was told none.
func otherwiseOf(c PublisherConfig) func() *managed.Schedule {
	return sync.OnceValue(func() *managed.Schedule {
		if c.Otherwise == nil {
			return c.Schedule
		}
		return c.Otherwise()
	})
}

// put puts an edition in place, unless there is one already and this is for want of
// one. The pages of the one before are forgotten.
func (p *Publisher) put(e *edition, forWant bool) {
	if !forWant {
		p.serving.Store(e)
	} else if !p.serving.CompareAndSwap(nil, e) {
		return
	}
	p.beginOnce.Do(func() { close(p.begun) })
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.shelves {
		s.pages.Purge()
	}
}

// Serving returns the schedule that requests are answered by, nil before there is one.
func (p *Publisher) Serving() *managed.Schedule {
	if e := p.serving.Load(); e != nil {
		return e.all.schedule
	}
	return nil
}

// Serve puts other schedules in the place of those that are served: one for all, and that
// of a canary, nil for none, for its hosts. If ctx has ended all stays as it is. It is called
// by one at a time.
func (p *Publisher) Serve(ctx context.Context, next *managed.Schedule, canary *Change, tried *managed.Schedule) {
	now := p.Now()
	e := &edition{all: version{next, now}, canary: canary, trial: version{tried, now}, hosts: request.HostsOfServer(nil)}
	if before := p.serving.Load(); before != nil {
		e.keepTimes(before)
	}
	if canary != nil {
		e.hosts.Add(canary.Rollout.Hosts)
	}
	if ctx.Err() == nil {
		p.put(e, false)
	}
}

// keepTimes takes over since when is served what was served before. A trial that ends
// makes all texts new.
func (e *edition) keepTimes(before *edition) {
	goesOn := e.trial.schedule == before.trial.schedule
	if goesOn {
		e.trial.since = before.trial.since
	}
	if e.all.schedule == before.all.schedule && (goesOn || before.trial.schedule == nil) {
		e.all.since = before.all.since
	}
}
