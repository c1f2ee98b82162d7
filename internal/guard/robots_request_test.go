package guard

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// changingSite is a site with a guard. The test changes its robots.txt.
type changingSite struct {
	t     *testing.T
	g     *Guard
	text  string
	entry *policy.Entry
}

func newChangingSite(t *testing.T, h options, text string) *changingSite {
	s := &changingSite{t: t, text: text}
	s.g = testGuard(t, h, &scriptedSource{answer: func(context.Context) policy.FetchResult {
		return policy.FetchResult{Status: http.StatusOK, Body: []byte(s.text)}
	}})
	key := keyFor(requestBy("bingbot/2.0", "/"))
	s.entry = s.g.state.Cache.GetOrCreate(key, policy.UnknownHosts)
	s.reread()
	return s
}

// reread makes the guard fetch the current file.
func (s *changingSite) reread() {
	s.t.Helper()
	always := policy.FreshnessPolicy{Default: -1, Min: -1, Max: -1} // due again at once
	readAs(s.entry, always, func() policy.FetchResult {
		return policy.FetchResult{Status: http.StatusOK, Body: []byte(s.text), Header: http.Header{"Etag": {fmt.Sprintf("%q", s.text[:12])}}}
	})
}

// hold stops the refetching. The next requests are evaluated with the cached copy.
func (s *changingSite) hold() {
	s.t.Helper()
	readAs(s.entry, policy.FreshnessPolicy{Default: time.Hour, Max: time.Hour}, func() policy.FetchResult {
		return policy.FetchResult{Status: http.StatusOK, Body: []byte(s.text)}
	})
}

// from sets the client address of a request.
func from(r *http.Request, address string) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), caddyhttp.VarsCtxKey, map[string]any{caddyhttp.ClientIPVarKey: address}))
}

// reads makes a crawler fetch robots.txt through the guard.
func (s *changingSite) reads(r *http.Request, text string) *httptest.ResponseRecorder {
	s.t.Helper()
	w := httptest.NewRecorder()
	next := caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err := s.g.Serve(w, r, next); err != nil {
		s.t.Fatal(err)
	}
	return w
}

const (
	loose  = "User-agent: *\nDisallow: /private/\n"
	strict = "User-agent: *\nDisallow: /\n"
)

func TestACrawlerMayFollowTheCopyItHolds(t *testing.T) {
	bing := func(target string) *http.Request { return from(requestBy("bingbot/2.0", target), "192.0.2.1") }
	for _, tc := range []struct {
		name    string
		handler options
		reads   *http.Request // the request that fetches the new file through the guard
		asks    *http.Request
		verdict judge.Verdict
		action  judge.Action
	}{
		{"nobody has read the new text", options{Enforce: true}, nil, bing("/x"), judge.Stale, judge.NoAction},
		{"forbidden before and after", options{Enforce: true}, nil, bing("/private/x"), judge.Disallowed, judge.Blocked},
		{"the crawler has read it", options{Enforce: true}, bing("/robots.txt"), bing("/x"), judge.Stale, judge.NoAction},
		{"somebody of that name has read it elsewhere", options{Enforce: true}, from(requestBy("bingbot/2.0", "/robots.txt"), "198.51.100.1"), bing("/x"), judge.Stale, judge.NoAction},
		{"another crawler has read it", options{Enforce: true}, from(requestBy("Googlebot/2.1", "/robots.txt"), "192.0.2.1"), bing("/x"), judge.Stale, judge.NoAction},
		{"no grace", options{Enforce: true, Grace: -1}, nil, bing("/x"), judge.Disallowed, judge.Blocked},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newChangingSite(t, tc.handler, loose)
			s.text = strict
			s.reread()
			s.hold()
			if tc.reads != nil {
				s.reads(tc.reads, strict)
			}
			j := s.g.Judge(tc.asks)
			if j.Verdict != tc.verdict || j.Action != tc.action {
				t.Errorf("%s, %s; want %s, %s", j.Verdict, j.Action, tc.verdict, tc.action)
			}
			if j.RobotsVerdict.Rule.Line == 0 {
				t.Error("the verdict does not say by which rule")
			}
		})
	}
}

