package guard

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// redirectedSite is a site that the guard reads, with what it answers now.
type redirectedSite struct {
	t      *testing.T
	g      *Guard
	answer policy.Answer
}

func newRedirectedSite(t *testing.T) *redirectedSite {
	s := &redirectedSite{t: t}
	s.g = testGuard(t, options{Enforce: true}, witnessedSource(func(origin.Witness) policy.Answer { return s.answer }))
	return s
}

// serves has the site serve a text for a day, at the end of a way.
func (s *redirectedSite) serves(text string, via ...string) {
	s.answer = policy.Answer{Status: http.StatusOK, Body: []byte(text), Via: via, Header: http.Header{"Cache-Control": {"max-age=86400"}}}
}

func (s *redirectedSite) bing(target string) *http.Request {
	return from(requestBy("bingbot/2.0", target), "192.0.2.1")
}

// redirects lets bingbot ask for the robots.txt, which is elsewhere.
func (s *redirectedSite) redirects(to string) {
	s.t.Helper()
	r := s.bing("/robots.txt")
	next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
		return nil
	})
	if err := s.g.passRobots(httptest.NewRecorder(), r, s.g.Judge(r), next); err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
}

func (s *redirectedSite) expect(when, target string, want judge.Verdict) {
	s.t.Helper()
	j := s.g.Judge(s.bing(target))
	synctest.Wait()
	if j.Verdict != want {
		s.t.Errorf("%s: %s is %s, want %s", when, target, j.Verdict, want)
	}
}

// TestWhereTheFileIsRedirectedTo lets crawlers go where the robots.txt redirects to,
// whatever it forbids: who cannot read the rules cannot keep to them.
func TestWhereTheFileIsRedirectedTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newRedirectedSite(t)
		s.serves(strict, "/rules/a.txt?v=1", "http://else.test/b.txt", "/c.txt")
		s.expect("at first", "/rules/a.txt?v=1", judge.Allowed)
		s.expect("the end", "/c.txt", judge.Allowed)
		for _, other := range []string{"/rules/a.txt", "/rules/a.txt?v=2", "/b.txt", "/c.txt/x"} {
			s.expect("another page", other, judge.Disallowed)
		}
		time.Sleep(2 * time.Minute)
		s.serves(strict, "/moved.txt")
		s.expect("once it has moved", "/moved.txt", judge.Allowed)
		s.expect("once it has moved", "/c.txt", judge.Disallowed)
		time.Sleep(2 * time.Minute)
		s.answer = policy.Answer{Status: http.StatusServiceUnavailable, Via: []string{"/broken.txt"}}
		s.expect("where that fails", "/broken.txt", judge.Allowed)
		s.expect("where that fails", "/x", judge.Disallowed)
	})
}

// TestWhoIsRedirected knows nothing more of what it has read before.
func TestWhoIsRedirected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newRedirectedSite(t)
		s.serves(strict)
		changing := &changingSite{t: t, g: s.g}
		changing.reads(s.bing("/robots.txt"), strict)
		s.expect("who has read it", "/x", judge.Disallowed)
		time.Sleep(time.Hour)
		s.serves(loose, "/loose.txt")
		r := s.bing("/x")
		read := ledger.Reading{At: time.Now(), Status: http.StatusMovedPermanently} // at another instance
		for _, reader := range s.g.readersOf(r, s.g.Judge(r)) {
			s.g.shared.readers.Read(reader, read)
		}
		s.expect("who was redirected since", "/x", judge.Allowed)
	})
}

// TestARedirectIsNews has the file read at once that is redirected, or to elsewhere.
func TestARedirectIsNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newRedirectedSite(t)
		s.serves(strict)
		s.expect("at first", "/x", judge.Disallowed)
		for _, to := range []string{"/a.txt", "/b.txt"} {
			time.Sleep(time.Minute / 2)
			s.serves(strict, to)
			s.redirects("http://example.com" + to)
			if state := s.g.shared.Cache.Entries()[0].State(); !slices.Equal(state.Via, []string{to}) {
				t.Errorf("the guard knows of %q, want %s", state.Via, to)
			}
		}
		before := s.g.shared.Cache.Entries()[0].State()
		time.Sleep(time.Minute / 2)
		if s.redirects("/b.txt"); s.g.shared.Cache.Entries()[0].State() != before {
			t.Error("the same redirect is news")
		}
	})
}

