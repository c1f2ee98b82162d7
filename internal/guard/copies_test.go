package guard

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// fairSite is a site with a guard. The test can change its configuration.
type fairSite struct {
	t      *testing.T
	g      *Guard
	answer policy.FetchResult // the guard's copy
	host   string             // name in the configuration
	port   int                // port of the requests
}

func newFairSite(t *testing.T, text string) *fairSite {
	s := &fairSite{t: t, host: "example.com", port: 80, answer: policy.FetchResult{Status: http.StatusOK, Body: []byte(text)}}
	s.g = testGuard(t, options{Enforce: true}, &scriptedSource{answer: func(context.Context) policy.FetchResult { return s.answer }})
	return s
}

// reload loads a configuration with the given name of the site.
func (s *fairSite) reload(host string) {
	s.host = host
	s.g = New(s.t.Context(), s.g.state, s.g.Config)
	s.g.state.RefetchAll(s.t.Context())
}

func (s *fairSite) request(agent, target string) *http.Request {
	server := &caddyhttp.Server{Routes: caddyhttp.RouteList{{MatcherSets: caddyhttp.MatcherSets{{new(caddyhttp.MatchHost{s.host})}}}}}
	r := from(requestBy(agent, target), "192.0.2.1")
	ctx := context.WithValue(r.Context(), caddyhttp.ServerCtxKey, server)
	return r.WithContext(context.WithValue(ctx, http.LocalAddrContextKey, &net.TCPAddr{Port: s.port}))
}

// asks returns the verdict for a request for a page.
func (s *fairSite) asks(agent string) judge.Verdict {
	j := s.g.Judge(s.request(agent, "/x"))
	synctest.Wait()
	return j.Verdict
}

// served handles a robots.txt request with the given response.
func (s *fairSite) served(r *http.Request, status int, text string) {
	s.t.Helper()
	next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		if r.Header.Get("Accept-Encoding")+r.Header.Get("If-None-Match")+r.Header.Get("If-Modified-Since") != "" {
			s.t.Errorf("the site is asked with %v", r.Header)
		}
		w.WriteHeader(status)
		if text == "" {
			return nil
		}
		_, err := io.WriteString(w, text)
		return err
	})
	if err := s.g.passRobotsRequest(httptest.NewRecorder(), r, s.g.Judge(r), next); err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
}

func (s *fairSite) wants(when, agent string, want judge.Verdict) {
	s.t.Helper()
	if got := s.asks(agent); got != want {
		s.t.Errorf("%s: %s is %s, want %s", when, agent, got, want)
	}
}

// settledSite returns a site whose copy has been strict for long.
func settledSite(t *testing.T) *fairSite {
	s := newFairSite(t, strict)
	s.asks("bingbot/2.0")
	time.Sleep(25 * time.Hour)
	s.wants("after a day", "bingbot/2.0", judge.Disallowed)
	return s
}

// TestServedFileCounts serves files to crawlers that differ from the guard's copy, as
// with two upstreams or by User-Agent. For a day a page that such a file allows has the
// verdict stale for its token.
func TestServedFileCounts(t *testing.T) {
	for _, tc := range []struct {
		name   string
		target string
		change func(*http.Request)
		status int
		text   string
		want   judge.Verdict
	}{
		{"a milder file", "/robots.txt", nil, 200, loose, judge.Stale},
		{"with conditions and codings", "/robots.txt", func(r *http.Request) {
			r.Header.Set("Accept-Encoding", "br")
			r.Header.Set("If-None-Match", `"1"`)
			r.Header.Set("If-Modified-Since", "Mon, 02 Jan 2006 15:04:05 GMT")
		}, 200, loose, judge.Stale},
		{"an equal file with another comment", "/robots.txt", nil, 200, "# 2026\n" + strict, judge.Disallowed},
		{"no file", "/robots.txt", nil, 404, "", judge.Stale},
		{"a refusal", "/robots.txt", nil, 403, "", judge.Stale},
		{"a web page", "/robots.txt", nil, 200, "<html>", judge.Stale},
		{"a failure", "/robots.txt", nil, 503, loose, judge.Disallowed},
		{"with a query", "/robots.txt?x", nil, 200, loose, judge.Disallowed},
		{"a part", "/robots.txt", func(r *http.Request) { r.Header.Set("Range", "bytes=0-9") }, 206, loose, judge.Disallowed},
		{"a whole file for a part", "/robots.txt", func(r *http.Request) { r.Header.Set("Range", "bytes=0-9") }, 200, loose, judge.Disallowed},
		{"HEAD", "/robots.txt", func(r *http.Request) { r.Method = http.MethodHead }, 200, "", judge.Disallowed},
		{"by another crawler", "/robots.txt", func(r *http.Request) { r.Header.Set("User-Agent", "GPTBot/1.0") }, 200, loose, judge.Disallowed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := settledSite(t)
				r := s.request("bingbot/2.0", tc.target)
				if tc.change != nil {
					tc.change(r)
				}
				s.served(r, tc.status, tc.text)
				s.wants("at once", "bingbot/2.0", tc.want)
				time.Sleep(25 * time.Hour)
				s.wants("a day later", "bingbot/2.0", judge.Disallowed)
			})
		})
	}
}

