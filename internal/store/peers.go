package store

import (
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	maxPeers       = 1024
	peerIdleAfter  = 25 * time.Hour // time without writes after which a peer is idle
	idleSyncFactor = 40             // an idle peer is read at one sync in idleSyncFactor
	timeResolution = time.Minute    // resolution of modification times in some storages
)

// peers has the other instances. The zero value is empty.
type peers struct {
	mu         sync.Mutex
	byInstance map[string]*peer
	syncCount  int
}

// peer is another instance.
type peer struct {
	readTimes map[key]time.Time // times of the values that were read
	lastWrite time.Time         // the latest known time of its values
	peerClock
}

// get returns a peer, and adds an unknown peer unless there are too many. lastWrite is the time of
// a new peer's last write. The caller must hold p.mu.
func (p *peers) get(instance string, lastWrite time.Time) *peer {
	if known := p.byInstance[instance]; known != nil || len(p.byInstance) >= maxPeers {
		return known
	}
	if p.byInstance == nil {
		p.byInstance = make(map[string]*peer)
	}
	p.byInstance[instance] = &peer{readTimes: make(map[key]time.Time), lastWrite: lastWrite}
	return p.byInstance[instance]
}

// dropMissing drops unlisted peers.
func (p *peers) dropMissing(instances []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.byInstance, func(instance string, _ *peer) bool { return !slices.Contains(instances, instance) })
}

// duePeers returns the peers to read now. An idle peer is due at one sync in [idleSyncFactor]. An
// unknown instance has just started and is due.
func (p *peers) duePeers(instances []string, own string, now time.Time) (due []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, instance := range instances {
		if instance != own {
			p.get(instance, now)
		}
	}
	p.syncCount++
	for instance, peer := range p.byInstance {
		if now.Sub(peer.lastWrite) < peerIdleAfter || p.syncCount%idleSyncFactor == 0 {
			due = append(due, instance)
		}
	}
	return due
}

// recordWrite records the time of a value of an instance.
func (p *peers) recordWrite(instance string, writtenAt time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.get(instance, writtenAt); peer != nil && writtenAt.After(peer.lastWrite) {
		peer.lastWrite = writtenAt
	}
}

// recordRead records the read of a value. The value is read again only after another write.
func (p *peers) recordRead(k key, modified time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.byInstance[k.instance]; peer != nil {
		peer.readTimes[k] = modified
	}
}

// dropUnlisted drops the records of values missing in a listing.
func (p *peers) dropUnlisted(instance, kind string, keys []key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.byInstance[instance]
	if peer == nil {
		return
	}
	stored := make(map[key]bool, len(keys))
	for _, k := range keys {
		stored[k] = true
	}
	isUnlisted := func(k key, _ time.Time) bool { return k.kind == kind && !stored[k] }
	maps.DeleteFunc(peer.readTimes, isUnlisted)
	maps.DeleteFunc(peer.savedTimes, isUnlisted)
}

// mayHaveChanged reports whether a value may have been written since it was read.
func (p *peers) mayHaveChanged(k key, modified, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.byInstance[k.instance]
	return peer == nil || modified.IsZero() || !modified.Equal(peer.readTimes[k]) || now.Sub(modified) < timeResolution
}

// hasActive reports whether a peer is not idle.
func (p *peers) hasActive(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, peer := range p.byInstance {
		if now.Sub(peer.lastWrite) < peerIdleAfter {
			return true
		}
	}
	return false
}

// mostRecentFirst returns all instances except this one, the most recent writer first.
func (p *peers) mostRecentFirst(instances []string, own string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lastWrite := func(instance string) (last time.Time) {
		if peer := p.byInstance[instance]; peer != nil {
			last = peer.lastWrite
		}
		return last
	}
	others := slices.DeleteFunc(slices.Clone(instances), func(instance string) bool { return instance == own })
	slices.SortStableFunc(others, func(a, b string) int { return lastWrite(b).Compare(lastWrite(a)) })
	return others
}
