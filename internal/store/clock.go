package store

import "time"

// maxIgnoredOffset is the largest difference between two clocks that is ignored.
const maxIgnoredOffset = time.Minute

// peerClock estimates how far the clock of a peer is ahead, from the times in the values that it
// writes. A value that has changed since the last sync was written recently. The error is at most
// the interval between two syncs.
type peerClock struct {
	lastSync   time.Time         // lastSync is the start of the last sync with the peer.
	savedTimes map[key]time.Time // savedTimes has the times in the values.
	// estimate is the lead of the peer's clock. It is negative if the peer's clock is behind.
	estimate time.Duration
}

// update corrects the estimate by the time at which a value was saved. A time in the future proves
// that the peer's clock is ahead, even if the last sync is long ago.
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

// offset returns the time by which the peer's clock is ahead, or 0 if this is at most
// maxIgnoredOffset.
func (c *peerClock) offset() time.Duration {
	if c.estimate.Abs() <= maxIgnoredOffset {
		return 0
	}
	return c.estimate
}

// updateClock updates the estimate for the peer that saved a value, and returns the time by which
// the peer's clock is ahead.
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

// recordSync records when the last sync with a peer began.
func (p *peers) recordSync(instance string, startedAt time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.byInstance[instance]; peer != nil {
		peer.lastSync = startedAt
	}
}
