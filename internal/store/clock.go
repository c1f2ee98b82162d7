package store

import "time"

// maxApart is the largest difference between two clocks that is ignored.
const maxApart = time.Minute

// clock estimates the clock of a peer from the times in its values. If a value has changed since the
// previous look, its time is recent. The error is at most the interval between two looks.
type clock struct {
	looked time.Time         // start of the last look at all values of the peer
	saved  map[key]time.Time // times in the values
	ahead  time.Duration     // of our clock; negative if the peer is behind
}

// note updates the estimate with the time in a value. A time in the future always proves a
// difference.
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

// apart returns the lead of the peer's clock. It returns 0 if the difference is at most maxApart.
func (c *clock) apart() time.Duration {
	if c.ahead.Abs() <= maxApart {
		return 0
	}
	return c.ahead
}

// noteClock updates the estimate with the time at which a peer saved a value. It returns the lead of
// the peer's clock.
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

// lookedAt records the start of a look at all values of a peer.
func (p *peers) lookedAt(instance string, began time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.all[instance]; peer != nil {
		peer.looked = began
	}
}
