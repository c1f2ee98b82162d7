package identity

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

const proxyAddress = "203.0.113.50"

// identifying returns an app that verifies Googlebot by a list, and what it warns
// of.
func identifying(t *testing.T) (*Checker, *observer.ObservedLogs) {
	t.Helper()
	list := filepath.Join(t.TempDir(), "googlebot.txt")
	if err := os.WriteFile(list, []byte("192.0.2.0/24"), 0o600); err != nil {
		t.Fatal(err)
	}
	core, logs := observer.New(zap.WarnLevel)
	registry := uaident.Default()
	checker := &Checker{Verifier: verify.New(verify.Options{}), Logger: zap.New(core)}
	if err := checker.Verifier.Configure(verify.Config{Crawlers: registry.Crawlers(), Lists: []verify.List{{CrawlerOrOperator: "Googlebot", File: list}}}); err != nil {
		t.Fatal(err)
	}
	return checker, logs
}

// behindProxy returns a request of a Googlebot by the proxy.
func behindProxy(clientIP, forwarded string, trusted bool) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = proxyAddress + ":4711"
	if forwarded != "" {
		r.Header.Set("X-Forwarded-For", forwarded)
	}
	ctx := context.WithValue(r.Context(), caddyhttp.ServerCtxKey, &caddyhttp.Server{ClientIPHeaders: []string{"X-Forwarded-For"}})
	return r.WithContext(context.WithValue(ctx, caddyhttp.VarsCtxKey, map[string]any{
		caddyhttp.TrustedProxyVarKey: trusted, caddyhttp.ClientIPVarKey: clientIP,
	}))
}

// TestProxyWarnings tells of each thing that is wrong with a proxy, once.
func TestProxyWarnings(t *testing.T) {
	checker, logs := identifying(t)
	for range 3 {
		for _, r := range []*http.Request{
			behindProxy(proxyAddress, "", true),                       // tells no address
			behindProxy("192.0.2.1", "192.0.2.1, 198.51.100.1", true), // passes on what clients invent
		} {
			checker.VerifyClient(r, uaident.Identify("Googlebot/2.1"))
		}
	}
	var told []string
	for _, entry := range logs.All() {
		told = append(told, entry.Message)
	}
	if len(told) != 2 || !strings.Contains(told[0], "does not send") || !strings.Contains(told[1], "can forge") {
		t.Errorf("told %q", told)
	}
}

// TestIdentifyByAddress accuses nobody by the address of a proxy, and verifies
// nobody by one that may be invented.
func TestIdentifyByAddress(t *testing.T) {
	const proxy = proxyAddress
	for _, test := range []struct {
		name, clientIP, forwarded string
		trusted                   bool
		want                      verify.State
		warned                    bool
	}{
		{"a client without a proxy", proxy, "", false, verify.Spoofed, false},
		{"the proxy tells the client's address", "192.0.2.1", "192.0.2.1", true, verify.Verified, false},
		{"that of an impostor", "198.51.100.1", "198.51.100.1", true, verify.Spoofed, false},
		{"the proxy tells none", proxy, "", true, verify.Unknown, true},
		{"one that a client may have invented", "192.0.2.1", "192.0.2.1, 198.51.100.1", true, verify.Unknown, true},
		{"one that is of no use to an impostor", "198.51.100.1", "198.51.100.1, 192.0.2.1", true, verify.Spoofed, false},
	} {
		checker, logs := identifying(t)
		r := behindProxy(test.clientIP, test.forwarded, test.trusted)
		for range 3 {
			if got, _ := checker.VerifyClient(r, uaident.Identify("Googlebot/2.1")); got != test.want {
				t.Errorf("%s: %s, want %s", test.name, got, test.want)
			}
		}
		if n := logs.Len(); (n == 1) != test.warned || n > 1 {
			t.Errorf("%s: %d warnings", test.name, n)
		}
	}
}

// TestFetched counts what Export has to say anew: not each failure, but that a list is in doubt.
func TestFetched(t *testing.T) {
	shared, failed := NewSharedState(), errors.New("failed")
	for _, read := range []struct {
		status verify.ListStatus
		want   uint64
	}{
		{verify.ListStatus{Err: failed}, 0},
		{verify.ListStatus{}, 1},
		{verify.ListStatus{Err: failed, ShrunkSince: time.Now()}, 2},
	} {
		if shared.recordListFetch(read.status); shared.FetchCount() != read.want {
			t.Errorf("%+v: %d, want %d", read.status, shared.FetchCount(), read.want)
		}
	}
}

// TestLogListOfAFile tells no time of a next attempt where there is none.
func TestLogListOfAFile(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	for _, err := range []error{nil, errors.New("failed")} {
		logListFetch(zap.New(core), verify.ListStatus{Source: "/etc/caddy/bots.json", Err: err})
		logListFetch(zap.New(core), verify.ListStatus{Source: "https://bots.example/", NextFetch: time.Now(), Err: err})
	}
	for _, entry := range logs.All() {
		fields := entry.ContextMap()
		if _, told := fields["next_attempt"]; told == (fields["list"] == "/etc/caddy/bots.json") {
			t.Errorf("%s: %v", entry.Message, fields)
		}
	}
}

// TestUndecidedSignature calls no client spoofed by its address while the operator's
// signature cannot be checked.
func TestUndecidedSignature(t *testing.T) {
	checker, _ := identifying(t)
	checker.Signatures.Store(new(botauth.Verifier))
	for _, test := range []struct {
		name string
		said botauth.Result
		want verify.State
	}{
		{"valid", botauth.Result{State: botauth.Valid, Reason: botauth.Verified, Operator: "Google"}, verify.Verified},
		{"the directory is being fetched", botauth.Result{State: botauth.Unknown, Reason: botauth.DirectoryPending, Operator: "Google"}, verify.Unknown},
		{"the directory cannot be fetched", botauth.Result{State: botauth.Unknown, Reason: botauth.DirectoryUnavailable, Operator: "Google"}, verify.Unknown},
		{"that of another operator", botauth.Result{State: botauth.Unknown, Reason: botauth.DirectoryPending, Operator: "Acme"}, verify.Spoofed},
		{"an unknown key", botauth.Result{State: botauth.Unknown, Reason: botauth.KeyUnknown, Operator: "Google"}, verify.Spoofed},
		{"a wrong signature", botauth.Result{State: botauth.Invalid, Reason: botauth.Mismatch, Operator: "Google"}, verify.Spoofed},
	} {
		r := behindProxy("198.51.100.1", "", false)
		r.Header.Set("Signature-Input", "sig1=()")
		caddyhttp.SetVar(r.Context(), signatureVar, test.said)
		if got, _ := checker.VerifyClient(r, uaident.Identify("Googlebot/2.1")); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
