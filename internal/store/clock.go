package store

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// maxApart is how far the clocks of two instances may differ before what one has
// noted is set right for the other. Less makes no difference to anything.
const maxApart = time.Minute

// clock is what is known of the clock of a peer. A value that has changed since the peer
// was looked at last was saved since then, so the time that it bears tells what the peer's
// clock says now, as exactly as the interval between two looks.
type clock struct {
	looked time.Time         // when the last look at all that it has noted began
	saved  map[key]time.Time // when its readings say that they were saved
	ahead  time.Duration     // of ours, negative where it is behind
}

// note learns from when a value was saved by that clock. One that is of the
// future tells something, too, whenever it was saved.
func (c *clock) note(k key, saved, now time.Time) {
	apart := saved.Sub(now)
	fresh := !c.looked.IsZero() && now.Sub(c.looked) < 2*syncInterval
	if known, ok := c.saved[k]; (!ok || !saved.Equal(known)) && (fresh || apart > max(c.ahead, 0)) {
		c.ahead = apart
	}
	if c.saved == nil {
		c.saved = make(map[key]time.Time)
	}
	c.saved[k] = saved
}

// apart is how far the clock is ahead, 0 if that makes no difference.
func (c *clock) apart() time.Duration {
	if c.ahead.Abs() <= maxApart {
		return 0
	}
	return c.ahead
}

// noteClock learns from when a peer has saved a value, and returns how far its
// clock is ahead of ours.
func (p *peers) noteClock(k key, saved, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.all[k.instance]
	if peer == nil {
		return 0
	}
	peer.note(k, saved, now)
	return peer.apart()
}

// lookedAt notes that all that a peer has noted was looked at, and when that began.
func (p *peers) lookedAt(instance string, began time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.all[instance]; peer != nil {
		peer.looked = began
	}
}

// clockOf returns how far the clock of a peer is ahead of ours, as far as is known.
func (p *peers) clockOf(instance string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.all[instance]; peer != nil {
		return peer.apart()
	}
	return 0
}

// correctReadings sets the times of readings back that a clock has noted which is ahead of
// ours by so much.
func correctReadings(all []ledger.ReadBy, by time.Duration) {
	for i := range all {
		all[i].At = all[i].At.Add(-by)
	}
}

// correctState does so for a state, which nobody else has yet.
func correctState(s *policy.State, by time.Duration) {
	if by == 0 {
		return
	}
	s.Due = s.Due.Add(-by)
	for _, v := range append([]*policy.Version{s.Good}, s.Past...) {
		v.FirstRead, v.LastRead = v.FirstRead.Add(-by), v.LastRead.Add(-by)
		if !v.Until.IsZero() {
			v.Until = v.Until.Add(-by)
		}
	}
}

// correctChanges does so for changes, which nobody else has yet.
func correctChanges(c *ledger.Changes, by time.Duration) {
	if by == 0 {
		return
	}
	correct := func(visits []ledger.Visit) {
		for i := range visits {
			visits[i].At = visits[i].At.Add(-by)
		}
	}
	c.Read = c.Read.Add(-by)
	correct(c.Visits)
	for i := range c.Holds {
		h := &c.Holds[i]
		h.Since, h.Until = h.Since.Add(-by), h.Until.Add(-by)
		correct(h.Visits)
	}
}
