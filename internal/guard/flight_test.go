package guard

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// oneAtATime returns settings that allow each crawler for AI training one concurrent
// request.
func oneAtATime(t testing.TB) *rate.Settings {
	return enforcing(func(s *rate.Settings) {
		l := limitOf(t, "ai_training", 0)
		l.Rule, l.Per, l.Concurrent = rate.Rule{}, 0, 1
		s.Limits = []rate.Limit{l}
	})
}

// hijackable is a recorder that supports Hijack.
type hijackable struct {
	*httptest.ResponseRecorder
	conn net.Conn
}

func (h hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) { return h.conn, nil, nil }

// stateNow returns the rate state of another request of the same crawler.
func stateNow(g *Guard) rate.State {
	r := served(http.MethodGet, "CCBot/2.0", "/")
	_ = g.Serve(httptest.NewRecorder(), r, nothingNext)
	j, _ := caddyhttp.GetVar(r.Context(), Var).(*Judgement)
	return j.Rate.State
}

// TestPlacesAreGivenBack ends a request in every possible way. During the request there
// is no free place, and afterwards there is one.
func TestPlacesAreGivenBack(t *testing.T) {
	for _, tc := range []struct {
		name, method string
		handle       func(w http.ResponseWriter, r *http.Request) error
		meanwhile    rate.State // of another request after handle has begun to end its request
	}{
		{"a page", http.MethodGet, func(w http.ResponseWriter, _ *http.Request) error {
			_, err := io.WriteString(w, "a page")
			return err
		}, rate.SlowedDown},
		{"nothing", http.MethodGet, func(http.ResponseWriter, *http.Request) error { return nil }, rate.SlowedDown},
		{"an error", http.MethodGet, func(http.ResponseWriter, *http.Request) error { return errors.New("x") }, rate.SlowedDown},
		{"a panic", http.MethodGet, func(http.ResponseWriter, *http.Request) error { panic("x") }, rate.SlowedDown},
		{"the proxy broke off", http.MethodGet, func(http.ResponseWriter, *http.Request) error { panic(http.ErrAbortHandler) }, rate.SlowedDown},
		{"the client leaves", http.MethodGet, func(_ http.ResponseWriter, r *http.Request) error {
			<-r.Context().Done()
			return r.Context().Err()
		}, rate.SlowedDown},
		{"hijacked", http.MethodGet, func(w http.ResponseWriter, _ *http.Request) error {
			_, _, err := http.NewResponseController(w).Hijack()
			return err
		}, rate.WithinRate},
		{"hijacked as of old", http.MethodGet, func(w http.ResponseWriter, _ *http.Request) error {
			_, _, err := w.(http.Hijacker).Hijack()
			return err
		}, rate.WithinRate},
		{"hijacked, and a panic", http.MethodGet, func(w http.ResponseWriter, _ *http.Request) error {
			_, _, _ = http.NewResponseController(w).Hijack()
			panic("x")
		}, rate.SlowedDown},
		{"a WebSocket over HTTP/2", http.MethodConnect, func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusOK)
			return nil
		}, rate.WithinRate},
		{"a WebSocket over HTTP/2 that is refused", http.MethodConnect, func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusForbidden)
			return nil
		}, rate.SlowedDown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := testGuard(t, options{Rate: oneAtATime(t)}, serving(""))
			under := g.state.Metrics.InFlightCounter(uaident.AITraining)
			ctx, leave := context.WithCancel(t.Context())
			r := served(tc.method, "CCBot/2.0", "/")
			r = r.WithContext(context.WithValue(ctx, caddyhttp.VarsCtxKey, r.Context().Value(caddyhttp.VarsCtxKey)))
			conn, other := net.Pipe()
			defer func() { _, _ = conn.Close(), other.Close() }()
			entered := false
			next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
				entered = true
				if got := stateNow(g); got != rate.SlowedDown {
					t.Errorf("another request at once is %q", got)
				}
				if n := under.Load(); n != 1 {
					t.Errorf("%d requests are under way, want 1", n)
				}
				leave()
				err := tc.handle(w, r)
				if got := stateNow(g); got != tc.meanwhile {
					t.Errorf("another request before the handler returns is %q, want %q", got, tc.meanwhile)
				}
				return err
			})
			func() {
				defer func() { _ = recover() }()
				_ = g.Serve(hijackable{httptest.NewRecorder(), conn}, r, next)
			}()
			for range 3 {
				if got := stateNow(g); got != rate.WithinRate {
					t.Errorf("another request afterwards is %q", got)
				}
			}
			if n := under.Load(); !entered || n != 0 {
				t.Errorf("entered %v, %d requests are left under way", entered, n)
			}
		})
	}
}