// TestLedToWhatNobodyCanRead gives a few requests the benefit of the doubt.
func TestLedToWhatNobodyCanRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newRedirectedSite(t)
		s.serves(strict)
		s.expect("at first", "/x", judge.Disallowed)
		time.Sleep(time.Hour)
		s.answer = policy.Answer{Status: http.StatusBadGateway}
		s.redirects("/slow.txt")
		for range 8 {
			s.expect("who was led there", "/slow.txt", judge.Stale)
		}
		s.expect("in the end", "/slow.txt", judge.Disallowed)
	})
}

// TestTheSameRedirect is no news where the guard knows it otherwise than it is sent.
func TestTheSameRedirect(t *testing.T) {
	long := "/" + strings.Repeat("x", 2000) + ".txt"
	for to, via := range map[string][]string{
		"http://else.test":        {"http://else.test/"},
		long:                      nil, // which is not kept
		"http://else.test" + long: nil,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newRedirectedSite(t)
			s.serves(strict, via...)
			s.expect("at first", "/x", judge.Disallowed)
			before := s.g.shared.Cache.Entries()[0].State()
			time.Sleep(time.Minute / 2)
			if s.redirects(to); s.g.shared.Cache.Entries()[0].State() != before {
				t.Errorf("%.30s is news", to)
			}
		})
	}
}

// TestLedAtAHostByItsNeighbours judges a host that could not be read by what its
// neighbours have, and by where it redirects to.
func TestLedAtAHostByItsNeighbours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newRedirectedSite(t)
		s.serves(strict)
		visit := func(host, target string, next caddyhttp.Handler) *Judgement {
			r, w := requestBy("bingbot/2.0", target), httptest.NewRecorder()
			r.Host = host
			r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, exampleServer)
			caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, "192.0.2.1")
			_ = s.g.Serve(w, r, next) // an error is the answer to a blocked request
			synctest.Wait()
			j, _ := caddyhttp.GetVar(r.Context(), Var).(*Judgement)
			return j
		}
		for i := range 8 {
			visit(fmt.Sprintf("a%d.example.net", i), "/x", nothingNext)
		}
		s.answer = policy.Answer{Status: http.StatusBadGateway}
		visit("b.example.net", "/robots.txt", caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			w.Header().Set("Location", "/rules.txt")
			w.WriteHeader(http.StatusFound)
			return nil
		}))
		for target, want := range map[string]judge.Verdict{"/rules.txt": judge.Stale, "/x": judge.Disallowed} {
			if j := visit("b.example.net", target, nothingNext); j.Verdict != want {
				t.Errorf("%s is %s, want %s", target, j.Verdict, want)
			}
		}
	})
}

// TestWhoIsLedIsNotSlowed lets a crawler that asks too fast read the rules all the same.
func TestWhoIsLedIsNotSlowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &redirectedSite{t: t}
		limits := enforcing(func(s *rate.Settings) { s.Limits = []rate.Limit{limitOf(t, "CCBot", 1)} })
		s.g = testGuard(t, options{Enforce: true, Rate: limits}, witnessedSource(func(origin.Witness) policy.Answer { return s.answer }))
		s.serves("")
		ccBot := func(target string) *http.Request { return from(requestBy("CCBot/2.0", target), "192.0.2.1") }
		s.g.Judge(ccBot("/x"))
		synctest.Wait()
		time.Sleep(time.Minute)
		s.answer = policy.Answer{Status: http.StatusBadGateway}
		s.redirects("/slow.txt")
		for target, want := range map[string]rate.State{"/x": rate.Slowed, "/slow.txt": rate.Over} {
			if j := s.g.Judge(ccBot(target)); j.Rate.State != want || (j.Action == judge.Slowed) != (want == rate.Slowed) {
				t.Errorf("%s is %s, %s, want %s", target, j.Rate.State, j.Action, want)
			}
			synctest.Wait()
		}
		r, action := ccBot("/slow.txt"), judge.None
		for range 2 { // of which one is within the limit, as it counts under a false name
			j := s.g.Judge(r)
			j.Identity, j.Rate = verify.Spoofed, Rate{}
			entry := s.g.shared.Cache.Get(j.Site.Key)
			s.g.ask(r, entry, entry.State(), j)
			action = j.Action
			synctest.Wait()
		}
		if action != judge.Slowed {
			t.Errorf("who uses a false name is not slowed: %s", action)
		}
	})
}
