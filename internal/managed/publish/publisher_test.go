package publish

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

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// bases is a source with a different file for each site.
type bases struct{ version atomic.Int64 }

func (b *bases) Prepare(_ *http.Request, key policy.Key) (site.FetchFunc, bool) {
	return func(context.Context, *policy.Version) policy.FetchResult {
		text := fmt.Sprintf("User-agent: *\nDisallow: /%s/%d\n", key.Host, b.version.Load())
		return policy.FetchResult{Status: 200, Header: http.Header{"Cache-Control": {"max-age=86400"}}, Body: []byte(text)}
	}, true
}

func newSchedule(t testing.TB, rules ...managed.Rule) *managed.Schedule {
	t.Helper()
	return scheduleOf(t, managed.Spec{Rules: rules})
}

func scheduleOf(t testing.TB, spec managed.Spec) *managed.Schedule {
	t.Helper()
	s, err := managed.NewSchedule(uaident.Default(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func allow(who string, paths ...string) managed.Rule {
	return managed.Rule{For: []string{who}, Allow: true, Paths: paths}
}

// during returns a rule with a name and a window.
func during(r managed.Rule, name string, from, until time.Time, hosts ...string) managed.Rule {
	r.ID, r.Hosts = name, hosts
	r.From, r.Until = formatTime(from), formatTime(until)
	return r
}

// formatTime returns a time of a rule, "" for the zero time.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

func newPublisher(s *managed.Schedule, source site.Source, now func() time.Time) *Publisher {
	bounds := policy.Bounds{Entries: 20_000, Bytes: 1 << 30, ConcurrentFetches: 64}
	return serving(Config{Schedule: s, Source: source, Bases: policy.NewCache(bounds, bounds, now, nil), Now: now})
}

// serving returns a publisher that serves its schedule, without a history.
func serving(c Config) *Publisher {
	c.RequestSites, c.Logger, c.Observer = new(site.Sites), zap.NewNop(), new(seen)
	p := New(c)
	p.serve(c.Schedule, nil, "")
	return p
}

// serve serves a schedule from now on. A trial with an ID of "1" serves another schedule at the host
// canary, unless the host is "".
func (p *Publisher) serve(published, trial *managed.Schedule, canary string) {
	e := &servedRules{published: servedSchedule{schedule: published, since: p.Now()}}
	if canary != "" {
		e.onTrial, e.trial, e.canaryHosts = &Change{ID: "1", TrialEnd: p.Now().Add(time.Hour)}, servedSchedule{schedule: trial, since: p.Now()}, newHostSet([]string{canary})
	}
	p.setServedRules(e)
}

// serverFor returns a server with hosts.
func serverFor(hosts ...string) *caddyhttp.Server {
	names := caddyhttp.MatchHost(hosts)
	return &caddyhttp.Server{Routes: caddyhttp.RouteList{{MatcherSets: caddyhttp.MatcherSets{{&names}}}}}
}

func asks(server *caddyhttp.Server, host string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://"+host+"/robots.txt", nil)
	return r.WithContext(context.WithValue(r.Context(), caddyhttp.ServerCtxKey, server))
}

// TestTurn serves another file exactly when a rule starts or ends.
func TestTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := time.Now().Add(10 * time.Hour)
		until := from.Add(time.Hour)
		p := newPublisher(newSchedule(t, during(disallow("GPTBot", "/sale"), "sale", from, until), during(disallow("CCBot", "/x"), "x", until, time.Time{}, "b.test")), new(bases), time.Now)
		server := serverFor("a.test", "b.test")
		served := func(host string) string {
			page, _ := p.Page(asks(server, host))
			if page == nil {
				t.Fatalf("%s has no page", host)
			}
			return page.text
		}
		served("a.test")
		time.Sleep(time.Until(from) - time.Microsecond)
		for _, host := range []string{"a.test", "b.test"} {
			if text := served(host); strings.Contains(text, "/sale") {
				t.Errorf("a microsecond before the turn %s has %q", host, text)
			}
		}
		time.Sleep(time.Microsecond)
		for _, host := range []string{"a.test", "b.test"} {
			page, next := p.Page(asks(server, host))
			if !strings.Contains(page.text, "Disallow: /sale") || !next.Equal(until) || !page.modified.Equal(from.Truncate(time.Second)) {
				t.Errorf("at the turn %s has %q of %v until %v", host, page.text, page.modified, next)
			}
		}
		time.Sleep(time.Until(until))
		if text := served("b.test"); strings.Contains(text, "/sale") || !strings.Contains(text, "Disallow: /x") {
			t.Errorf("after the sale b.test has %q", text)
		}
	})
}
