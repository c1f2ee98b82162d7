package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestTrouble(t *testing.T) {
	freshness := policy.FreshnessPolicy{Default: 10 * time.Minute, Max: policy.MaxAge}
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	for _, tc := range []struct {
		answer policy.FetchResult
		want   string
	}{
		{policy.FetchResult{Status: 200}, ""},
		{policy.FetchResult{Status: 404}, ""},
		{policy.FetchResult{Status: 503}, "the server answers status 503 Service Unavailable"},
		{policy.FetchResult{Status: 599}, "the server answers status 599"},
		{policy.FetchResult{Status: 429}, "the server limits the rate of requests (status 429)"},
		{policy.FetchResult{Err: fmt.Errorf("reading x: %w", refused)}, "connection refused: nothing listens at that address (reading x: dial tcp: connection refused)"},
		{policy.FetchResult{Status: 502, Err: errors.New("dial tcp 192.0.2.1:80: connect: connection refused")},
			"connection refused: nothing listens at that address (status 502 Bad Gateway, dial tcp 192.0.2.1:80: connect: connection refused)"},
		{policy.FetchResult{Err: &net.DNSError{Err: "no such host", Name: "x.invalid"}}, "DNS: the name does not resolve (lookup x.invalid: no such host)"},
		{policy.FetchResult{Err: errors.New("tls: internal error")}, "TLS: the handshake fails (tls: internal error)"},
		{policy.FetchResult{Err: context.DeadlineExceeded}, "time-out: no answer in time (context deadline exceeded)"},
		{policy.FetchResult{Err: errors.New("malformed HTTP response \"SSH\"")}, "not HTTP: another service listens at that address (malformed HTTP response \"SSH\")"},
		{policy.FetchResult{Err: io.ErrUnexpectedEOF}, "the connection broke off (unexpected EOF)"},
		{policy.FetchResult{Err: errors.New("source file: permission denied")}, "source file: permission denied"},
	} {
		s := policy.State{}.AfterFetch(tc.answer, now, freshness, 0)
		if got := DescribeFetchProblem(&s); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.answer, got, tc.want)
		}
		if h := new(Source).robotsHealth(SiteState{State: &s}); h.Error != tc.want {
			t.Errorf("in reports: %q", h.Error)
		}
	}
	long := policy.State{}.AfterFetch(policy.FetchResult{Err: errors.New(strings.Repeat("x", 1<<20))}, now, freshness, 0)
	if n := len(DescribeFetchProblem(&long)); n > maxErrorBytes {
		t.Errorf("an error takes %d bytes", n)
	}
	if got := DescribeFetchProblem(nil); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}
