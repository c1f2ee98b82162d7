package caddymodule

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

func TestMaybeInvented(t *testing.T) {
	usual := []string{"X-Forwarded-For"}
	for _, test := range []struct {
		name    string
		trusted bool
		strict  int
		headers []string
		header  http.Header
		want    bool
	}{
		{"no proxy", false, 0, usual, http.Header{"X-Forwarded-For": {"192.0.2.1, 203.0.113.9"}}, false},
		{"a proxy that says nothing", true, 0, usual, nil, false},
		{"one address", true, 0, usual, http.Header{"X-Forwarded-For": {"192.0.2.1"}}, false},
		{"with a port", true, 0, usual, http.Header{"X-Forwarded-For": {"192.0.2.1:1234"}}, false},
		{"the client's own was added", true, 0, usual, http.Header{"X-Forwarded-For": {"192.0.2.1, 203.0.113.9"}}, true},
		{"in a line of its own", true, 0, usual, http.Header{"X-Forwarded-For": {"192.0.2.1", "203.0.113.9"}}, true},
		{"with ports", true, 0, usual, http.Header{"X-Forwarded-For": {"192.0.2.1:1,203.0.113.9:2"}}, true},
		{"over IPv6", true, 0, usual, http.Header{"X-Forwarded-For": {"2001:db8:1::1, [2001:db8:2::9]:443"}}, true},
		{"something else was added", true, 0, usual, http.Header{"X-Forwarded-For": {"192.0.2.1, unknown"}}, true},
		{"it stands behind nonsense", true, 0, usual, http.Header{"X-Forwarded-For": {"?, 192.0.2.1, 203.0.113.9"}}, true},
		{"nonsense alone in front", true, 0, usual, http.Header{"X-Forwarded-For": {"?, , 192.0.2.1"}}, false},
		{"strict", true, 1, usual, http.Header{"X-Forwarded-For": {"192.0.2.1, 203.0.113.9"}}, false},
		{"a second proxy inside", true, 0, usual, http.Header{"X-Forwarded-For": {"192.0.2.1, 10.1.2.3, ::1, fd00::7"}}, false},
		{"the same again", true, 0, usual, http.Header{"X-Forwarded-For": {"192.0.2.1, ::ffff:192.0.2.1"}}, false},
		{"a header of the proxy's own", true, 0, []string{"Cf-Connecting-Ip", "X-Forwarded-For"},
			http.Header{"Cf-Connecting-Ip": {"192.0.2.1"}, "X-Forwarded-For": {"8.8.8.8, 192.0.2.1"}}, false},
		{"which it does not send", true, 0, []string{"Cf-Connecting-Ip", "X-Forwarded-For"},
			http.Header{"X-Forwarded-For": {"8.8.8.8, 192.0.2.1"}}, true},
	} {
		server := &caddyhttp.Server{TrustedProxiesStrict: test.strict, ClientIPHeaders: test.headers}
		r := request("Googlebot/2.1", "/")
		if test.header != nil {
			test.header.Set("User-Agent", "Googlebot/2.1")
			r.Header = test.header
		}
		ctx := context.WithValue(r.Context(), caddyhttp.ServerCtxKey, server)
		ctx = context.WithValue(ctx, caddyhttp.VarsCtxKey, map[string]any{caddyhttp.TrustedProxyVarKey: test.trusted})
		if got := maybeInvented(r.WithContext(ctx)); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
	}
}

const proxyAddress = "203.0.113.50"

// identifying returns an app that verifies Googlebot by a list, and what it warns
// of.
func identifying(t *testing.T) (*App, *observer.ObservedLogs) {
	t.Helper()
	list := filepath.Join(t.TempDir(), "googlebot.txt")
	if err := os.WriteFile(list, []byte("192.0.2.0/24"), 0o600); err != nil {
		t.Fatal(err)
	}
	core, logs := observer.New(zap.WarnLevel)
	app := &App{
		Verify: &Verify{Ranges: rangesConfigured, NoRDNS: true}, Crawlers: []Crawler{{Token: "Googlebot", Ranges: []Ranges{{File: list}}}},
		registry: uaident.Default(), logger: zap.New(core), warned: new(proxyWarnings), state: &state{verifier: verify.New(verify.Options{})},
	}
	if err := app.state.verifier.Configure(app.config()); err != nil {
		t.Fatal(err)
	}
	return app, logs
}

// behindProxy returns a request of a Googlebot by the proxy.
func behindProxy(clientIP, forwarded string, trusted bool) *http.Request {
	r := request("Googlebot/2.1", "/")
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
	app, logs := identifying(t)
	for range 3 {
		for _, r := range []*http.Request{
			behindProxy(proxyAddress, "", true),                       // tells no address
			behindProxy("192.0.2.1", "192.0.2.1, 198.51.100.1", true), // passes on what clients invent
		} {
			app.identify(r, uaident.Identify("Googlebot/2.1"))
		}
	}
	var told []string
	for _, entry := range logs.All() {
		told = append(told, entry.Message)
	}
	if len(told) != 2 || !strings.Contains(told[0], "does not tell") || !strings.Contains(told[1], "may invent") {
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
		want                      identity
		warned                    bool
	}{
		{"a client without a proxy", proxy, "", false, identitySpoofed, false},
		{"the proxy tells the client's address", "192.0.2.1", "192.0.2.1", true, identityVerified, false},
		{"that of a liar", "198.51.100.1", "198.51.100.1", true, identitySpoofed, false},
		{"the proxy tells none", proxy, "", true, identityUnknown, true},
		{"one that a client may have invented", "192.0.2.1", "192.0.2.1, 198.51.100.1", true, identityUnknown, true},
		{"one that is of no use to a liar", "198.51.100.1", "198.51.100.1, 192.0.2.1", true, identitySpoofed, false},
	} {
		app, logs := identifying(t)
		r := behindProxy(test.clientIP, test.forwarded, test.trusted)
		for range 3 {
			if got, _ := app.identify(r, uaident.Identify("Googlebot/2.1")); got != test.want {
				t.Errorf("%s: %s, want %s", test.name, got, test.want)
			}
		}
		if n := logs.Len(); (n == 1) != test.warned || n > 1 {
			t.Errorf("%s: %d warnings", test.name, n)
		}
	}
}
