package store

import (
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	maxPeers       = 1024
	peerIdleAfter  = 25 * time.Hour // peerIdleAfter is the time without writes after which a peer is idle.
	idleSyncFactor = 40             // An idle peer is read at one of idleSyncFactor syncs.
	timeResolution = time.Minute    // timeResolution is the resolution of modification times in some storages.
)

// peers has the other instances that write to the storage. The zero value has none.
type peers struct {
	mu         sync.Mutex
	byInstance map[string]*peer
	syncCount  int
}

// peer is another instance that writes to the storage.
type peer struct {
	readTimes map[key]time.Time // readTimes are the modification times of the values that were read.
	lastWrite time.Time         // lastWrite is the latest known modification time of the peer's values.
	peerClock
}

// getOrAdd returns a peer, and adds it if it is unknown. lastWrite is the time of an added peer's
// last write. The result is nil if there are too many peers. The caller must hold p.mu.
func (p *peers) getOrAdd(instance string, lastWrite time.Time) *peer {
	if known := p.byInstance[instance]; known != nil || len(p.byInstance) >= maxPeers {
		return known
	}
	if p.byInstance == nil {
		p.byInstance = make(map[string]*peer)
	}
	p.byInstance[instance] = &peer{readTimes: make(map[key]time.Time), lastWrite: lastWrite}
	return p.byInstance[instance]
}

// dropMissingPeers drops the peers that are not in the list of instances.
func (p *peers) dropMissingPeers(instances []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.byInstance, func(instance string, _ *peer) bool { return !slices.Contains(instances, instance) })
}

// duePeers returns the peers whose values should be read now: all peers that write, and at every
// [idleSyncFactor]th call also idle peers. own is this instance. A new instance is due, because it
// has just started.
func (p *peers) duePeers(instances []string, own string, now time.Time) (due []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, instance := range instances {
		if instance != own {
			p.getOrAdd(instance, now)
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

// recordWrite records that an instance wrote a value at a time.
func (p *peers) recordWrite(instance string, writtenAt time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.getOrAdd(instance, writtenAt); peer != nil && writtenAt.After(peer.lastWrite) {
		peer.lastWrite = writtenAt
	}
}

// recordRead records that a value with this modification time was read, for mayHaveChanged.
func (p *peers) recordRead(k key, modified time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.byInstance[k.instance]; peer != nil {
		peer.readTimes[k] = modified
	}
}

// dropMissingValues drops the records about an instance's values of a kind that are not in keys.
func (p *peers) dropMissingValues(instance, kind string, keys []key) {
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

// mayHaveChanged reports whether a value may have been written since it was last read.
func (p *peers) mayHaveChanged(k key, modified, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.byInstance[k.instance]
	return peer == nil || modified.IsZero() || !modified.Equal(peer.readTimes[k]) || now.Sub(modified) < timeResolution
}

// hasActivePeer reports whether another instance has written within peerIdleAfter.
func (p *peers) hasActivePeer(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, peer := range p.byInstance {
		if now.Sub(peer.lastWrite) < peerIdleAfter {
			return true
		}
	}
	return false
}

// sortByLastWrite returns the instances without own. The instance that wrote last comes first.
func (p *peers) sortByLastWrite(instances []string, own string) []string {
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
