package store

import "time"

// maxIgnoredOffset is the largest difference between two clocks that is ignored.
const maxIgnoredOffset = time.Minute

// peerClock estimates the clock of a peer from the times in its values. If a value has changed since the
// previous sync, its time is recent. The error is at most the interval between two syncs.
type peerClock struct {
	lastSync   time.Time         // start of the last sync with the peer
	savedTimes map[key]time.Time // times in the values
	estimate   time.Duration     // lead of the peer's clock; negative if the peer is behind
}

// update corrects the estimate with the time in a value. A time in the future always proves a
// difference.
func (c *peerClock) update(k key, saved, now time.Time) {
	offset := saved.Sub(now)
	recentSync := !c.lastSync.IsZero() && now.Sub(c.lastSync) < 2*syncInterval
	if previous, ok := c.savedTimes[k]; (!ok || !saved.Equal(previous)) && (recentSync || offset > max(c.estimate, 0)) {
		c.estimate = offset
	}
	if c.savedTimes == nil {
		c.savedTimes = make(map[key]time.Time)
	}
	c.savedTimes[k] = saved
}

// offset returns the lead of the peer's clock, or 0 if the difference is at most maxIgnoredOffset.
func (c *peerClock) offset() time.Duration {
	if c.estimate.Abs() <= maxIgnoredOffset {
		return 0
	}
	return c.estimate
}

// updateClock updates the estimate with the time at which a peer saved a value. The result is the
// lead of the peer's clock.
func (p *peers) updateClock(k key, saved, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.byInstance[k.instance]
	if peer == nil {
		return 0
	}
	peer.update(k, saved, now)
	return peer.offset()
}

// recordSync records the start of a sync with a peer.
func (p *peers) recordSync(instance string, startedAt time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.byInstance[instance]; peer != nil {
		peer.lastSync = startedAt
	}
}
