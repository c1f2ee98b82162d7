package store

import (
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
