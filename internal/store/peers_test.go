package store

import (
	"errors"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestPeersForgetWhatIsGone drops the records of values that a peer has removed.
func TestPeersForgetWhatIsGone(t *testing.T) {
	ctx, m := t.Context(), storetest.New()
	theirs, ours := newInstance(m, "theirs", noon), newInstance(m, "ours", noon)
	theirs.Read(ctx)
	theirs.learns(open)
	theirs.writeAll(ctx, false)
	ours.Read(ctx)
	ours.Sync(ctx)
	peer := ours.peers.byInstance["theirs"]
	for _, k := range m.Keys() {
		if strings.Contains(k, "/theirs/") {
			if err := m.Delete(ctx, k); err != nil {
				t.Fatal(err)
			}
		}
	}
	m.SetErr(errors.New("no answer"))
	ours.Sync(ctx)
	if len(peer.readTimes) == 0 || len(peer.savedTimes) == 0 {
		t.Errorf("%d values are known and when %d were saved, want some, for nobody knows what is stored", len(peer.readTimes), len(peer.savedTimes))
	}
	m.SetErr(nil)
	ours.Sync(ctx)
	if len(peer.readTimes) > 0 || len(peer.savedTimes) > 0 {
		t.Errorf("%d values are known and when %d were saved, of which none is stored", len(peer.readTimes), len(peer.savedTimes))
	}
}