// TestSpoofedClientGainsNothing checks that only the guard's copies count for a spoofed
// client.
func TestSpoofedClientGainsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := settledSite(t)
		s.served(s.request("bingbot/2.0", "/robots.txt"), 200, loose)
		r := s.request("bingbot/2.0", "/x")
		j := s.g.Judge(r)
		j.Verification = verify.Spoofed
		if state := s.g.state.Cache.Get(j.Site.Key).State(); s.g.mayUseAllowingVersion(r, j, state, time.Now()) {
			t.Error("it may be using what was served to others")
		}
	})
}

// TestNobodyBlocksAnother makes a client of the same name and network fetch the file in
// all possible ways. A crawler that obeys an older copy must never be blocked because
// of that.
func TestNobodyBlocksAnother(t *testing.T) {
	for _, tc := range []struct {
		name, target string
		change       func(*http.Request)
	}{
		{"as the crawler does", "/robots.txt", nil},
		{"by another spelling of the host", "/robots.txt", func(r *http.Request) { r.Host = "EXAMPLE.com." }},
		{"with a port", "/robots.txt", func(r *http.Request) { r.Host = "example.com:8080" }},
		{"with a query", "/robots.txt?a", nil},
		{"a part", "/robots.txt", func(r *http.Request) { r.Header.Set("Range", "bytes=0-99") }},
		{"in another language", "/robots.txt", func(r *http.Request) { r.Header.Set("Accept-Language", "de") }},
		{"of another URL", "/robots.txt", func(r *http.Request) { r.Header.Set("X-Original-URL", "/other") }},
		{"as if forwarded", "/robots.txt", func(r *http.Request) {
			r.Header.Set("X-Forwarded-For", "192.0.2.1")
			r.Header.Set("X-Forwarded-Host", "example.com")
			r.Header.Set("Forwarded", "for=192.0.2.1")
		}},
		{"again and again", "/robots.txt", func(*http.Request) {}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFairSite(t, loose)
				s.asks("bingbot/2.0")
				time.Sleep(25 * time.Hour)
				s.served(s.request("bingbot/2.0", "/robots.txt"), 200, loose)
				s.answer.Body = []byte(strict)
				for i := range 30 {
					time.Sleep(time.Minute)
					r := s.request("bingbot/2.0", tc.target)
					if tc.change != nil {
						tc.change(r)
					}
					text := strict
					if i%2 == 1 {
						text = strict + "Disallow: /" + string(rune('a'+i)) + "\n"
					}
					s.served(r, 200, text)
					if got := s.asks("bingbot/2.0"); got == judge.Disallowed {
						t.Fatalf("%s after %d fetches", got, i+1)
					}
				}
				time.Sleep(23 * time.Hour)
				s.wants("within a day", "bingbot/2.0", judge.Stale)
			})
		})
	}
}

