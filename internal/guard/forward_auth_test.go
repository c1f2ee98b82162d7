package guard

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// hostSource responds differently for each key.
type hostSource struct {
	reads atomic.Int32
	text  func(key policy.Key) string
}

func (s *hostSource) Prepare(_ *http.Request, key policy.Key) (site.FetchFunc, bool) {
	return func(context.Context, *policy.Version) policy.FetchResult {
		s.reads.Add(1)
		return policy.FetchResult{Status: http.StatusOK, Body: []byte(s.text(key))}
	}, true
}

// decider returns a guard that decides for proxies about a.test, with a source for each
// host.
func decider(t *testing.T, text func(key policy.Key) string) (*Guard, *hostSource) {
	t.Helper()
	s := &hostSource{text: text}
	g := testGuard(t, options{Enforce: true, SourceKey: "https://{host}/robots.txt"}, s)
	g.ForwardAuth = site.NewHosts(nil)
	g.ForwardAuth.AddNames(caddyhttp.MatchHost{"a.test"})
	g.RespondRefused = func(w http.ResponseWriter, _ *http.Request, _ *Judgement, next caddyhttp.Handler) error {
		if next != nil {
			t.Error("a page could be served")
		}
		w.WriteHeader(http.StatusForbidden)
		return nil
	}
	return g, s
}

// asks sends a decision request of a trusted proxy for a URL and returns the response.
func asks(g *Guard, userAgent, url string) *httptest.ResponseRecorder {
	return asksWith(g, http.Header{"User-Agent": {userAgent}}, url)
}

// asksWith is like asks with the given header fields of the client's request.
func asksWith(g *Guard, fields http.Header, url string) *httptest.ResponseRecorder {
	host, target, _ := strings.Cut(strings.TrimPrefix(url, "https://"), "/")
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:9180/", nil)
	r.Header = http.Header{"X-Forwarded-Method": {"GET"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {host}, "X-Forwarded-Uri": {"/" + target}}
	maps.Copy(r.Header, fields)
	vars := map[string]any{caddyhttp.TrustedProxyVarKey: true, caddyhttp.ClientIPVarKey: "192.0.2.7"}
	rec := httptest.NewRecorder()
	_ = g.Serve(rec, r.WithContext(context.WithValue(r.Context(), caddyhttp.VarsCtxKey, vars)), nil)
	return rec
}

// TestDecideForAMadeUpHost sends a forged host to which the proxy's default site
// responds. The guard uses the robots.txt of a configured host, and fetches none for
// the forged host.
func TestDecideForAMadeUpHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := decider(t, func(key policy.Key) string {
			if key.Source != "https://a.test/robots.txt" {
				t.Errorf("%s is read", key)
				return ""
			}
			return "User-agent: *\nDisallow: /private/\n"
		})
		g.DefaultHost = "a.test"
		for _, host := range []string{"nonexistent.invalid", "203.0.113.5", "the-bots-own.test", "x_y", "a.test.", "b.test:8443"} {
			if got := asks(g, "GPTBot/1.2", "https://"+host+"/private/x"); got.Code != http.StatusForbidden {
				t.Errorf("%s: %d %v", host, got.Code, got.Header())
			}
			if got := asks(g, "GPTBot/1.2", "https://"+host+"/x"); got.Code != http.StatusOK {
				t.Errorf("%s: %d for what is allowed", host, got.Code)
			}
		}
	})
}

// TestDecideByHost tests two hosts behind one proxy with different files.
func TestDecideByHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := decider(t, func(key policy.Key) string {
			return "User-agent: *\nDisallow: /" + strings.Split(key.Source, "/")[2][:1] + "/\n"
		})
		for url, want := range map[string]int{
			"https://a.test/a/": 403, "https://a.test/b/": 200, "https://b.test/b/": 403, "https://b.test/a/": 200,
			"https://A.Test./a/": 403, "https://a.test:8443/a/": 403, "https://a.test//a/": 403, "https://a.test/%61/": 403,
		} {
			if got := asks(g, "bingbot", url); got.Code != want || got.Header().Get("X-Robots-Guard-Crawler") != "bingbot" || got.Body.Len() != 0 {
				t.Errorf("%s: %d %v", url, got.Code, got.Header())
			}
		}
		if got := asks(g, "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "https://a.test/a/"); got.Code != 200 || got.Header().Get("X-Robots-Guard-Verdict") != "" {
			t.Errorf("a browser: %d %v", got.Code, got.Header())
		}
		named, unnamed := g.state.Cache.Stats(policy.ConfiguredHosts).Entries, g.state.Cache.Stats(policy.UnknownHosts).Entries
		if named != 1 || unnamed != 1 {
			t.Errorf("%d texts of named hosts, %d of others", named, unnamed)
		}
	})
}

