package publish

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
)

// manyHosts are the hosts with their own files in the benchmarks.
var manyHosts = func() (hosts []string) {
	for i := range 10_000 {
		hosts = append(hosts, fmt.Sprintf("h%d.test", i))
	}
	return hosts
}()

// BenchmarkPage looks up the page of one of 10,000 hosts.
func BenchmarkPage(b *testing.B) {
	for name, source := range map[string]site.Source{"none": nil, "upstream": new(bases)} {
		b.Run(name, func(b *testing.B) {
			p := newPublisher(newSchedule(b, disallow("ai_training"), during(disallow("GPTBot"), "sale", epoch, epoch.Add(1))), source, time.Now)
			server := serverFor(manyHosts...)
			for _, host := range manyHosts {
				p.Page(asks(server, host))
			}
			r := asks(server, "h77.test")
			b.ReportAllocs()
			for b.Loop() {
				if page, _ := p.Page(r); page == nil {
					b.Fatal("no page")
				}
			}
		})
	}
}

// BenchmarkTurn requests the next pages of 10,000 hosts. Each host has its own base and one rule of
// its own.
func BenchmarkTurn(b *testing.B) {
	rules := []managed.Rule{disallow("ai_training")}
	for i, host := range manyHosts {
		rules = append(rules, during(disallow("GPTBot", fmt.Sprintf("/own/%d", i)), fmt.Sprint("r", i), epoch, time.Time{}, host))
	}
	server := serverFor(manyHosts...)
	now := epoch.Add(-time.Minute)
	s := newSchedule(b, rules...)
	for b.Loop() {
		b.StopTimer()
		at := now
		p := newPublisher(s, new(bases), func() time.Time { return at })
		for _, host := range manyHosts {
			p.Page(asks(server, host))
		}
		at = epoch
		b.StartTimer()
		for _, host := range manyHosts {
			p.Page(asks(server, host))
		}
	}
}

// slowestRequest requests pages until ctx ends.
func slowestRequest(ctx context.Context, p *Publisher, server *caddyhttp.Server) (slowest time.Duration) {
	for i := 0; ctx.Err() == nil; i++ {
		r := asks(server, manyHosts[i%len(manyHosts)])
		start := time.Now()
		p.Page(r)
		slowest = max(slowest, time.Since(start))
		time.Sleep(100 * time.Microsecond)
	}
	return slowest
}

// BenchmarkServe serves a page of typical size.
func BenchmarkServe(b *testing.B) {
	page := newPage(string(bytes.Repeat([]byte("Disallow: /x\n"), 300)), time.Now())
	r := httptest.NewRequest(http.MethodGet, "/robots.txt", nil)
	b.ReportAllocs()
	for b.Loop() {
		page.Serve(discard{}, r, time.Hour)
	}
}

type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}
