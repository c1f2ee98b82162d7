package store

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	maxPeers   = 1024
	maxActive  = 8              // maximum number of peers in active
	idleAfter  = 25 * time.Hour // time without writes after which a peer is idle
	idleLooks  = 40             // an idle peer is read at one look in idleLooks
	coarseTime = time.Minute    // resolution of modification times in some storages
)

// peers has the other instances. The zero value is empty.
type peers struct {
	mu    sync.Mutex
	all   map[string]*peer
	looks int
}

// peer is another instance.
type peer struct {
	seen   map[key]time.Time // times of the values that were read
	latest time.Time         // the latest known time of its values
	clock
}

// add adds a peer unless there are too many. latest is the time of the peer's last write. The caller
// must hold p.mu.
func (p *peers) add(instance string, latest time.Time) {
	if len(p.all) >= maxPeers {
		return
	}
	if p.all == nil {
		p.all = make(map[string]*peer)
	}
	p.all[instance] = &peer{seen: make(map[key]time.Time), latest: latest}
}

// keep adds new instances and drops peers that are not listed. latest returns the time of a new
// peer's last write.
func (p *peers) keep(instances []string, own string, latest func(instance string) time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.all, func(instance string, _ *peer) bool { return !slices.Contains(instances, instance) })
	for _, instance := range instances {
		if instance != own && p.all[instance] == nil {
			p.add(instance, latest(instance))
		}
	}
}

// due returns the peers to read now. An idle peer is due at one look in [idleLooks]. An unknown
// instance has just started and is due.
func (p *peers) due(instances []string, own string, now time.Time) (due []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, instance := range instances {
		if instance != own && p.all[instance] == nil {
			p.add(instance, now)
		}
	}
	p.looks++
	for instance, peer := range p.all {
		if now.Sub(peer.latest) < idleAfter || p.looks%idleLooks == 0 {
			due = append(due, instance)
		}
	}
	return due
}

// heard records the time of a value of an instance.
func (p *peers) heard(instance string, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.all[instance]; peer != nil && at.After(peer.latest) {
		peer.latest = at
	}
}

// saw records that a value was read. The value is read again only after another write.
func (p *peers) saw(k key, modified time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.all[k.instance]; peer != nil {
		peer.seen[k] = modified
	}
}

// listed drops the records of values that are missing in a listing.
func (p *peers) listed(instance, kind string, keys []key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.all[instance]
	if peer == nil {
		return
	}
	stored := make(map[key]bool, len(keys))
	for _, k := range keys {
		stored[k] = true
	}
	gone := func(k key, _ time.Time) bool { return k.kind == kind && !stored[k] }
	maps.DeleteFunc(peer.seen, gone)
	maps.DeleteFunc(peer.saved, gone)
}

// isNews reports whether a value may have been written since it was read.
func (p *peers) isNews(k key, modified, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.all[k.instance]
	return peer == nil || modified.IsZero() || !modified.Equal(peer.seen[k]) || now.Sub(modified) < coarseTime
}

// active returns the peers that are not idle. The most recent peer comes first.
func (p *peers) active(now time.Time) (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for instance, peer := range p.all {
		if now.Sub(peer.latest) < idleAfter {
			all = append(all, instance)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(p.all[b].latest.Compare(p.all[a].latest), cmp.Compare(a, b))
	})
	return all[:min(len(all), maxActive)]
}
