package managed

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// bases is a source that has another text for each site.
type bases struct{ version atomic.Int64 }

func (b *bases) Prepare(_ *http.Request, key policy.Key, _ origin.Witness) (origin.Fetch, bool) {
	return func(context.Context, *policy.Version) policy.Answer {
		text := fmt.Sprintf("User-agent: *\nDisallow: /%s/%d\n", key.Host, b.version.Load())
		return policy.Answer{Status: 200, Header: http.Header{"Cache-Control": {"max-age=86400"}}, Body: []byte(text)}
	}, true
}

func newPublisher(s *Schedule, source origin.Source, now func() time.Time) *Publisher {
	bounds := policy.Bounds{Entries: 20_000, Bytes: 1 << 30, Reads: 64}
	return NewPublisher(Config{
		Schedule: s, Source: source, Sites: new(request.Sites), Bases: policy.NewCache(bounds, bounds, now, nil), Now: now, Logger: zap.NewNop(),
	})
}

// site names some hosts, as a configuration does.
func site(hosts ...string) *caddyhttp.Server {
	names := caddyhttp.MatchHost(hosts)
	return &caddyhttp.Server{Routes: caddyhttp.RouteList{{MatcherSets: caddyhttp.MatcherSets{{&names}}}}}
}

func asks(server *caddyhttp.Server, host string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://"+host+"/robots.txt", nil)
	return r.WithContext(context.WithValue(r.Context(), caddyhttp.ServerCtxKey, server))
}

// hasPage reports whether the page of a host at a time is there already.
func (p *Publisher) hasPage(host string, at time.Time) bool {
	t := p.Serving().of(host)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.shelves {
		for _, key := range s.pages.Keys() {
			if m, _ := s.pages.Peek(key); key.table == t && key.turn == t.turn(at) && m.page != nil && strings.Contains(m.page.text, "/"+host+"/") {
				return true
			}
		}
	}
	return false
}

// The pages of a turn are there before it, those of sites that were asked at the
// last moment too; what is served changes at the turn itself; then those before are
// forgotten.
func TestPagesAreMadeAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := time.Now().Add(10 * time.Hour)
		until := from.Add(time.Hour)
		p := newPublisher(newSchedule(t, during(disallow("GPTBot", "/sale"), "sale", from, until), during(disallow("CCBot", "/x"), "x", until, time.Time{}, "b.test")), new(bases), time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan struct{})
		go func() { defer close(ended); p.Run(ctx) }()
		server := site("a.test", "b.test")
		served := func(host string) string {
			page, _ := p.Page(asks(server, host))
			if page == nil {
				t.Fatalf("%s has no page", host)
			}
			return page.text
		}
		served("a.test")
		time.Sleep(time.Until(from) - 61*time.Second)
		synctest.Wait()
		if p.hasPage("a.test", from) {
			t.Error("the next page is kept for hours")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		served("b.test")
		time.Sleep(time.Until(from) - time.Microsecond)
		synctest.Wait()
		for _, host := range []string{"a.test", "b.test"} {
			if text := served(host); strings.Contains(text, "/sale") || !p.hasPage(host, from) {
				t.Errorf("a microsecond before the turn %s has %q, and the next page is kept: %t", host, text, p.hasPage(host, from))
			}
		}
		time.Sleep(time.Microsecond)
		for _, host := range []string{"a.test", "b.test"} {
			page, next := p.Page(asks(server, host))
			if !strings.Contains(page.text, "Disallow: /sale") || !next.Equal(until) || !page.modified.Equal(from.Truncate(time.Second)) {
				t.Errorf("at the turn %s has %q of %v until %v", host, page.text, page.modified, next)
			}
		}
		synctest.Wait()
		if p.hasPage("a.test", from.Add(-1)) {
			t.Error("the page before the turn is still kept")
		}
		time.Sleep(time.Until(until))
		if text := served("b.test"); strings.Contains(text, "/sale") || !strings.Contains(text, "Disallow: /x") {
			t.Errorf("after the sale b.test has %q", text)
		}
		cancel()
		<-ended
	})
}

// Who ends a publisher does not wait for the next turn.
func TestRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPublisher(newSchedule(t, during(disallow("GPTBot"), "sale", time.Now().Add(time.Hour), time.Time{})), nil, time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); p.Run(ctx) }()
		synctest.Wait()
		cancel()
		<-ended
	})
}
