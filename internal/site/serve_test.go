package site

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// serveOnce makes a handler respond to a virtual request for /robots.txt.
func serveOnce(ctx context.Context, handler http.HandlerFunc) policy.FetchResult {
	pattern := virtualOf(httptest.NewRequest(http.MethodGet, "http://a.test/x", nil))
	return NewServerSource(false).serveGuardRequest(ctx, handler, pattern, newAuthority(pattern).urlOfPath("/robots.txt"), nil)
}

// TestServeRecovers checks that a panic matters only before enough of the body was read.
func TestServeRecovers(t *testing.T) {
	tooMuch := make([]byte, policy.MaxSize+2)
	for _, tc := range []struct {
		name    string
		handler http.HandlerFunc
		want    policy.AccessResult
		body    int
	}{
		{"panic after enough", func(w http.ResponseWriter, _ *http.Request) {
			_, err := w.Write(tooMuch)
			panic(err)
		}, policy.Successful, policy.MaxSize + 1},
		{"panic before", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(tooMuch[:policy.MaxSize])
			panic(http.ErrAbortHandler)
		}, policy.Unreachable, 0},
		{"panic with something odd", func(http.ResponseWriter, *http.Request) { panic([]int{1}) }, policy.Unreachable, 0},
		{"impossible status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(0) }, policy.Unreachable, 0},
		{"499 without our doing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(499) }, policy.Unreachable, 0},
		{"100 bytes short of a 404", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(http.StatusNotFound)
		}, policy.Unavailable, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			answer := serveOnce(t.Context(), tc.handler)
			if answer.AccessResult() != tc.want || len(answer.Body) != tc.body {
				t.Errorf("got %v, status %d, error %v, %d bytes", answer.AccessResult(), answer.Status, answer.Err, len(answer.Body))
			}
		})
	}
}

// TestServeDoesNotWaitForTheRest checks that serve does not wait for the end of a long body. The
// handler ignores both the error of Write and the cancellation.
func TestServeDoesNotWaitForTheRest(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	cancelled := make(chan struct{})
	answer := serveOnce(t.Context(), func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(make([]byte, policy.MaxSize+1))
		<-r.Context().Done()
		close(cancelled)
		<-release
	})
	if answer.AccessResult() != policy.Successful || len(answer.Body) != policy.MaxSize+1 {
		t.Errorf("got %v, %d bytes, error %v", answer.AccessResult(), len(answer.Body), answer.Err)
	}
	<-cancelled
}

// TestServeBoundsAbandoned checks that serve abandons handlers that never return, up to a maximum
// number.
func TestServeBoundsAbandoned(t *testing.T) {
	release := make(chan struct{})
	s := NewServerSource(false)
	pattern := virtualOf(httptest.NewRequest(http.MethodGet, "http://a.test/x", nil))
	u := newAuthority(pattern).urlOfPath("/robots.txt")
	deaf := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release })
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrFetchTimeout)
	for range maxRunningRequests {
		if answer := s.serveGuardRequest(ctx, deaf, pattern, u, nil); answer.Err != ErrFetchTimeout {
			t.Fatal(answer.Err)
		}
	}
	if answer := s.serveGuardRequest(t.Context(), deaf, pattern, u, nil); answer.Err == nil || !strings.Contains(answer.Err.Error(), "still hang") {
		t.Fatalf("got %v", answer.Err)
	}
	close(release)
	for s.runningRequests.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
	if answer := s.serveGuardRequest(t.Context(), deaf, pattern, u, nil); answer.Err != nil {
		t.Error(answer.Err)
	}
}
