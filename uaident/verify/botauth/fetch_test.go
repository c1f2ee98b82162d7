package botauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

var goodDirectory = directoryOf(jwkOf(testKey("bot"), nil))

// TestFetchedInTheBackground checks that the first request is Unknown and the next request is
// Verified.
func TestFetchedInTheBackground(t *testing.T) {
	release := make(chan struct{})
	f := newFixture(t, func(r *http.Request) (*http.Response, error) {
		if got := r.Method + " " + r.URL.String(); got != "GET https://bot.example/.well-known/http-message-signatures-directory" {
			t.Errorf("fetched %s", got)
		}
		if got := r.Header.Get("Accept"); got != directoryType {
			t.Errorf("Accept: %s", got)
		}
		if got := r.Header.Get("User-Agent"); got != "Guard/1" {
			t.Errorf("User-Agent: %s", got)
		}
		<-release
		return ok(goodDirectory)(r)
	}, func(o *Options) { o.UserAgent = "Guard/1" })
	r := newSigning().sign()
	for range 100 {
		expect(t, f.Check(r), DirectoryPending)
	}
	close(release)
	f.wg.Wait()
	got := f.Check(r)
	expect(t, got, Verified)
	if want := (Result{Valid, Verified, testAgent, testOperator, keyID(testKey("bot"))}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if n := f.origins.fetches.Load(); n != 1 {
		t.Errorf("%d fetches", n)
	}
}

// TestNoFetchFor lists signatures that cannot be valid, so that no fetch starts.
func TestNoFetchForInvalidSignature(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*signing)
		want   Reason
	}{
		{"an agent that is not allowed", func(s *signing) { s.request.Header.Set("Signature-Agent", `sig1="https://x.example"`) }, AgentNotAllowed},
		{"an expired signature", func(s *signing) { s.expires(start.Add(-time.Second)); s.created(start.Add(-time.Hour)) }, Expired},
		{"a missing parameter", func(s *signing) { s.param("keyid", "") }, MissingParameter},
		{"another algorithm", func(s *signing) { s.param("alg", `"rsa-pss-sha512"`) }, UnsupportedAlgorithm},
		{"no cover", func(s *signing) { s.components = s.components[1:] }, NotCovered},
		{"a covered field that is missing", func(s *signing) { s.cover(`"x-absent"`, "") }, ComponentAbsent},
		{"an unsupported component", func(s *signing) { s.cover(`"@status"`, "200") }, UnsupportedComponent},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, s := newFixture(t, ok(goodDirectory)), newSigning()
			test.change(&s)
			expect(t, f.Check(s.sign()), test.want)
			f.wg.Wait()
			if n := f.origins.fetches.Load(); n != 0 {
				t.Errorf("%d fetches", n)
			}
		})
	}
}

// TestDirectoryAnswers checks that only a valid response yields keys.
func TestDirectoryResponses(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer func(*http.Request) (*http.Response, error)
		want   Reason
		err    string
	}{
		{"a directory", ok(goodDirectory), Verified, ""},
		{"a parameter of the media type", ok(goodDirectory, "Content-Type", directoryType+"; charset=utf-8"), Verified, ""},
		{"another key", ok(directoryOf(jwkOf(testKey("other"), nil))), KeyUnknown, ""},
		{"the key under a stranger's thumbprint", ok(directoryOf(jwkOf(testKey("other"), map[string]any{"kid": keyID(testKey("bot"))}))), KeyUnknown, ""},
		{"JSON of another media type", status(200, goodDirectory, "Content-Type", "application/json"), DirectoryUnavailable, `media type "application/json"`},
		{"no media type", status(200, goodDirectory), DirectoryUnavailable, `media type ""`},
		{"a redirect", status(301, "", "Location", "https://bot.example/keys", "Content-Type", directoryType), DirectoryUnavailable, "status 301: redirects"},
		{"a redirect with a directory in it", status(307, goodDirectory, "Location", "/keys", "Content-Type", directoryType), DirectoryUnavailable, "status 307"},
		{"203", status(203, goodDirectory, "Content-Type", directoryType), DirectoryUnavailable, "status 203"},
		{"404", status(404, "", "Content-Type", "text/html"), DirectoryUnavailable, "status 404"},
		{"500", status(500, goodDirectory, "Content-Type", directoryType), DirectoryUnavailable, "status 500"},
		{"nonsense", ok("<html>"), DirectoryUnavailable, "not a JSON Web Key Set"},
		{"a huge response", ok(goodDirectory + strings.Repeat(" ", 8<<20)), DirectoryUnavailable, "larger than"},
		{"too many keys", ok(`{"keys":[` + strings.Repeat("{},", MaxKeys) + `{}]}`), DirectoryUnavailable, "more than 64 keys"},
		{"timeout", func(*http.Request) (*http.Response, error) { return nil, context.DeadlineExceeded }, DirectoryUnavailable, "no complete response within 10s"},
		{"connection error", func(*http.Request) (*http.Response, error) { return nil, errors.New("no such host") }, DirectoryUnavailable, "no such host"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var fetchErr error
			f := newFixture(t, test.answer, func(o *Options) { o.OnFetched = func(_ string, err error) { fetchErr = err } })
			r := newSigning().sign()
			expect(t, f.Check(r), DirectoryPending)
			f.wg.Wait()
			expect(t, f.Check(r), test.want)
			if test.err == "" && fetchErr != nil || test.err != "" && (fetchErr == nil || !strings.Contains(fetchErr.Error(), test.err) || !strings.Contains(fetchErr.Error(), testAgent)) {
				t.Errorf("Fetched was called with %v, want %q", fetchErr, test.err)
			}
			if state := f.Directories(); len(state) != 1 || state[0].Err != fetchErr || state[0].Agent != testAgent {
				t.Errorf("Directories returned %+v", state)
			}
			f.wg.Wait()
			if n := f.origins.fetches.Load(); n != 1 {
				t.Errorf("%d fetches", n)
			}
		})
	}
}

