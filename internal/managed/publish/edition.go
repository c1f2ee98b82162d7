package publish

import (
	"context"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// edition is the served schedule, with the canary's schedule at some hosts. It is immutable.
type edition struct {
	all    version
	canary *Change        // nil without a canary
	trial  version        // of the canary
	hosts  *request.Hosts // of the canary
}

// version is a schedule and the time since when it is served.
type version struct {
	schedule *managed.Schedule
	since    time.Time
}

// at returns the version for a host.
func (e *edition) at(host string) version {
	if e.canary != nil && e.hosts.Has(host) {
		return e.trial
	}
	return e.all
}

// next returns the time of the next change of a file after now, or the zero time.
func (e *edition) next(now time.Time) time.Time {
	turn := e.all.schedule.Next(now)
	if e.canary != nil {
		if other := e.trial.schedule.Next(now); turn.IsZero() || !other.IsZero() && other.Before(turn) {
			return other
		}
	}
	return turn
}

// spotOf returns the cache position of a site at a time.
func (e *edition) spotOf(site policy.Key, now time.Time) spot {
	return e.at(nameOf(site)).spotOf(site, now)
}

func (v version) spotOf(site policy.Key, now time.Time) spot {
	s := spot{segment: site.Segment(), host: nameOf(site), since: v.since}
	s.staging = v.schedule.IsStaging(s.host)
	s.period = v.schedule.Period(s.host, now)
	return s
}

// firstWait is the maximum wait of a request for the published schedule after the start.
const firstWait = 2 * time.Second

// edition returns the edition for a request. It waits for the first edition.
func (p *Publisher) edition(ctx context.Context) *edition {
	if e := p.serving.Load(); e != nil {
		return e
	}
	timer := time.NewTimer(firstWait - p.Now().Sub(p.since))
	defer timer.Stop()
	select {
	case <-p.ready:
	case <-timer.C:
		p.put(&edition{all: version{p.pages.fallback(), p.since}}, true)
	case <-ctx.Done():
		return &edition{all: version{p.pages.fallback(), p.since}} // the client has left
	}
	return p.serving.Load()
}

// put replaces the edition and drops the cached pages. If ifNone is set, put does not replace an
// edition.
func (p *Publisher) put(e *edition, ifNone bool) {
	if !ifNone {
		p.serving.Store(e)
	} else if !p.serving.CompareAndSwap(nil, e) {
		return
	}
	p.readyOnce.Do(func() { close(p.ready) })
	p.pages.mu.Lock()
	defer p.pages.mu.Unlock()
	for _, s := range p.shelves {
		s.pages.Purge()
	}
}

// Serving returns the served schedule, or nil before the first one.
func (p *Publisher) Serving() *managed.Schedule {
	if e := p.serving.Load(); e != nil {
		return e.all.schedule
	}
	return nil
}

// Serve replaces the served schedules. next applies to all hosts, and the canary's schedule to the
// hosts of the canary. The canary may be nil. Serve has no effect if ctx has ended. It must not be
// called concurrently.
func (p *Publisher) Serve(ctx context.Context, next *managed.Schedule, canary *Change, trial *managed.Schedule) {
	now := p.Now()
	e := &edition{all: version{next, now}, canary: canary, trial: version{trial, now}, hosts: request.HostsOfServer(nil)}
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

// keepTimes copies the times of versions that were served before. After a trial ends, all files are
// new.
func (e *edition) keepTimes(before *edition) {
	goesOn := e.trial.schedule == before.trial.schedule
	if goesOn {
		e.trial.since = before.trial.since
	}
	if e.all.schedule == before.all.schedule && (goesOn || before.trial.schedule == nil) {
		e.all.since = before.all.since
	}
}
