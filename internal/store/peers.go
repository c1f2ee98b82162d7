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
	maxAsked   = 8              // peers that are asked about one site
	idleAfter  = 25 * time.Hour // without news a peer is looked at less often
	idleLooks  = 40             // one look in so many
	coarseTime = time.Minute    // by which the clocks of storages may be coarse
)

// peers are the other instances. The zero value knows none.
type peers struct {
	mu    sync.Mutex
	all   map[string]*peer
	looks int
}

// peer is another instance.
type peer struct {
	seen   map[key]time.Time // when what was read last was written
	latest time.Time         // of all that it has written, as far as is known
	clock
}

// add takes note of a peer, if there are not too many, and when it has written
// last. p.mu must be held.
func (p *peers) add(instance string, latest time.Time) {
	if len(p.all) >= maxPeers {
		return
	}
	if p.all == nil {
		p.all = make(map[string]*peer)
	}
	p.all[instance] = &peer{seen: make(map[key]time.Time), latest: latest}
}

// keep forgets the peers that are not among the instances, and takes note of those
// that are new. latest tells when these have written last.
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

// due returns the peers that are to be looked at now: of those that are idle only
// at some of the looks. Instances that are not known have just begun.
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

// heard notes that an instance has written something.
func (p *peers) heard(instance string, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.all[instance]; peer != nil && at.After(peer.latest) {
		peer.latest = at
	}
}

// saw notes that a value was read, so that it is not read again before it is
// another. It is of no use for those that are not asked for all the time.
func (p *peers) saw(k key, modified time.Time) {
	if k.kind != kindCopies && k.kind != kindReaders && k.kind != kindChanges && k.kind != kindRates {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if peer := p.all[k.instance]; peer != nil {
		peer.seen[k] = modified
	}
}

// listed forgets what a peer has stored no longer of a kind, such as the changes of a site
// that is gone.
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

// isNews reports whether a value was written since it was read; one that is new
// is read again.
func (p *peers) isNews(k key, modified, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer := p.all[k.instance]
	return peer == nil || modified.IsZero() || !modified.Equal(peer.seen[k]) || now.Sub(modified) < coarseTime
}

// active returns the peers that were heard of last.
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
	return all[:min(len(all), maxAsked)]
}
