package guard

import (
	"crypto/sha256"
	"net/http"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestServedAndDroppedFromTheCache holds a crawler to the text that it was served also once
// the cache has dropped the site for others, and reads it anew.
func TestServedAndDroppedFromTheCache(t *testing.T) {
	g := testGuard(t, options{Enforce: true, FetchWait: time.Minute}, witnessedSource(func(as origin.Witness) policy.Answer {
		text := strict
		if as.UserAgent != "" {
			text = loose
		}
		return policy.Answer{Status: http.StatusOK, Body: []byte(text)}
	}))
	r := from(requestBy("bingbot/2.0", "/x"), "192.0.2.1")
	hasReadText(g, r, sha256.Sum256([]byte(loose)))
	if j := g.Judge(r); j.Verdict != judge.Stale {
		t.Fatalf("%s, want %s", j.Verdict, judge.Stale)
	}
	site := g.siteOf(r)
	g.shared.Cache.Resize(site.Segment, policy.Bounds{Entries: 1, Bytes: 1 << 20, Reads: 8})
	for range 2 { // the first may take the place of none that is worth more
		g.shared.Cache.Add(policy.Key{Host: "other.test"}, site.Segment)
	}
	if g.shared.Cache.Get(site.Key) != nil {
		t.Fatal("the site is still there")
	}
	if j := g.Judge(r); j.Verdict != judge.Stale {
		t.Errorf("once it was dropped: %s, want %s", j.Verdict, judge.Stale)
	}
}