func TestWhatAViolatorHasRead(t *testing.T) {
	s := newChangingSite(t, options{Enforce: true, Grace: -1}, loose)
	s.g.state.Ledger = ledger.New(time.Now)
	judge := func(userAgent, label string) (*http.Request, *Judgement) {
		r := from(requestBy(userAgent, "/private/x"), "192.0.2.1")
		j := s.g.Judge(r)
		named := *j.Site
		named.Label, j.Site = label, &named
		return r, j
	}
	check := func(when, userAgent, label, want string) {
		t.Helper()
		r, j := judge(userAgent, label)
		s.g.recordInLedger(r, j)
		what, at := s.g.describeLastRobotsFetch(r, j)
		if what != want || at.IsZero() != (want == "never" || want == "") {
			t.Errorf("%s: %q at %v, want %q", when, what, at, want)
		}
	}
	fetch := func() {
		r, j := judge("bingbot/2.0", "example.com")
		s.g.recordRobotsFetch(r, j, ledger.RobotsFetch{At: time.Now().UnixMilli(), Status: http.StatusOK, Version: j.Version.Hash})
	}
	s.hold()
	check("before any fetch", "bingbot/2.0", "example.com", "never")
	fetch()
	check("after a fetch", "bingbot/2.0", "example.com", "current")
	s.text = strict
	s.reread()
	s.hold()
	check("after a change", "bingbot/2.0", "example.com", "old")
	fetch()
	check("after another fetch", "bingbot/2.0", "example.com", "current")
	check("a client that shares a row", "InventedBot/1.0", "example.com", "")
	check("an unknown host", "bingbot/2.0", ledger.Other, "")
}

func TestHeadIsNoReading(t *testing.T) {
	s := newChangingSite(t, options{Enforce: true}, loose)
	s.text = strict
	s.reread()
	s.hold()
	head := from(requestBy("bingbot/2.0", "/robots.txt"), "192.0.2.1")
	head.Method = http.MethodHead
	s.reads(head, "")
	if j := s.g.Judge(from(requestBy("bingbot/2.0", "/x"), "192.0.2.1")); j.Verdict != judge.Stale {
		t.Errorf("%s after a HEAD, want stale", j.Verdict)
	}
}

func TestAnAnswerThatDiffersMakesTheCopyDue(t *testing.T) {
	s := newChangingSite(t, options{Enforce: true}, strict)
	s.hold()
	// The owner loosens the file. A crawler fetches it before the guard does, and the
	// guard's fetch hangs.
	s.g.Source = &scriptedSource{answer: func(ctx context.Context) policy.FetchResult {
		<-ctx.Done()
		return policy.FetchResult{Err: ctx.Err()}
	}}
	s.entry.State().Current.LastFetched = time.Now().Add(-time.Minute)
	w := s.reads(requestBy("bingbot/2.0", "/robots.txt"), loose)
	if w.Body.String() != loose {
		t.Errorf("the crawler got %q", w.Body)
	}
	if !s.entry.IsPossiblyChanged() || !s.entry.IsDue(time.Now()) {
		t.Fatal("the copy is not due")
	}
	if j := s.g.Judge(requestBy("bingbot/2.0", "/x")); j.Verdict != judge.Stale || j.Action != judge.NoAction {
		t.Errorf("%s, %s while the new copy is being read; want stale and none", j.Verdict, j.Action)
	}
	if j := s.g.Judge(requestBy("GPTBot/1.2", "/x")); j.Verdict != judge.Disallowed || j.Action != judge.Blocked {
		t.Errorf("%s, %s for one that has read nothing; want disallowed and blocked", j.Verdict, j.Action)
	}
}

