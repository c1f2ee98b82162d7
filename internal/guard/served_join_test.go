package guard

import (
	"crypto/sha256"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestAskedForAnother has two crawlers of one name, of which each was served another text,
// ask for a page at once: who joins while the site is asked for the text of the first does
// not take that for the answer about its own.
func TestAskedForAnother(t *testing.T) {
	const first, second = "User-agent: *\nDisallow: /first/\n", "User-agent: *\nDisallow: /second/\n"
	for _, tc := range []struct {
		name string
		read [sha256.Size]byte // by the second
		says []string          // what the site serves to them, in turns
	}{
		{"upstreams take turns", sha256.Sum256([]byte(second)), []string{first, second}},
		{"the second text was not unpacked", codedText, []string{first}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var turn atomic.Int32
				g := testGuard(t, options{Enforce: true}, witnessedSource(func(as origin.Witness) policy.Answer {
					text := strict
					if as.UserAgent != "" {
						text = tc.says[int(turn.Add(1)-1)%len(tc.says)]
						time.Sleep(10 * time.Millisecond)
					}
					return policy.Answer{Status: http.StatusOK, Body: []byte(text)}
				}))
				<-fetchDone(g, requestBy("", "/"))
				var all sync.WaitGroup
				for i, addr := range []string{"192.0.2.1", "198.51.100.1"} {
					r := from(requestBy("bingbot/2.0", "/x"), addr)
					hash := sha256.Sum256([]byte(first))
					if i > 0 {
						hash = tc.read
					}
					hasReadText(g, r, hash)
					all.Go(func() {
						time.Sleep(time.Duration(i) * time.Millisecond)
						if j := g.Judge(r); j.Verdict != judge.Stale {
							t.Errorf("number %d: %s, want %s", i+1, j.Verdict, judge.Stale)
						}
					})
				}
				all.Wait()
			})
		})
	}
}

// hasReadText notes that a crawler which calls itself bingbot has read a text at the site
// of its request.
func hasReadText(g *Guard, r *http.Request, hash [sha256.Size]byte) {
	site := g.siteOf(r)
	g.shared.Cache.Add(site.Key, site.Segment).Saw(hash, time.Now())
	g.shared.readers.Read(ledger.Reader{Site: *site.Own(), Crawler: "bingbot", Network: addr.Network(request.ClientAddr(r)), Invented: !site.Named},
		ledger.Reading{At: time.Now(), Status: http.StatusOK, Hash: hash})
}
