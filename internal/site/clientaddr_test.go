package site

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
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
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if test.header != nil {
			test.header.Set("User-Agent", "Googlebot/2.1")
			r.Header = test.header
		}
		ctx := context.WithValue(r.Context(), caddyhttp.ServerCtxKey, server)
		ctx = context.WithValue(ctx, caddyhttp.VarsCtxKey, map[string]any{caddyhttp.TrustedProxyVarKey: test.trusted})
		if got := AddrMayBeForged(r.WithContext(ctx)); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "https://a.test/", nil)
	if AddrMayBeForged(r) {
		t.Error("over TLS")
	}
	if r.TLS.HandshakeComplete = false; !AddrMayBeForged(r) {
		t.Error("in early data nobody knows whether a packet has ever come from there")
	}
	r.TLS.HandshakeComplete = true
	if r.Header.Set("Early-Data", "1"); !AddrMayBeForged(r) {
		t.Error("nor in early data that a proxy got")
	}
}
