package store

import "time"

// maxApart is the difference between the clocks of two instances up to which times are not
// corrected.
const maxApart = time.Minute

// clock estimates the clock of a peer. A value that has changed since the previous look was
// saved since then, so the time in the value is the peer's present time, to within the interval
// between two looks.
type clock struct {
	looked time.Time         // start of the last look at all values of the peer
	saved  map[key]time.Time // times in the values
	ahead  time.Duration     // of our clock; negative if the peer is behind
}

// note learns from the time in a value. A time in the future is evidence at any time.
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

// apart returns how far the clock is ahead of ours, 0 if the difference is below maxApart.
func (c *clock) apart() time.Duration {
	if c.ahead.Abs() <= maxApart {
		return 0
	}
	return c.ahead
}

// noteClock learns from the time at which a peer saved a value, and returns how far the clock of
// the peer is ahead of ours.
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

// lookedAt records a look at all values of a peer, and when the look began.
func (p *peers) lookedAt(instance string, began time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.all[instance]; peer != nil {
		peer.looked = began
	}
}
