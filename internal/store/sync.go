package store

import (
	"context"
)

// Sync reads the values that peers have written since the last look. [Store.Start] calls Sync every
// 15 seconds.
func (s *Store) Sync(ctx context.Context) {
	if s.onlyBases {
		return
	}
	found := newSummary()
	if !s.known {
		for i := range s.kinds {
			if s.kinds[i].after {
				s.syncKind(ctx, s.instance, &s.kinds[i], found)
			}
		}
		if ctx.Err() == nil && found.failed == 0 {
			s.known = true
		}
	}
	instances, err := s.instances(ctx) // after an error, known peers are still read
	for _, instance := range s.peers.due(instances, s.instance, s.now()) {
		began := s.now()
		for i := range s.kinds {
			if s.kinds[i].follows {
				s.syncKind(ctx, instance, &s.kinds[i], found)
			}
		}
		if found.failed == 0 && ctx.Err() == nil {
			s.peers.lookedAt(instance, began)
		}
	}
	if err != nil {
		found.fail(err)
	}
	if ctx.Err() == nil {
		s.report(found, 0)
	}
}

// syncKind reads the new values of a kind and an instance. It stops at the first failure.
func (s *Store) syncKind(ctx context.Context, instance string, kind *kind, found *summary) {
	if found.failed > 0 || ctx.Err() != nil {
		return
	}
	keys, err := s.keys(ctx, instance, kind)
	if err != nil {
		s.failedRead(key{instance: instance, kind: kind.name}, err, found)
	} else {
		s.peers.listed(instance, kind.name, keys)
	}
	for _, k := range keys {
		if found.failed > 0 || ctx.Err() != nil {
			return
		}
		size, modified, err := s.stat(ctx, k)
		if err != nil {
			s.failedRead(k, err, found)
		} else if s.peers.isNews(k, modified, s.now()) {
			s.readStated(ctx, k, size, modified, found)
		}
	}
}