// TestReloadKeepsTheFiles changes the configuration after the file has become stricter.
// A crawler that obeys the previous file is not blocked.
func TestReloadKeepsTheFiles(t *testing.T) {
	for _, tc := range []struct {
		name, before, after string
		change              func(*fairSite)
	}{
		{name: "as before", before: "example.com", after: "example.com"},
		{name: "out of a wildcard", before: "*.com", after: "example.com"},
		{name: "into a wildcard", before: "example.com", after: "*.com"},
		{name: "from any host", before: "other.com", after: "example.com"},
		{name: "verification begins", before: "example.com", after: "example.com", change: func(s *fairSite) {
			v := verify.New(verify.Options{MaxVerified: 8, MaxOtherResults: 8})
			s.t.Cleanup(v.Close)
			s.g.Identity = &identity.Checker{Verifier: v, Logger: s.g.Identity.Logger}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFairSite(t, loose)
				s.reload(tc.before)
				s.asks("bingbot/2.0")
				time.Sleep(25 * time.Hour)
				s.served(s.request("GPTBot/1.0", "/robots.txt"), 200, "User-agent: *\nDisallow: /y\n")
				s.answer.Body = []byte(strict)
				time.Sleep(time.Hour) // until the copy is due
				s.asks("bingbot/2.0")
				s.reload(tc.after)
				if tc.change != nil {
					tc.change(s)
				}
				s.wants("after the reload", "bingbot/2.0", judge.Stale)
				time.Sleep(25 * time.Hour)
				s.wants("a day later", "bingbot/2.0", judge.Disallowed)
			})
		})
	}
}

// TestColdHostWaitsForItsFile checks that the first request for a host waits for its
// file. Without the file in time no rules apply.
func TestColdHostWaitsForItsFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFairSite(t, strict)
		s.host = "*.com"
		s.wants("a file in time", "bingbot/2.0", judge.Disallowed)
		s.g = testGuard(t, options{Enforce: true}, &scriptedSource{answer: func(context.Context) policy.FetchResult {
			time.Sleep(time.Second)
			return s.answer
		}})
		if j := s.g.Judge(s.request("bingbot/2.0", "/x")); j.Verdict != judge.Unknown {
			t.Errorf("without a file: %s", j.Verdict)
		}
		time.Sleep(time.Minute)
		s.wants("then", "bingbot/2.0", judge.Disallowed)
	})
}

// TestRefusedToTheGuard checks that nothing is enforced if the site denies its file to
// the guard only.
func TestRefusedToTheGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFairSite(t, "")
		s.answer = policy.FetchResult{Status: http.StatusForbidden}
		s.asks("bingbot/2.0")
		s.served(s.request("bingbot/2.0", "/robots.txt"), 200, strict)
		s.wants("refused", "bingbot/2.0", judge.Allowed)
	})
}

// TestRedirectElsewhere redirects a robots.txt to a page of another guarded site, whose
// own file disallows the page. Crawlers can still fetch it.
func TestRedirectElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := settledSite(t)
		named := site.NewSite(policy.Key{Site: "other.test", Host: "other.test"})
		s.g.recordRedirectTargets(&named, []string{"/own", "http://example.com/x"})
		s.wants("on the way to a robots.txt", "bingbot/2.0", judge.Allowed)
		if j := s.g.Judge(s.request("bingbot/2.0", "/x/y")); j.Verdict != judge.Disallowed {
			t.Errorf("another page is %s", j.Verdict)
		}
	})
}

// TestRedirectIsKnownInTime redirects a robots.txt through a second host after a start.
// The client gets the response once the guard knows the second step, by its own fetch
// or from the storage.
func TestRedirectIsKnownInTime(t *testing.T) {
	const second = "http://b.test/robots"
	for name, restored := range map[string]bool{"by its own fetch": false, "from the storage": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFairSite(t, "")
				s.g = testGuard(t, options{Enforce: true, FetchWait: 10 * time.Second}, &scriptedSource{answer: func(context.Context) policy.FetchResult {
					time.Sleep(time.Second)
					return policy.FetchResult{Status: http.StatusOK, Body: []byte(strict), RedirectTargets: []string{"/first", second}}
				}})
				r := s.request("bingbot/2.0", "/robots.txt")
				if restored {
					s.g.Judge(s.request("bingbot/2.0", "/x"))
					time.Sleep(time.Minute)
					s.g.state.redirectTargets.Purge()
				}
				next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
					w.Header().Set("Location", "/first")
					w.WriteHeader(http.StatusFound)
					return nil
				})
				if err := s.g.Serve(httptest.NewRecorder(), r, next); err != nil {
					t.Fatal(err)
				}
				if !s.g.state.redirectTargets.Contains(second) {
					t.Error("the client is at the second step before the guard knows of it")
				}
			})
		})
	}
}

