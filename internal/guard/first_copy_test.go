package guard

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// preparedSource is a source that lets something happen before it is read from.
type preparedSource struct {
	origin.Source
	before func()
}

func (s *preparedSource) Prepare(r *http.Request, key policy.Key, as origin.Witness) (origin.Fetch, bool) {
	s.before()
	return s.Source.Prepare(r, key, as)
}

// TestFirstCopyByAnother lets another request have read the file by the time that a
// request which found it due begins to. Its crawler, which the site serves a milder text,
// is held to that and not to the copy.
func TestFirstCopyByAnother(t *testing.T) {
	source := &preparedSource{Source: witnessedSource(func(as origin.Witness) policy.Answer {
		return policy.Answer{Status: http.StatusOK, Body: []byte(loose)}
	})}
	g := testGuard(t, options{Enforce: true}, source)
	r := from(requestBy("bingbot/2.0", "/x"), "192.0.2.1")
	site := g.siteOf(r)
	entry := g.shared.Cache.Add(site.Key, site.Segment)
	hash := sha256.Sum256([]byte(loose))
	entry.Saw(hash, time.Now())
	g.shared.readers.Read(ledger.Reader{Site: *site.Own(), Crawler: "bingbot", Network: addr.Network(netip.MustParseAddr("192.0.2.1")), Invented: !site.Named},
		ledger.Reading{At: time.Now(), Status: http.StatusOK, Hash: hash})
	source.before = sync.OnceFunc(func() {
		<-entry.Refresh(g.Freshness, func() policy.Answer { return policy.Answer{Status: http.StatusOK, Body: []byte(strict)} }, nil)
	})
	if j := g.Judge(r); j.Verdict != judge.Stale || j.Version == nil || j.Version.Hash != sha256.Sum256([]byte(strict)) {
		t.Errorf("%s by %v, want %s by the copy", j.Verdict, j.Version, judge.Stale)
	}
}

// TestFirstCopyAtOnce has several requests wait for the first copy of a file that is read in
// no time: each of them gets it, whichever moment it comes at.
func TestFirstCopyAtOnce(t *testing.T) {
	g := testGuard(t, options{Enforce: true}, serving(strict))
	r := requestBy("bingbot/2.0", "/x")
	site := g.siteOf(r)
	for i := range 3000 {
		site.Key.Host = fmt.Sprint("site-", i, ".test")
		entry := g.shared.Cache.Add(site.Key, site.Segment)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for entry.State() == nil {
					if g.state(r, entry, site, true, time.Now(), 10*time.Second) == nil {
						t.Error("nothing is known of a site that was read")
						return
					}
				}
			})
		}
		all.Wait()
		if t.Failed() {
			return
		}
	}
}
