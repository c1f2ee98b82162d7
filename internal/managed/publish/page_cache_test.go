package publish

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// publisherOf returns a publisher whose files contain the host.
func publisherOf(t *testing.T) *Publisher {
	t.Helper()
	schedule, err := managed.NewSchedule(uaident.Default(), managed.Spec{Rules: []managed.Rule{disallow("GPTBot")}, Sitemaps: []string{"https://" + "{http.request.host}" + "/s.xml"}})
	if err != nil {
		t.Fatal(err)
	}
	return serving(Config{Schedule: schedule, Now: time.Now})
}

// TestInventedHostsAreBounded checks that hosts that only clients name use limited memory, and evict
// no page of a configured site.
func TestInventedHostsAreBounded(t *testing.T) {
	p := publisherOf(t)
	named := p.cachedOrComposed(nil, hostPeriod{segment: policy.ConfiguredHosts, host: "a.example", period: p.Serving().Period("a.example", time.Now())}).page
	for i := range 5000 {
		p.cachedOrComposed(nil, hostPeriod{segment: policy.UnknownHosts, host: fmt.Sprintf("h%d.test", i), period: p.Serving().Period("a.example", time.Now())})
	}
	for i := range 200 {
		key := pageKey{host: fmt.Sprintf("long%d.test", i)}
		p.sharedPage(policy.UnknownHosts, key, func() pageResult { return pageResult{page: newPage(strings.Repeat("x", policy.MaxSize), time.Now())} })
	}
	if s := p.caches[policy.UnknownHosts]; s.pages.Len() > 1000 || s.bytes > 32<<20 || len(s.composing) > 0 {
		t.Errorf("%d texts with %d bytes are kept, %d are being made", s.pages.Len(), s.bytes, len(s.composing))
	}
	if again := p.cachedOrComposed(nil, hostPeriod{segment: policy.ConfiguredHosts, host: "a.example", period: p.Serving().Period("a.example", time.Now())}).page; again != named {
		t.Error("a named site's text was evicted")
	}
}

// TestComposedOnce composes a new page once for many concurrent requests.
func TestComposedOnce(t *testing.T) {
	p := publisherOf(t)
	var composed atomic.Int32
	var done sync.WaitGroup
	enter := make(chan struct{})
	for range 20 {
		done.Go(func() {
			m := p.sharedPage(policy.ConfiguredHosts, pageKey{}, func() pageResult {
				composed.Add(1)
				<-enter
				return pageResult{page: newPage("x", time.Now())}
			})
			if m.page == nil {
				t.Error("no page")
			}
		})
	}
	close(enter)
	done.Wait()
	if n := composed.Load(); n != 1 {
		t.Errorf("it was composed %d times", n)
	}
}