func TestABrowserShowsASuspectCopyToo(t *testing.T) {
	s := newChangingSite(t, options{}, strict)
	s.hold()
	s.entry.State().Current.LastFetched = time.Now().Add(-time.Minute)
	s.reads(requestBy(uaFirefox, "/robots.txt"), loose)
	if !s.entry.IsPossiblyChanged() {
		t.Error("the copy is not suspect")
	}
}

func TestDiffers(t *testing.T) {
	good := func(status int) *policy.State {
		return &policy.State{Current: &policy.Version{Status: status, Hash: sha256.Sum256([]byte("text")), Robots: policy.Parse([]byte(strict)), ETag: `"1"`, LastModified: "Monday"}}
	}
	redirected := func(via ...string) *policy.State {
		s := good(200)
		s.RedirectTargets = via
		return s
	}
	own := policy.Key{Host: "example.com"}
	hash := func(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }
	for _, tc := range []struct {
		name     string
		response robotsResponse
		known    *policy.State
		want     bool
	}{
		{"nothing is known", robotsResponse{status: 200, hash: hash("x")}, nil, false},
		{"the same text", robotsResponse{status: 200, hash: hash("text"), etag: `"2"`}, good(200), false},
		{"another text", robotsResponse{status: 200, hash: hash("x"), text: []byte(loose), etag: `"1"`}, good(200), true},
		{"another comment", robotsResponse{status: 200, hash: hash("x"), text: []byte("# new\n" + strict)}, good(200), false},
		{"a coding that was not unpacked has validators of its own", robotsResponse{status: 200, isEncoded: true, etag: `"2"`, lastModified: "Tuesday"}, good(200), false},
		{"the same entity tag", robotsResponse{status: 200, etag: `W/"1"`}, good(200), false},
		{"another entity tag", robotsResponse{status: 200, etag: `"2"`}, good(200), true},
		{"another date", robotsResponse{status: 200, lastModified: "Tuesday"}, good(200), true},
		{"nothing to tell by", robotsResponse{status: 200}, good(200), false},
		{"not modified", robotsResponse{status: 304, etag: `"1"`}, good(200), false},
		{"not modified since something newer", robotsResponse{status: 304, etag: `"2"`}, good(200), true},
		{"gone", robotsResponse{status: 404}, good(200), true},
		{"still not there", robotsResponse{status: 404}, good(404), false},
		{"there now", robotsResponse{status: 200, hash: hash("")}, good(404), true},
		{"a failure says nothing", robotsResponse{status: 503}, good(200), false},
		{"redirected", robotsResponse{status: 302, location: "/r.txt"}, good(200), true},
		{"redirected as before", robotsResponse{status: 302, location: "http://EXAMPLE.com:80/r.txt"}, redirected("/r.txt", "/s.txt"), false},
		{"redirected elsewhere as before", robotsResponse{status: 302, location: "//other.test/r.txt"}, redirected("http://other.test/r.txt"), false},
		{"redirected to another place", robotsResponse{status: 302, location: "/new.txt"}, redirected("/r.txt"), true},
		{"nor does 429", robotsResponse{status: 429}, good(200), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.response.differsFromCopy(tc.known, &own); got != tc.want {
				t.Errorf("differs = %t, want %t", got, tc.want)
			}
		})
	}
}

// discard is a client that discards the response. (An httptest.ResponseRecorder treats
// early hints as the response.)
type discard http.Header

func (d discard) Header() http.Header         { return http.Header(d) }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

