package guard

import (
	"crypto/sha256"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestReadWhileARequestWaits opens a site, whose copy is a few seconds old, and has it read
// while a request waits until it is known what its crawler was served: it is not blocked by
// what is no more.
func TestReadWhileARequestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var opened atomic.Bool
		g := testGuard(t, options{Enforce: true}, witnessedSource(func(as origin.Witness) policy.Answer {
			if as.UserAgent != "" {
				time.Sleep(10 * time.Millisecond)
			}
			text := strict
			if opened.Load() {
				text = loose
			}
			return policy.Answer{Status: http.StatusOK, Body: []byte(text)}
		}))
		r := from(requestBy("bingbot/2.0", "/x"), "192.0.2.1")
		g.Judge(r)
		hasReadText(g, r, sha256.Sum256([]byte("User-agent: *\nDisallow: /else/\n")))
		time.AfterFunc(5*time.Millisecond, func() {
			opened.Store(true)
			site := g.siteOf(r)
			entry := g.shared.Cache.Get(site.Key)
			entry.MakeDue()
			refresh, _ := g.refresher(r, entry, site)
			<-refresh()
		})
		if j := g.Judge(r); j.Verdict != judge.Allowed {
			t.Errorf("%s by %q, want %s", j.Verdict, j.Evidence.Rule, judge.Allowed)
		}
		time.Sleep(time.Minute) // whatever goes on ends
	})
}
