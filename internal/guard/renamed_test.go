package guard

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestServedAtARenamedHost gives the host of a site, in the next configuration, a site of its own
// or takes it: a crawler goes on by the text that it was served.
func TestServedAtARenamedHost(t *testing.T) {
	const milder = "User-agent: *\nDisallow: /else/\n"
	for _, tc := range []struct{ name, before, after string }{
		{"as before", "*.com", "*.com"},
		{"from a wildcard", "*.com", "example.com"},
		{"to a wildcard", "example.com", "*.com"},
		{"from any host", "other.com", "example.com"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newTwoTexts(t, map[string]string{"bingbot": milder})
			s.g.FetchWait = time.Minute // which a busy machine may need
			asks := func(target, host string) *http.Request {
				server := &caddyhttp.Server{Routes: caddyhttp.RouteList{{MatcherSets: caddyhttp.MatcherSets{{new(caddyhttp.MatchHost{host})}}}}}
				r := from(requestBy("bingbot/2.0", target), "192.0.2.1")
				return r.WithContext(context.WithValue(r.Context(), caddyhttp.ServerCtxKey, server))
			}
			s.reads(asks("/robots.txt", tc.before), milder)
			if got := s.g.Judge(asks("/private/x", tc.before)).Verdict; got != judge.Stale {
				t.Fatalf("before: %s", got)
			}
			next := New(context.Background(), s.g.shared, s.g.Config)
			if got := next.Judge(asks("/private/x", tc.after)).Verdict; got != judge.Stale {
				t.Errorf("after: %s", got)
			}
			if got := next.Judge(asks("/else/x", tc.after)); got.Verdict != judge.Disallowed {
				t.Errorf("what its text forbids: %s", got.Verdict)
			}
			if what, _ := next.hasRead(asks("/private/x", tc.after), next.Judge(asks("/private/x", tc.after))); what == "never" {
				t.Error("it has read nothing")
			}
		})
	}
}

// TestServedAtAHostRenamedTwice has a crawler read the file before or after the first of two
// reloads that name the host otherwise.
func TestServedAtAHostRenamedTwice(t *testing.T) {
	const milder = "User-agent: *\nDisallow: /else/\n"
	for _, read := range []string{"other.com", "*.com"} {
		t.Run(read, func(t *testing.T) {
			s := newTwoTexts(t, map[string]string{"bingbot": milder})
			s.g.FetchWait = time.Minute // which a busy machine may need
			for _, host := range []string{"other.com", "*.com", "example.com"} {
				s.g = New(context.Background(), s.g.shared, s.g.Config)
				server := &caddyhttp.Server{Routes: caddyhttp.RouteList{{MatcherSets: caddyhttp.MatcherSets{{new(caddyhttp.MatchHost{host})}}}}}
				asks := func(agent, target, addr string) *http.Request {
					r := from(requestBy(agent, target), addr)
					return r.WithContext(context.WithValue(r.Context(), caddyhttp.ServerCtxKey, server))
				}
				s.g.Judge(asks("GPTBot/1.3", "/private/x", "192.0.2.9"))
				if host == read {
					s.reads(asks("bingbot/2.0", "/robots.txt", "192.0.2.1"), milder)
				}
				if got := s.g.Judge(asks("bingbot/2.0", "/private/x", "192.0.2.1")).Verdict; host == "example.com" && got != judge.Stale {
					t.Errorf("in the end: %s", got)
				}
			}
		})
	}
}

// TestServedAtAHostRenamedThereAndBack has a crawler read the file between two reloads, of which
// the second takes back what the first has named otherwise.
func TestServedAtAHostRenamedThereAndBack(t *testing.T) {
	const milder = "User-agent: *\nDisallow: /else/\n"
	for _, hosts := range [][]string{{"*.com", "example.com", "*.com"}, {"example.com", "*.com", "example.com"}} {
		s := newTwoTexts(t, map[string]string{"bingbot": milder})
		s.g.FetchWait = time.Minute // which a busy machine may need
		for i, host := range hosts {
			s.g = New(context.Background(), s.g.shared, s.g.Config)
			server := &caddyhttp.Server{Routes: caddyhttp.RouteList{{MatcherSets: caddyhttp.MatcherSets{{new(caddyhttp.MatchHost{host})}}}}}
			asks := func(agent, target, addr string) *http.Request {
				r := from(requestBy(agent, target), addr)
				return r.WithContext(context.WithValue(r.Context(), caddyhttp.ServerCtxKey, server))
			}
			s.g.Judge(asks("GPTBot/1.3", "/private/x", "192.0.2.9"))
			if text := []string{loose + "# before\n", milder}; i < len(text) {
				s.reads(asks("bingbot/2.0", "/robots.txt", "192.0.2.1"), text[i])
			}
			if got := s.g.Judge(asks("bingbot/2.0", "/private/x", "192.0.2.1")).Verdict; i == 2 && got != judge.Stale {
				t.Errorf("%q, in the end: %s", hosts, got)
			}
		}
	}
}

// TestDecideForARenamedHost names the host of a proxy otherwise in the next configuration: what
// was read from the source of the host stays known, although nothing can be read there any more.
func TestDecideForARenamedHost(t *testing.T) {
	for _, tc := range []struct{ name, before, after string }{
		{"from a wildcard", "*.test", "a.test"},
		{"to a wildcard", "a.test", "*.test"},
		{"from any host", "other.test", "a.test"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, _ := decider(t, func(policy.Key) string { return "User-agent: *\nDisallow: /private/\n" })
				name := func(g *Guard, host string) {
					g.Forwarded = request.HostsOfServer(nil)
					g.Forwarded.Add(caddyhttp.MatchHost{host})
				}
				name(g, tc.before)
				const url = "https://a.test/private/x"
				if got := asks(g, "GPTBot/1.3", url).Code; got != http.StatusForbidden {
					t.Fatalf("before: got %d", got)
				}
				config := g.Config
				config.Source = &scriptedSource{answer: func(context.Context) policy.Answer { return policy.Answer{Status: http.StatusBadGateway} }}
				next := New(context.Background(), g.shared, config)
				name(next, tc.after)
				if got := asks(next, "GPTBot/1.3", url).Code; got != http.StatusForbidden {
					t.Errorf("after: got %d", got)
				}
				synctest.Wait()
			})
		})
	}
}
