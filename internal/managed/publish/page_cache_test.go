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
)

// publisherOf returns a publisher whose files contain the host.
func publisherOf(t *testing.T) *Publisher {
	t.Helper()
	spec := managed.Spec{Rules: []managed.Rule{disallow("GPTBot")}, Sitemaps: []string{"https://{http.request.host}/s.xml"}}
	return serving(Config{Schedule: scheduleOf(t, spec), Now: time.Now})
}

// TestInventedHostsAreBounded checks that hosts that only clients name use limited memory, and evict
// no page of a configured site.
func TestInventedHostsAreBounded(t *testing.T) {
	p := publisherOf(t)
	named := p.getOrComposePage(nil, hostPeriod{segment: policy.ConfiguredHosts, host: "a.example", period: p.ServedSchedule().FindPeriod("a.example", time.Now())})
	for i := range 5000 {
		p.getOrComposePage(nil, hostPeriod{segment: policy.UnknownHosts, host: fmt.Sprintf("h%d.test", i), period: p.ServedSchedule().FindPeriod("a.example", time.Now())})
	}
	if s := p.pageCaches[policy.UnknownHosts]; s.pages.Len() > 1000 {
		t.Errorf("%d pages are cached", s.pages.Len())
	}
	long := newPageCache(1000, 32<<20, func(*policy.Version, hostPeriod) (*Page, error) {
		return newPage(strings.Repeat("x", policy.MaxSize), time.Now()), nil
	})
	for i := range 200 {
		long.getOrCompose(&policy.Version{Hash: [32]byte{byte(i)}}, hostPeriod{period: p.ServedSchedule().FindPeriod("a.example", time.Now())})
	}
	if long.bytes > 32<<20 || long.bytes < 30<<20 {
		t.Errorf("pages with %d bytes are cached", long.bytes)
	}
	if again := p.getOrComposePage(nil, hostPeriod{segment: policy.ConfiguredHosts, host: "a.example", period: p.ServedSchedule().FindPeriod("a.example", time.Now())}); again != named {
		t.Error("a named site's text was evicted")
	}
}

// TestComposedOnce composes a new page once for many concurrent requests.
func TestComposedOnce(t *testing.T) {
	var composed atomic.Int32
	var done sync.WaitGroup
	enter := make(chan struct{})
	cache := newPageCache(10, 1000, func(*policy.Version, hostPeriod) (*Page, error) {
		composed.Add(1)
		<-enter
		return newPage("x", time.Now()), nil
	})
	at := hostPeriod{period: newSchedule(t, disallow("GPTBot")).FindPeriod("a.test", time.Now())}
	for range 20 {
		done.Go(func() {
			if page, _, _ := cache.getOrCompose(nil, at); page == nil {
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
