package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Bounds of what is stored of hosts that only clients name: the hosts used most,
// of those used in several seconds, and how often it is looked which these are.
const (
	maxStoredUnnamed = 256
	minStoredUses    = policy.ProvenUses
	unnamedInterval  = time.Minute
)

// storable returns the entries whose policies are to be stored: all of sites that
// the configuration names, and the most used of other hosts.
func (p *policies) storable(ctx context.Context) []*policy.Entry {
	var named, others []*policy.Entry
	for _, e := range p.cache.Entries() {
		state := e.State()
		switch {
		case state == nil || state.Good == nil:
		case e.Segment() == policy.Named:
			named = append(named, e)
		case e.Uses() >= minStoredUses || p.unnamed[e.Key()]:
			others = append(others, e)
		}
	}
	if now := p.store.now(); now.Sub(p.chosen) >= unnamedInterval || p.store.exiting() {
		p.chosen = now
		p.choose(ctx, others)
	}
	return append(named, slices.DeleteFunc(others, func(e *policy.Entry) bool { return !p.unnamed[e.Key()] })...)
}

// choose decides which unnamed hosts are stored, and removes what was stored of
// those that are not any more: clients must not fill the storage. One that
// cannot be removed takes the place of another.
func (p *policies) choose(ctx context.Context, candidates []*policy.Entry) {
	slices.SortFunc(candidates, func(a, b *policy.Entry) int {
		return cmp.Or(cmp.Compare(b.Uses(), a.Uses()), p.storedFirst(a.Key(), b.Key()))
	})
	candidates = candidates[:min(len(candidates), maxStoredUnnamed)]
	needed := make(map[policy.Key]bool)
	for _, e := range candidates {
		needed[e.Key()] = true
	}
	maps.DeleteFunc(p.unnamed, func(site policy.Key, _ bool) bool {
		return !needed[site] && p.removeUnnamed(ctx, site) // else it is tried again
	})
	for _, e := range candidates {
		if len(p.unnamed) >= maxStoredUnnamed {
			break
		}
		p.unnamed[e.Key()] = true
	}
}

// storedFirst orders two hosts that are used equally: what is stored stays.
func (p *policies) storedFirst(a, b policy.Key) int {
	switch {
	case p.unnamed[a] == p.unnamed[b]:
		return 0
	case p.unnamed[a]:
		return -1
	}
	return 1
}

// removeUnnamed removes what this instance has stored of a host, and reports
// whether nothing is there any more.
func (p *policies) removeUnnamed(ctx context.Context, site policy.Key) bool {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	err := p.store.storage.Delete(ctx, p.keyOf(p.store.instance, site).String())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.store.logger.Debug("a policy that is not needed cannot be removed", zap.Stringer("site", site), zap.Error(err))
		return false
	}
	delete(p.stored, sumOf(site))
	return true
}
