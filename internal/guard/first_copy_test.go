package guard

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// TestFirstCopyAtOnce sends concurrent requests that wait for the first copy of a file.
// The fetch takes no time. Each request gets the copy, whenever it arrives.
func TestFirstCopyAtOnce(t *testing.T) {
	g := testGuard(t, options{Enforce: true}, serving(strict))
	r := requestBy("bingbot/2.0", "/x")
	site := g.siteForRequest(r)
	for i := range 3000 {
		site.Key.Host = fmt.Sprint("site-", i, ".test")
		entry := g.state.Cache.GetOrCreate(site.Key, site.CacheSegment)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for entry.State() == nil {
					l := robotsLookup{r: r, j: &Judgement{Site: site}, entry: entry, mayWait: true, now: time.Now(), waitUntil: time.Now().Add(10 * time.Second)}
					if g.fetchIfDue(&l); l.state == nil {
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
