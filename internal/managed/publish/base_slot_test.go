package publish

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// slowBases is a source that needs a second for each base.
type slowBases struct{}

func (slowBases) Prepare(*http.Request, policy.Key) (site.FetchFunc, bool) {
	return func(context.Context, *policy.Version) policy.FetchResult {
		time.Sleep(time.Second)
		return policy.FetchResult{Status: http.StatusOK, Body: []byte("User-agent: *\nDisallow: /base\n")}
	}, true
}

// TestFirstBaseWaitsForASlot requests a site while the maximum number of bases is being fetched. The
// request waits for a slot. It does not receive the site's file without the rules.
func TestFirstBaseWaitsForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bounds := policy.Bounds{Entries: 10, Bytes: 1 << 20, ConcurrentFetches: 1}
		p := serving(Config{
			Schedule: newSchedule(t, disallow("GPTBot", "/sale")), Source: slowBases{},
			Bases: policy.NewCache(bounds, bounds, time.Now, nil), Now: time.Now,
		})
		server := serverFor("a.test", "b.test", "c.test")
		go p.Page(asks(server, "a.test"))
		synctest.Wait()
		if page, _ := p.Page(asks(server, "b.test")); page == nil || !strings.Contains(page.text, "Disallow: /sale") {
			t.Errorf("%+v while another base is read", page)
		}
		r := asks(server, "c.test")
		ctx, cancel := context.WithCancel(r.Context())
		cancel()
		if page, _ := p.Page(r.WithContext(ctx)); page != nil {
			t.Errorf("%+v for who has gone", page)
		}
		time.Sleep(time.Minute) // until all fetches have ended
	})
}
