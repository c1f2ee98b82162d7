package guard

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestLedToAnotherSite lets crawlers read the robots.txt of a site where it is at another
// one, whose rules forbid to go there.
func TestLedToAnotherSite(t *testing.T) {
	const target = "/private/rules.txt"
	for _, tc := range []struct {
		name      string
		site      string   // whose robots.txt it is
		via       []string // where the guard is led to for it
		redirects string   // where the crawler is
		verdict   judge.Verdict
	}{
		{"nobody leads there", "a.example.com", nil, "", judge.Disallowed},
		{"the guard was led there", "a.example.com", []string{"http://else.test/x", "http://b.example.com" + target}, "", judge.Stale},
		{"to the default port", "a.example.com", []string{"http://b.example.com:80" + target}, "", judge.Stale},
		{"by another scheme", "a.example.com", []string{"https://b.example.com" + target}, "", judge.Disallowed},
		{"from a host that clients name", "a.example.net", []string{"http://b.example.com" + target}, "", judge.Disallowed},
		{"the crawler was led there", "a.example.com", nil, "http://b.example.com" + target, judge.Stale},
		{"the crawler was led to another page", "a.example.com", nil, "http://b.example.com/x", judge.Disallowed},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newLedHosts(t, tc.via)
			s.visit("b.example.com", "/private/x", nothingNext)
			s.visit(tc.site, "/x", nothingNext)
			if tc.redirects != "" {
				s.visit(tc.site, "/robots.txt", redirectTo(tc.redirects))
			}
			if j := s.visit("b.example.com", target, nothingNext); j.Verdict != tc.verdict {
				t.Errorf("%s: %s, want %s", tc.name, j.Verdict, tc.verdict)
			}
		})
	}
}

// TestLedFartherAtTheFirstVisit has a crawler ask for the robots.txt of a site of which nobody
// has asked for anything: the guard reads the file as well, and knows all steps to it.
func TestLedFartherAtTheFirstVisit(t *testing.T) {
	const first, second = "/private/1", "/private/2"
	synctest.Test(t, func(t *testing.T) {
		s := newLedHosts(t, []string{"http://b.example.com" + first, "http://b.example.com" + second})
		s.visit("b.example.com", "/x", nothingNext)
		s.visit("a.example.com", "/robots.txt", redirectTo("http://b.example.com"+first))
		for _, target := range []string{first, second} {
			if j := s.visit("b.example.com", target, nothingNext); j.Verdict != judge.Stale {
				t.Errorf("%s: %s, want it let through", target, j.Verdict)
			}
		}
		if j := s.visit("b.example.com", "/private/3", nothingNext); j.Verdict != judge.Disallowed {
			t.Errorf("another page: %s", j.Verdict)
		}
	})
}

// TestLedToTheRobotsTxtOfAnotherSite knows not for which of both it was read.
func TestLedToTheRobotsTxtOfAnotherSite(t *testing.T) {
	for name, want := range map[string]judge.Verdict{"": judge.Disallowed, "http://b.example.com/robots.txt": judge.Stale} {
		synctest.Test(t, func(t *testing.T) {
			s := newLedHosts(t, nil)
			s.text = loose
			s.visit("b.example.com", "/x", nothingNext)
			time.Sleep(time.Hour)
			s.text = strict
			s.visit("b.example.com", "/x", nothingNext) // and the guard reads that
			s.visit("a.example.com", "/x", nothingNext)
			if name != "" {
				s.visit("a.example.com", "/robots.txt", redirectTo(name))
			}
			s.visit("b.example.com", "/robots.txt", caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
				_, err := w.Write([]byte(strict))
				return err
			}))
			if j := s.visit("b.example.com", "/x", nothingNext); j.Verdict != want {
				t.Errorf("led to %q: %s, want %s", name, j.Verdict, want)
			}
		})
	}
}

var ledServer = &caddyhttp.Server{Routes: caddyhttp.RouteList{
	{MatcherSets: caddyhttp.MatcherSets{{&caddyhttp.MatchHost{"a.example.com", "b.example.com", "*.example.net"}}}},
}}

// ledHosts are two sites that a guard reads.
type ledHosts struct {
	t    *testing.T
	g    *Guard
	text string // of b.example.com
}

func newLedHosts(t *testing.T, via []string) *ledHosts {
	s := &ledHosts{t: t, text: "User-agent: *\nDisallow: /private/\n"}
	s.g = testGuard(t, options{Enforce: true}, keyedSource(func(key policy.Key) policy.Answer {
		if key.Host == "b.example.com" {
			return policy.Answer{Status: http.StatusOK, Body: []byte(s.text)}
		}
		return policy.Answer{Status: http.StatusOK, Body: []byte(loose), Via: via}
	}))
	return s
}

// keyedSource answers by whose robots.txt is read.
type keyedSource func(key policy.Key) policy.Answer

func (s keyedSource) Prepare(_ *http.Request, key policy.Key, _ origin.Witness) (origin.Fetch, bool) {
	return witnessedSource(func(origin.Witness) policy.Answer { return s(key) }).Prepare(nil, key, origin.Witness{})
}

func redirectTo(place string) caddyhttp.Handler {
	return caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Location", place)
		w.WriteHeader(http.StatusFound)
		return nil
	})
}

func (s *ledHosts) visit(host, target string, next caddyhttp.Handler) *Judgement {
	r, w := requestBy("bingbot/2.0", target), httptest.NewRecorder()
	r.Host = host
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, ledServer)
	caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, "192.0.2.1")
	_ = s.g.Serve(w, r, next) // an error is the answer to a blocked request
	synctest.Wait()
	j, _ := caddyhttp.GetVar(r.Context(), Var).(*Judgement)
	return j
}