// TestServedByARedirect redirects a robots.txt to a login page for a quarter of an
// hour. A client that got the redirect may assume for a day that there are no rules.
// For other clients such a short time without rules does not count.
func TestServedByARedirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFairSite(t, strict)
		s.asks("bingbot/2.0")
		time.Sleep(25 * time.Hour)
		s.answer = policy.FetchResult{Status: http.StatusOK, Body: []byte("<!DOCTYPE html>\n<html><body>Please log in."), RedirectTargets: []string{"/login"}}
		next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			w.Header().Set("Location", "/login")
			w.WriteHeader(http.StatusFound)
			return nil
		})
		if err := s.g.Serve(httptest.NewRecorder(), s.request("bingbot/2.0", "/robots.txt"), next); err != nil {
			t.Fatal(err)
		}
		time.Sleep(15 * time.Minute)
		s.answer = policy.FetchResult{Status: http.StatusOK, Body: []byte(strict)}
		s.g.state.Cache.Get(s.g.siteForRequest(s.request("bingbot/2.0", "/x")).Key).MakeDue()
		s.asks("bingbot/2.0")
		time.Sleep(12 * time.Hour)
		s.wants("sent to the login", "bingbot/2.0", judge.Stale)
		s.wants("not sent there", "CCBot/2.0", judge.Disallowed)
	})
}

// TestNoFileByError responds with 404 by an error, for which an error route could serve
// a file. The guard's own fetch finds no file for a quarter of an hour. A client that
// got the 404 may assume for a day that there are no rules.
func TestNoFileByError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFairSite(t, strict)
		s.asks("bingbot/2.0")
		time.Sleep(25 * time.Hour)
		s.answer = policy.FetchResult{Status: http.StatusNotFound}
		r := s.request("bingbot/2.0", "/robots.txt")
		r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server).Errors = &caddyhttp.HTTPErrorConfig{Routes: caddyhttp.RouteList{{}}}
		missing := caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error {
			return caddyhttp.Error(http.StatusNotFound, nil)
		})
		if err := s.g.Serve(httptest.NewRecorder(), r, missing); err == nil {
			t.Fatal("no error")
		}
		time.Sleep(15 * time.Minute)
		s.answer = policy.FetchResult{Status: http.StatusOK, Body: []byte(strict)}
		s.g.state.Cache.Get(s.g.siteForRequest(r).Key).MakeDue()
		s.asks("bingbot/2.0")
		time.Sleep(12 * time.Hour)
		s.wants("answered 404", "bingbot/2.0", judge.Stale)
		s.wants("not answered 404", "CCBot/2.0", judge.Disallowed)
	})
}

// TestEndGrace ends the grace after a change manually for one site.
func TestEndGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFairSite(t, loose)
		s.asks("bingbot/2.0")
		s.answer.Body = []byte(strict)
		time.Sleep(time.Hour)
		s.asks("bingbot/2.0")
		changed := time.Now()
		key := s.g.siteForRequest(s.request("bingbot/2.0", "/x")).Key
		if at := s.g.state.EffectiveTimes()(key); !at.Equal(changed.Add(24 * time.Hour)) {
			t.Errorf("takes effect at %v, want a day after %v", at, changed)
		}
		other := key
		other.Host = "other.test"
		s.g.state.EndGrace(other)
		s.wants("after another site's grace was ended", "bingbot/2.0", judge.Stale)
		s.g.state.EndGrace(key)
		s.wants("after the grace was ended", "bingbot/2.0", judge.Disallowed)
		if at := s.g.state.EffectiveTimes()(key); !at.IsZero() {
			t.Errorf("takes effect at %v, want that it does", at)
		}
	})
}

// TestOnlyTheSourceCounts checks that with the option source the files that crawlers
// are served do not count.
func TestOnlyTheSourceCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFairSite(t, strict)
		s.g.SourceKey = "/srv/robots.txt"
		s.asks("bingbot/2.0")
		time.Sleep(25 * time.Hour)
		s.served(s.request("bingbot/2.0", "/robots.txt"), 200, loose)
		s.wants("served another file", "bingbot/2.0", judge.Disallowed)
	})
}