// TestDecideForObedientCrawlers changes a robots.txt in both directions. A crawler that
// obeys the file of its last fetch is not blocked.
func TestDecideForObedientCrawlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := "User-agent: *\nDisallow: /old/\n"
		g, s := decider(t, func(policy.Key) string { return text })
		expect := func(when, path string, want int, verdict string) {
			t.Helper()
			if got := asks(g, "bingbot", "https://a.test"+path); got.Code != want || got.Header().Get("X-Robots-Guard-Verdict") != verdict {
				t.Errorf("%s: %s is %d, %s", when, path, got.Code, got.Header().Get("X-Robots-Guard-Verdict"))
			}
		}
		read := func() { expect("at any time", "/robots.txt", 200, "allowed") }
		read()
		expect("at first", "/old/", 403, "disallowed")
		expect("at first", "/new/", 200, "allowed")

		time.Sleep(5 * time.Second)
		text = "User-agent: *\nDisallow: /new/\n"
		read() // the guard fetches as well, before it lets the crawler pass
		expect("after it has read what allows it", "/old/", 200, "allowed")
		expect("while it may have been answered the text before", "/new/", 200, "stale")
		time.Sleep(25 * time.Hour)
		expect("after a day", "/new/", 403, "disallowed")

		reads := s.reads.Load()
		for range 20 {
			read()
			expect("though it was read before each page", "/new/", 403, "disallowed")
		}
		if n := s.reads.Load() - reads; n > 20 {
			t.Errorf("a crawler that reads the robots.txt 20 times has it read %d times", n)
		}
	})
}

// TestDecideWithSlowSource checks that a crawler cannot pass by fetching robots.txt before
// each page while the source is slow.
func TestDecideWithSlowSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := decider(t, func(policy.Key) string { time.Sleep(time.Second); return "User-agent: *\nDisallow: /x/\n" })
		passed := 0
		for range 1000 {
			asks(g, "bingbot", "https://a.test/robots.txt")
			if asks(g, "bingbot", "https://a.test/x/").Code == 200 {
				passed++
			}
			time.Sleep(100 * time.Millisecond)
		}
		if passed > 50 {
			t.Errorf("%d of 1000 pages", passed)
		}
		time.Sleep(time.Minute)
	})
}

// TestDecideAhead tests a slow source while a crawler fetches a new file.
func TestDecideAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text, slow := "User-agent: *\nDisallow: /x/\n", time.Duration(0)
		g, _ := decider(t, func(policy.Key) string { time.Sleep(slow); return text })
		asks(g, "bingbot", "https://a.test/robots.txt")
		if got := asks(g, "bingbot", "https://a.test/x/"); got.Code != 403 {
			t.Fatalf("at first: %d", got.Code)
		}
		time.Sleep(2 * time.Minute)
		slow, text = 3*time.Second, "User-agent: *\nDisallow:\n"
		began := time.Now()
		asks(g, "bingbot", "https://a.test/robots.txt")
		if waited := time.Since(began); waited != g.FetchWait {
			t.Errorf("the crawler waits %s", waited)
		}
		if got := asks(g, "GPTBot", "https://a.test/x/"); got.Code != 403 {
			t.Errorf("while ours is older: %d", got.Code)
		}
		time.Sleep(4 * time.Second)
		if got := asks(g, "GPTBot", "https://a.test/x/"); got.Code != 200 {
			t.Errorf("once it is read: %d", got.Code)
		}
		time.Sleep(time.Minute)
	})
}

// TestDecideAboutOurOwn checks that the guard's own fetch through the proxy passes at
// once.
func TestDecideAboutOurOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g *Guard
		g, _ = decider(t, func(policy.Key) string {
			began := time.Now()
			if got := asks(g, site.GuardUserAgent, "https://a.test/robots.txt"); got.Code != 200 || time.Since(began) > 0 {
				t.Errorf("%d after %s", got.Code, time.Since(began))
			}
			return "User-agent: *\nDisallow: /\n"
		})
		if got := asks(g, "bingbot", "https://a.test/x"); got.Code != 403 {
			t.Errorf("got %d", got.Code)
		}
	})
}

// TestUndecided checks that an invalid decision request gets an error and never passes.
func TestUndecided(t *testing.T) {
	g, s := decider(t, func(policy.Key) string { return "" })
	untrusted := httptest.NewRequest(http.MethodGet, "/", nil)
	untrusted.Header = http.Header{"User-Agent": {"bingbot"}, "X-Forwarded-Method": {"GET"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"a.test"}, "X-Forwarded-Uri": {"/"}}
	rec := httptest.NewRecorder()
	if err := g.Serve(rec, untrusted, nil); err != nil || rec.Code != 500 || rec.Header().Get("X-Robots-Guard-Undecided") != "untrusted" || strings.Contains(rec.Body.String(), "a.test") {
		t.Errorf("untrusted: %v %d %v %s", err, rec.Code, rec.Header(), rec.Body)
	}
	if rec := asks(g, "bingbot", "https://a.test/x#y"); rec.Code != 400 || rec.Header().Get("X-Robots-Guard-Undecided") != "malformed" {
		t.Errorf("malformed: %d %v", rec.Code, rec.Header())
	}
	if n := s.reads.Load(); n != 0 {
		t.Errorf("%d robots.txt were read for that", n)
	}
}

// TestAnswerFields checks that each placeholder has a header field, none of which is
// X-Robots-Tag.
func TestAnswerFields(t *testing.T) {
	seen := make(map[string]bool)
	for name, field := range answerFields {
		if !strings.HasPrefix(field, answerPrefix) || seen[field] || strings.ContainsAny(field, "._") {
			t.Errorf("%s is told as %s", name, field)
		}
		seen[field] = true
	}
	if answerFields["preference.train_ai"] != "X-Robots-Guard-Preference-Train-Ai" {
		t.Error(answerFields)
	}
}
