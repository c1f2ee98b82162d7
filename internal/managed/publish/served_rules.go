package publish

import (
	"context"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// servedRules is the served schedule, with the canary's schedule at some hosts. It is immutable.
type servedRules struct {
	published   datedSchedule
	canary      *Change       // nil without a canary
	canaryRules datedSchedule // of the canary
	hosts       *site.Hosts   // of the canary
}

// datedSchedule is a schedule and the time since when it is served.
type datedSchedule struct {
	schedule *managed.Schedule
	since    time.Time
}

// at returns the rules for a host.
func (e *servedRules) at(host string) datedSchedule {
	if e.canary != nil && e.hosts.Has(host) {
		return e.canaryRules
	}
	return e.published
}

// next returns the time of the next change of a file after now, or the zero time.
func (e *servedRules) next(now time.Time) time.Time {
	turn := e.published.schedule.Next(now)
	if e.canary != nil {
		if other := e.canaryRules.schedule.Next(now); turn.IsZero() || !other.IsZero() && other.Before(turn) {
			return other
		}
	}
	return turn
}

// hostPeriod returns the host and the period of a site at a time.
func (e *servedRules) hostPeriod(site policy.Key, now time.Time) hostPeriod {
	return e.at(nameOf(site)).hostPeriod(site, now)
}

func (v datedSchedule) hostPeriod(site policy.Key, now time.Time) hostPeriod {
	s := hostPeriod{segment: site.Segment(), host: nameOf(site), since: v.since}
	s.staging = v.schedule.IsStaging(s.host)
	s.period = v.schedule.Period(s.host, now)
	return s
}

// firstWait is the maximum wait of a request for the published schedule after the start.
const firstWait = 2 * time.Second

// awaitServedRules returns the rules for a request. It waits for the first ones.
func (p *Publisher) awaitServedRules(ctx context.Context) *servedRules {
	if e := p.serving.Load(); e != nil {
		return e
	}
	timer := time.NewTimer(firstWait - p.Now().Sub(p.since))
	defer timer.Stop()
	select {
	case <-p.ready:
	case <-timer.C:
		p.setServedRules(&servedRules{published: datedSchedule{p.pages.fallback(), p.since}}, true)
	case <-ctx.Done():
		return &servedRules{published: datedSchedule{p.pages.fallback(), p.since}} // the client has left
	}
	return p.serving.Load()
}

// setServedRules replaces the served rules and drops the cached pages. If ifNone is set, it does not
// replace rules.
func (p *Publisher) setServedRules(e *servedRules, ifNone bool) {
	if !ifNone {
		p.serving.Store(e)
	} else if !p.serving.CompareAndSwap(nil, e) {
		return
	}
	p.readyOnce.Do(func() { close(p.ready) })
	for _, cache := range p.caches {
		cache.purge()
	}
}

// Serving returns the served schedule, or nil before the first one.
func (p *Publisher) Serving() *managed.Schedule {
	if e := p.serving.Load(); e != nil {
		return e.published.schedule
	}
	return nil
}

// Serve replaces the served schedules. next applies to all hosts, and the canary's schedule to the
// hosts of the canary. The canary may be nil. Serve has no effect if ctx has ended. It must not be
// called concurrently.
func (p *Publisher) Serve(ctx context.Context, next *managed.Schedule, canary *Change, trial *managed.Schedule) {
	now := p.Now()
	e := &servedRules{published: datedSchedule{next, now}, canary: canary, canaryRules: datedSchedule{trial, now}, hosts: site.HostsOfServer(nil)}
	if before := p.serving.Load(); before != nil {
		e.keepStartTimes(before)
	}
	if canary != nil {
		e.hosts.Add(canary.Rollout.Hosts)
	}
	if ctx.Err() == nil {
		p.setServedRules(e, false)
	}
}

// keepStartTimes copies the start times of schedules that were served before. After a trial ends, all files are
// new.
func (e *servedRules) keepStartTimes(before *servedRules) {
	goesOn := e.canaryRules.schedule == before.canaryRules.schedule
	if goesOn {
		e.canaryRules.since = before.canaryRules.since
	}
	if e.published.schedule == before.published.schedule && (goesOn || before.canaryRules.schedule == nil) {
		e.published.since = before.published.since
	}
}