// TestInventedKeyIDs sends many invented keyids. The directory is fetched at most once in five
// minutes, and no keyid is stored.
func TestInventedKeyIDs(t *testing.T) {
	f := warm(t)
	const n = 100_000
	r := newSigning().sign()
	prefix, suffix, _ := strings.Cut(r.Header.Get("Signature-Input"), keyID(testKey("bot")))
	for i := range n {
		if i%(n/10) == 0 { // ten bursts, a minute apart
			f.wg.Wait()
			f.clock.add(time.Minute)
		}
		r.Header["Signature-Input"] = []string{prefix + strconv.Itoa(i) + suffix}
		if got := f.Check(r); got.Reason != KeyUnknown && got.Reason != DirectoryPending || got.KeyID != "" {
			t.Fatalf("got %+v", got)
		}
	}
	f.wg.Wait()
	// Ten minutes after the first fetch.
	if got := f.origins.fetches.Load(); got < 2 || got > 3 {
		t.Errorf("%d fetches", got)
	}
	if got := f.agents[testAgent].nonces.Len(); got != 0 {
		t.Errorf("%d nonces are stored", got)
	}
	expect(t, f.Check(newSigning().sign()), Verified)
}

// TestRotation checks that a new key is found as soon as a request is signed with it.
func TestRotation(t *testing.T) {
	f := warm(t)
	next := newSigning()
	next.key = testKey("next")
	next.param("keyid", fmt.Sprintf("%q", keyID(testKey("next"))))
	f.origins.answer = ok(directoryOf(jwkOf(testKey("bot"), nil), jwkOf(testKey("next"), nil)))
	expect(t, f.Check(next.sign()), KeyUnknown) // too soon after the last fetch
	f.clock.add(6 * time.Minute)
	expect(t, f.Check(next.sign()), DirectoryPending)
	f.wg.Wait()
	expect(t, f.Check(next.sign()), Verified)
	expect(t, f.Check(newSigning().sign()), Verified)
}

// TestKeysBelongToAgents checks that the key of one agent is not valid for another agent, even if
// both directories list it.
func TestKeysBelongToAgents(t *testing.T) {
	f := newFixture(t, func(r *http.Request) (*http.Response, error) {
		if r.URL.Host == "other.example" {
			return ok(directoryOf(jwkOf(testKey("other"), nil)))(r)
		}
		return ok(goodDirectory)(r)
	}, func(o *Options) { o.Agents["other.example"] = "Other" })
	for _, name := range []string{testAgent, "https://other.example"} {
		if err := f.Refresh(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	s := newSigning()
	s.key = testKey("other")
	s.param("keyid", fmt.Sprintf("%q", keyID(testKey("other"))))
	expect(t, f.Check(s.sign()), KeyUnknown)
	s.request.Header.Set("Signature-Agent", `sig1="https://other.example"`)
	expect(t, f.Check(s.sign()), Mismatch) // the agent is covered
	s.lines[1] = `"signature-agent";key="sig1": "https://other.example"`
	if got := f.Check(s.sign()); got.State != Valid || got.Operator != "Other" {
		t.Errorf("got %+v", got)
	}
}

func TestClose(t *testing.T) {
	started := make(chan struct{})
	f := newFixture(t, func(r *http.Request) (*http.Response, error) {
		close(started)
		<-r.Context().Done()
		return nil, r.Context().Err()
	}, func(o *Options) {
		o.OnFetched = func(_ string, err error) { t.Errorf("told %v after Close", err) }
	})
	r := newSigning().sign()
	expect(t, f.Check(r), DirectoryPending)
	<-started
	if err := f.Refresh(t.Context(), testAgent); err != ErrFetching {
		t.Errorf("error %v", err)
	}
	f.Close()
	f.Close()
	f.clock.add(time.Minute)
	expect(t, f.Check(f.signed(0)), DirectoryUnavailable)
	if err := f.Refresh(t.Context(), testAgent); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if n := f.origins.fetches.Load(); n != 1 {
		t.Errorf("%d fetches", n)
	}
}

// TestFetchesAtOnce checks the maximum number of concurrent fetches.
func TestFetchesAtOnce(t *testing.T) {
	var running, most atomic.Int64
	release := make(chan struct{})
	f := newFixture(t, func(r *http.Request) (*http.Response, error) {
		n := running.Add(1)
		defer running.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		<-release
		return ok(goodDirectory)(r)
	}, func(o *Options) {
		for i := range 50 {
			o.Agents[fmt.Sprintf("a%d.example", i)] = "Example"
		}
	})
	for i := range 50 {
		s := newSigning()
		s.request.Header.Set("Signature-Agent", fmt.Sprintf(`sig1="https://a%d.example"`, i))
		expect(t, f.Check(s.sign()), DirectoryPending)
	}
	for deadline := time.Now().Add(time.Minute); running.Load() < maxFetches && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(10 * time.Millisecond) // time for one more fetch to start
	close(release)
	f.wg.Wait()
	if n := f.origins.fetches.Load(); n != 50 || most.Load() != maxFetches {
		t.Errorf("%d fetches, %d at once", n, most.Load())
	}
}
