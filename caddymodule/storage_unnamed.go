package caddymodule

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
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
func (s *store) storable(ctx context.Context) []*policy.Entry {
	var named, others []*policy.Entry
	for _, e := range s.state.cache.Entries() {
		standing := e.Standing()
		switch {
		case standing == nil || standing.Good == nil:
		case e.Segment() == policy.Named:
			named = append(named, e)
		case e.Uses() >= minStoredUses || s.unnamed[e.Key()]:
			others = append(others, e)
		}
	}
	if now := s.now(); now.Sub(s.chosen) >= unnamedInterval || caddy.Exiting() {
		s.chosen = now
		s.choose(ctx, others)
	}
	return append(named, slices.DeleteFunc(others, func(e *policy.Entry) bool { return !s.unnamed[e.Key()] })...)
}

// choose decides which unnamed hosts are stored, and removes what was stored of
// those that are not any more: clients must not fill the storage. One that
// cannot be removed takes the place of another.
func (s *store) choose(ctx context.Context, candidates []*policy.Entry) {
	slices.SortFunc(candidates, func(a, b *policy.Entry) int {
		return cmp.Or(cmp.Compare(b.Uses(), a.Uses()), s.storedFirst(a.Key(), b.Key()))
	})
	candidates = candidates[:min(len(candidates), maxStoredUnnamed)]
	wanted := make(map[policy.Key]bool)
	for _, e := range candidates {
		wanted[e.Key()] = true
	}
	maps.DeleteFunc(s.unnamed, func(key policy.Key, _ bool) bool {
		return !wanted[key] && s.removeUnnamed(ctx, key) // else it is tried again
	})
	for _, e := range candidates {
		if len(s.unnamed) >= maxStoredUnnamed {
			break
		}
		s.unnamed[e.Key()] = true
	}
}

// storedFirst orders two hosts that are used equally: what is stored stays.
func (s *store) storedFirst(a, b policy.Key) int {
	switch {
	case s.unnamed[a] == s.unnamed[b]:
		return 0
	case s.unnamed[a]:
		return -1
	}
	return 1
}

// removeUnnamed removes what this instance has stored of a host, and reports
// whether nothing is there any more.
func (s *store) removeUnnamed(ctx context.Context, key policy.Key) bool {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	err := s.storage.Delete(ctx, storageKeyOf(s.instance, key).String())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.logger.Debug("a policy that is not needed cannot be removed", zap.Stringer("site", key), zap.Error(err))
		return false
	}
	delete(s.stored, key)
	return true
}