// TestSpellingsOfAHost sends requests of an HTTP library with other spellings of a
// host, with and without a port. The library waits for a file only if the known file
// names it.
func TestSpellingsOfAHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFairSite(t, "")
		s.g = testGuard(t, options{Enforce: true, FetchWait: 10 * time.Second}, &scriptedSource{answer: func(context.Context) policy.FetchResult {
			time.Sleep(time.Second)
			return policy.FetchResult{Status: http.StatusOK, Body: []byte("User-agent: curl\nDisallow: /x\n")}
		}})
		s.port = 8080
		bySpelling := func(host string) judge.Verdict {
			r := s.request("curl/8.7.1", "/x")
			r.Host = host
			verdict := s.g.Judge(r).Verdict
			time.Sleep(time.Minute)
			return verdict
		}
		if got := bySpelling("example.com:8080"); got != judge.Unknown {
			t.Errorf("before anything is known it is %s", got)
		}
		if got := bySpelling("example.com"); got != judge.Disallowed {
			t.Errorf("by another spelling it is %s", got)
		}
	})
}

// TestServedStatuses serves a crawler another response than the guard gets. The crawler is not
// blocked if RFC 9309 lets it conclude from the response that it may request the page.
func TestServedStatuses(t *testing.T) {
	for _, tc := range []struct {
		name   string
		target string
		status int
		body   string
		want   judge.Verdict
	}{
		{"other rules", "/robots.txt", 200, loose, judge.Stale},
		{"other rules with 203", "/robots.txt", 203, loose, judge.Stale},
		{"a challenge with 202", "/robots.txt", 202, "<!DOCTYPE html>\n<html>", judge.Stale},
		{"nothing with 202", "/robots.txt", 202, "", judge.Stale},
		{"no content", "/robots.txt", 204, "", judge.Stale},
		{"a login with 401", "/robots.txt", 401, "log in", judge.Stale},
		{"refused", "/robots.txt", 403, "", judge.Stale},
		{"no file", "/robots.txt", 404, "", judge.Stale},
		{"refused with 418", "/robots.txt", 418, "", judge.Stale},
		{"refused by law", "/robots.txt", 451, "", judge.Stale},
		{"the same file", "/robots.txt", 200, strict, judge.Disallowed},
		{"the same rules with 203", "/robots.txt", 203, strict, judge.Disallowed},
		{"the same rules with 203, after a long comment", "/robots.txt", 203, "# " + strings.Repeat("x", 2*maxPageStart) + "\n" + strict, judge.Disallowed},
		{"too many requests", "/robots.txt", 429, "", judge.Disallowed},
		{"a failure", "/robots.txt", 503, "", judge.Disallowed},
		{"a page at a spelling that no crawler requests", "/%72obots.txt", 200, "<!DOCTYPE html>\n<html>", judge.Disallowed},
		{"a page for a query", "/robots.txt?x", 200, "<!DOCTYPE html>\n<html>", judge.Disallowed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := settledSite(t)
				s.served(s.request("bingbot/2.0", tc.target), tc.status, tc.body)
				s.wants("after the response", "bingbot/2.0", tc.want)
			})
		})
	}
}

// TestRedirectToOurFile redirects crawlers to the file that the guard's own fetch finds by the same
// redirect. Such a redirect opens nothing.
func TestRedirectToOurFile(t *testing.T) {
	for to, want := range map[string]judge.Verdict{"/files/robots.txt": judge.Disallowed, "/other.txt": judge.Stale} {
		t.Run(to, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFairSite(t, strict)
				s.answer.RedirectTargets = []string{"/files/robots.txt"}
				s.asks("bingbot/2.0")
				time.Sleep(25 * time.Hour)
				s.wants("before the redirect", "bingbot/2.0", judge.Disallowed)
				next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
					w.Header().Set("Location", to)
					w.WriteHeader(http.StatusFound)
					return nil
				})
				if err := s.g.Serve(httptest.NewRecorder(), s.request("bingbot/2.0", "/robots.txt"), next); err != nil {
					t.Fatal(err)
				}
				s.wants("after the redirect", "bingbot/2.0", want)
			})
		})
	}
}
