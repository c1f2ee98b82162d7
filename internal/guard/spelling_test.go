package guard

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// spellingSource is an origin that knows one authority, and answers to all others what it
// answers to any host.
type spellingSource struct{ known, text, any string }

func (s spellingSource) Prepare(_ *http.Request, key policy.Key, _ origin.Witness) (origin.Fetch, bool) {
	return func(context.Context, *policy.Version) policy.Answer {
		text := s.any
		if key.Host == s.known {
			text = s.text
		}
		return policy.Answer{Status: http.StatusOK, Body: []byte(text)}
	}, true
}

// TestOtherSpelling judges a site at a port of its own by the authority that its origin
// knows, from when that was read on, though it was looked for before.
func TestOtherSpelling(t *testing.T) {
	for _, tc := range []struct {
		name          string
		known         string
		before, after judge.Verdict
	}{
		{"the origin knows it with the port", "example.com:8080", judge.Disallowed, judge.Allowed},
		{"the origin knows it without", "example.com", judge.Allowed, judge.Allowed},
		{"the origin knows neither", "example.net", judge.Disallowed, judge.Disallowed},
	} {
		g := testGuard(t, options{Enforce: true}, spellingSource{tc.known, "User-agent: *\nDisallow: /private/\n", "User-agent: *\nDisallow: /\n"})
		judged := func(host string) judge.Verdict {
			r := requestBy("bingbot/2.0", "/x")
			r.Host = host
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{Port: 8080}))
			return g.Judge(caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), namedServer)).Verdict
		}
		for range 2 {
			if got := judged("example.com"); got != tc.before {
				t.Errorf("%s: %s before the other was read, want %s", tc.name, got, tc.before)
			}
		}
		judged("example.com:8080")
		if got := judged("example.com"); got != tc.after {
			t.Errorf("%s: %s once the other was read, want %s", tc.name, got, tc.after)
		}
	}
}

// TestReadByThisSpelling has an origin that shuts out crawlers at the port of the listener,
// which a proxy maps and nobody is to index. Who looks there has no crawler shut out that
// was served the other text where it asks.
func TestReadByThisSpelling(t *testing.T) {
	g := testGuard(t, options{Enforce: true}, spellingSource{"example.com:8080", "User-agent: *\nDisallow: /\n", "User-agent: *\nDisallow: /private/\n"})
	at := func(host, path string) *http.Request {
		r := requestBy("bingbot/2.0", path)
		r.Host = host
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{Port: 8080}))
		return caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), namedServer)
	}
	read := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		_, err := w.Write([]byte("User-agent: *\nDisallow: /private/\n"))
		return err
	})
	if err := g.Serve(httptest.NewRecorder(), at("example.com", "/robots.txt"), read); err != nil {
		t.Fatal(err)
	}
	g.Judge(at("example.com", "/x"))
	g.Judge(at("example.com:8080", "/x")) // by anybody
	for _, tc := range []struct {
		host, path string
		want       judge.Verdict
	}{
		{"example.com", "/x", judge.Allowed},
		{"example.com", "/private/x", judge.Disallowed},
		{"example.com:8080", "/x", judge.Disallowed},
	} {
		if got := g.Judge(at(tc.host, tc.path)).Verdict; got != tc.want {
			t.Errorf("%s%s is %s, want %s", tc.host, tc.path, got, tc.want)
		}
	}
}