// TestPlacesWhereSeveralGuardsStand checks that a request through two guards of a site
// takes one place and releases it once.
func TestPlacesWhereSeveralGuardsStand(t *testing.T) {
	first := testGuard(t, options{Rate: oneAtATime(t)}, serving(""))
	c := options{Rate: oneAtATime(t)}.config(t)
	c.Source = first.Source
	second := New(t.Context(), first.state, c)
	served := served(http.MethodGet, "CCBot/2.0", "/")
	passed := false
	err := first.Serve(httptest.NewRecorder(), served, caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		return second.Serve(w, r, caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error {
			passed = true
			if got := stateNow(second); got != rate.SlowedDown {
				t.Errorf("another request at once is %q", got)
			}
			return nil
		}))
	}))
	if err != nil || !passed {
		t.Fatalf("passed %v, %v", passed, err)
	}
	for _, g := range []*Guard{first, second} {
		if got := stateNow(g); got != rate.WithinRate {
			t.Errorf("another request afterwards is %q", got)
		}
	}
}

// TestPlacesOutliveAReload checks that a request that is in flight during a reload
// keeps its place and releases it.
func TestPlacesOutliveAReload(t *testing.T) {
	before := testGuard(t, options{Rate: oneAtATime(t)}, serving(""))
	c := options{Rate: oneAtATime(t)}.config(t)
	c.Source = before.Source
	var after *Guard
	_ = before.Serve(httptest.NewRecorder(), served(http.MethodGet, "CCBot/2.0", "/"), caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error {
		after = New(t.Context(), before.state, c)
		if got := stateNow(after); got != rate.SlowedDown {
			t.Errorf("another request at once, after the reload, is %q", got)
		}
		return nil
	}))
	if got := stateNow(after); got != rate.WithinRate {
		t.Errorf("another request afterwards is %q", got)
	}
}

// TestWhoHasNoPlaces checks that clients without such a limit take no place.
func TestWhoHasNoPlaces(t *testing.T) {
	const file = "User-agent: *\nDisallow: /private/\nSitemap: https://a.test/list\n"
	g := testGuard(t, options{Enforce: true, Rate: oneAtATime(t)}, serving(file))
	for userAgent, targets := range map[string][]string{
		uaChrome: {"/"}, "AhrefsBot/7.0": {"/"},
		"CCBot/2.0": {"/robots.txt", "/list", "/.well-known/x", "/a.css", "/private/x"},
	} {
		for _, target := range targets {
			_ = g.Serve(httptest.NewRecorder(), served(http.MethodGet, userAgent, target), caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
				if got := stateNow(g); got != rate.WithinRate {
					t.Errorf("%s at %s takes a place", userAgent, target)
				}
				_, err := io.WriteString(w, file)
				return err
			}))
		}
	}
}

// TestPlacesInErrorRoutes checks that a request takes a place in an error route
// although it took one before it failed. The first place is free again.
func TestPlacesInErrorRoutes(t *testing.T) {
	g := testGuard(t, options{Enforce: true, Rate: oneAtATime(t)}, serving(""))
	fails := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return errors.New("it fails") })
	first, second := served(http.MethodGet, "CCBot/2.0", "/"), served(http.MethodGet, "CCBot/2.0", "/")
	for _, r := range []*http.Request{first, second} {
		_ = g.Serve(httptest.NewRecorder(), r, fails)
	}
	var states []string
	note := func(r *http.Request) {
		j, _ := caddyhttp.GetVar(r.Context(), Var).(*Judgement)
		states = append(states, j.Rate.State.String())
	}
	_ = g.Serve(httptest.NewRecorder(), first, caddyhttp.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) error {
		note(r)
		return g.Serve(httptest.NewRecorder(), second, caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error {
			t.Error("both are at the page")
			return nil
		}))
	}))
	if note(second); len(states) != 2 || states[0] != "within" || states[1] != "slowed" {
		t.Errorf("they are %q", states)
	}
}