func TestRobotsRecorder(t *testing.T) {
	long := strings.Repeat("a", 3*policy.MaxSize)
	for _, tc := range []struct {
		name   string
		method string
		handle func(http.ResponseWriter) error
		status int
		text   string // "" if the guard does not see it
	}{
		{"an implicit status", http.MethodGet, func(w http.ResponseWriter) error { _, err := io.WriteString(w, "text"); return err }, 200, "text"},
		{"through ReadFrom", http.MethodGet, func(w http.ResponseWriter) error { _, err := io.Copy(w, strings.NewReader("text")); return err }, 200, "text"},
		{"after early hints", http.MethodGet, func(w http.ResponseWriter) error {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusOK)
			_, err := io.WriteString(w, "text")
			return err
		}, 200, "text"},
		{"compressed", http.MethodGet, func(w http.ResponseWriter) error {
			w.Header().Set("Content-Encoding", "gzip")
			_, err := io.WriteString(w, "text")
			return err
		}, 200, ""},
		{"more than is parsed", http.MethodGet, func(w http.ResponseWriter) error { _, err := io.WriteString(w, long); return err }, 200, long[:policy.MaxSize+1]},
		{"HEAD", http.MethodHead, func(w http.ResponseWriter) error { w.WriteHeader(http.StatusOK); return nil }, 200, ""},
		{"an error for the error routes", http.MethodGet, func(http.ResponseWriter) error { return caddyhttp.Error(403, io.EOF) }, 403, ""},
		{"another error", http.MethodGet, func(http.ResponseWriter) error { return io.EOF }, 500, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newRobotsRecorder(discard{}, tc.method)
			got := w.buildResponse(tc.handle(w))
			var want [sha256.Size]byte
			if tc.text != "" {
				want = sha256.Sum256([]byte(tc.text))
			}
			if got.status != tc.status || got.hash != want {
				t.Errorf("status %d, hash %x; want %d, %x", got.status, got.hash, tc.status, want)
			}
		})
	}
}

// brokenConnection is a client that has closed its connection.
type brokenConnection struct{ discard }

func (brokenConnection) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestAbortedRobotsFetch checks that a client cannot make the requests under its name stale by
// aborting its requests for /robots.txt.
func TestAbortedRobotsFetch(t *testing.T) {
	for _, tc := range []struct {
		name     string
		client   http.ResponseWriter
		encoding string
		status   int
		want     judge.Verdict
	}{
		{"aborted", brokenConnection{discard{}}, "", 200, judge.Disallowed},
		{"aborted before a proxy got a response", discard{}, "", 499, judge.Disallowed},
		{"with a body that is not gzip", discard{}, "gzip", 200, judge.Stale},
		{"not found", discard{}, "", 404, judge.Stale},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newChangingSite(t, options{Enforce: true}, "User-agent: *\nDisallow: /\n")
			s.hold()
			_ = s.g.Serve(tc.client, served(http.MethodGet, "GPTBot/1.3", "/robots.txt"), caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
				w.Header().Set("Content-Length", strconv.Itoa(len(s.text)))
				if tc.encoding != "" {
					w.Header().Set("Content-Encoding", tc.encoding)
				}
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, s.text)
				return nil
			}))
			if j := s.g.Judge(served(http.MethodGet, "GPTBot/1.3", "/a")); j.Verdict != tc.want {
				t.Errorf("verdict %s, want %s", j.Verdict, tc.want)
			}
		})
	}
}

// TestRecoveryWithoutCopy checks that the guard fetches a robots.txt early if its first fetch failed
// and the site then serves the file to a crawler.
func TestRecoveryWithoutCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := policy.FetchResult{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"3600"}}}
		s := &changingSite{t: t}
		s.g = testGuard(t, options{Enforce: true}, &scriptedSource{answer: func(context.Context) policy.FetchResult { return answer }})
		if j := s.g.Judge(served(http.MethodGet, "GPTBot/1.3", "/a")); j.Verdict != judge.Unknown {
			t.Fatalf("without a copy: verdict %s", j.Verdict)
		}
		answer = policy.FetchResult{Status: http.StatusOK, Body: []byte(strict)}
		time.Sleep(time.Minute)
		s.reads(served(http.MethodGet, "GPTBot/1.3", "/robots.txt"), strict)
		synctest.Wait()
		if j := s.g.Judge(served(http.MethodGet, "GPTBot/1.3", "/a")); j.Verdict != judge.Disallowed {
			t.Errorf("after the recovery: verdict %s, want disallowed", j.Verdict)
		}
	})
}
