package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestStorageAdopts knows again what the cache has dropped.
func TestStorageAdopts(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	i := newInstance(m, "first", noon)
	i.cache.Resize(policy.Named, policy.Bounds{Entries: 1, Bytes: 1 << 20, Reads: 1})
	i.Read(ctx)
	i.learn(siteA, policy.Named, open)
	i.later(t, time.Minute)
	i.learn(siteA, policy.Named, shut)
	i.later(t, time.Second)
	past := func() int { return len(i.cache.Get(siteA).State().Past) }
	drop := func() {
		for n := 0; i.cache.Get(siteA) != nil; n++ {
			i.cache.Add(namedKey(fmt.Sprint(n, ".test")), policy.Named)
		}
	}

	drop()
	i.learn(siteA, policy.Named, shut)
	if past() != 0 {
		t.Fatal("it was not dropped")
	}
	i.memory.Want(siteA)
	i.readWanted(ctx)
	if past() != 1 {
		t.Error("the version before is not known again")
	}

	for _, text := range []string{shut, open} { // nobody has asked in time
		i.later(t, time.Minute)
		drop()
		i.learn(siteA, policy.Named, text)
		i.later(t, time.Second)
		if past() == 0 {
			t.Error("what was stored is replaced by less")
		}
	}

	// The file cannot be read any more.
	drop()
	i.cache.Add(siteA, policy.Named)
	i.memory.Want(siteA)
	i.readWanted(ctx)
	if got := i.text(siteA); got != open {
		t.Errorf("got %q", got)
	}
	for range 2 * maxWanted { // does not block
		i.memory.Want(siteA)
	}
	for len(i.memory.wanted) > 0 {
		<-i.memory.wanted
	}
	if i.memory.Want(tenant(1)); len(i.memory.wanted) != 0 {
		t.Error("it is asked for a host that only a client names")
	}
}

// hanging is a storage that answers nobody until he gives up.
type hanging struct{ *storetest.Storage }

func (hanging) Stat(ctx context.Context, _ string) (int64, time.Time, error) {
	<-ctx.Done()
	return 0, time.Time{}, ctx.Err()
}

// TestStorageAdoptsOverAReload has a site asked for while a reload ends the store that has
// begun to read what is stored of it: the next one reads that.
func TestStorageAdoptsOverAReload(t *testing.T) {
	m := storetest.New()
	before := newInstance(m, "first", noon)
	before.learn(siteA, policy.Named, open)
	before.later(t, time.Minute)

	i := newInstance(m, "first", noon.Add(time.Hour))
	i.storage = hanging{m}
	i.memory.Want(siteA)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond) // which the reload ends
	defer cancel()
	i.run(ctx, true)

	i.storage = m
	i.readWanted(t.Context())
	if got := i.text(siteA); got != open {
		t.Errorf("got %q", got)
	}
}
