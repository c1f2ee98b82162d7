package store

import (
	"crypto/sha256"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestReadElsewhereBeforeItIsKnownHere has a crawler be served a text of its own through
// another instance, and this one read the site only after it was told of that: it knows that
// crawlers may hold another text than the one that it has.
func TestReadElsewhereBeforeItIsKnownHere(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	first, second := newInstance(m, "first", noon), newInstance(m, "second", noon)
	first.Read(ctx)
	second.Read(ctx)
	first.memory.parts.Readers.Read(bingOf(siteA), ledger.Reading{At: noon, Status: 200, Hash: sha256.Sum256([]byte("its own"))})
	first.later(t, 0)
	second.Sync(ctx)
	if second.hasRead(siteA).IsZero() {
		t.Fatal("the reading is not known")
	}
	second.learn(siteA, policy.Named, "ours")
	if !second.memory.parts.Policies.Get(siteA).ServesOthers(second.time) {
		t.Error("nobody may hold another text")
	}
}
