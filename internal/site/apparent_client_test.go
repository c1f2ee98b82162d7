package site

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// TestOutsideAddress checks that the address family fits the listeners of the server.
func TestOutsideAddress(t *testing.T) {
	for _, tc := range []struct {
		name   string
		listen []string
		from   string
		want   string
	}{
		{"all addresses", []string{":443"}, "", "192.0.2.1:1"},
		{"an IPv4 address", []string{"203.0.113.4:443"}, "", "192.0.2.1:1"},
		{"an IPv6 address", []string{"[2001:db8:7::4]:443"}, "", "[2001:db8::1]:1"},
		{"several IPv6 addresses", []string{"[2001:db8:7::4]:443", "udp6/:443", "tcp6/[::]:80"}, "", "[2001:db8::1]:1"},
		{"IPv6 loopback", []string{"[::1]:443"}, "", "[2001:db8::1]:1"},
		{"both families", []string{"[2001:db8:7::4]:443", "203.0.113.4:443"}, "", "192.0.2.1:1"},
		{"the unspecified IPv6 address, which takes both", []string{"[::]:443"}, "", "192.0.2.1:1"},
		{"an IPv4 address in IPv6 notation", []string{"[::ffff:203.0.113.4]:443"}, "", "192.0.2.1:1"},
		{"a name", []string{"localhost:443"}, "", "192.0.2.1:1"},
		{"a Unix socket", []string{"unix//run/caddy.sock"}, "", "192.0.2.1:1"},
		{"nothing", nil, "", "192.0.2.1:1"},
		{"a configured address", []string{"[2001:db8:7::4]:443"}, "198.51.100.7", "198.51.100.7:1"},
		{"a configured IPv6 address", []string{":443"}, "2001:db8:9::1", "[2001:db8:9::1]:1"},
	} {
		from, _ := netip.ParseAddr(tc.from)
		if got := newApparentClient(&caddyhttp.Server{Listen: tc.listen}, from).remoteAddr(); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// TestOutsiderBehindProxies checks that the guard's requests look like requests through the proxy.
// Each field for the client's address has the virtual client's address.
func TestOutsiderBehindProxies(t *testing.T) {
	for _, tc := range []struct {
		name    string
		trusted bool
		fields  []string // client_ip_headers
		sent    http.Header
		from    string
		want    http.Header
	}{
		{"no proxy", false, []string{"X-Forwarded-For"}, http.Header{"X-Forwarded-For": {"10.0.0.1"}, "X-Forwarded-Proto": {"https"}}, "192.0.2.1:1", http.Header{}},
		{"the default field", true, []string{"X-Forwarded-For"}, http.Header{"X-Forwarded-For": {"198.51.100.4"}}, "10.0.0.5:999", http.Header{"X-Forwarded-For": {"192.0.2.1"}}},
		{"several fields", true, []string{"Cf-Connecting-Ip", "X-Real-Ip"}, http.Header{"Cf-Connecting-Ip": {"198.51.100.4"}}, "10.0.0.5:999",
			http.Header{"Cf-Connecting-Ip": {"192.0.2.1"}, "X-Real-Ip": {"192.0.2.1"}, "X-Forwarded-For": {"192.0.2.1"}}},
		{"several lines", true, []string{"X-Forwarded-For"}, http.Header{"X-Forwarded-For": {"10.0.0.1", "198.51.100.4"}, "X-Forwarded-Proto": {"http", "https"}, "X-Forwarded-Host": {"forged.test", "a.test"}}, "10.0.0.5:999",
			http.Header{"X-Forwarded-For": {"192.0.2.1"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"a.test"}}},
		{"lists", true, []string{"X-Forwarded-For"}, http.Header{"X-Forwarded-For": {"10.0.0.1, 198.51.100.4"}, "X-Forwarded-Proto": {"https, http"}, "X-Forwarded-Host": {"a.test, lb.internal"}}, "10.0.0.5:999",
			http.Header{"X-Forwarded-For": {"192.0.2.1"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"a.test, lb.internal"}}},
		{"a client of the trusted network that came by itself", true, []string{"X-Forwarded-For"}, http.Header{"User-Agent": {"bingbot"}}, "192.0.2.1:1", http.Header{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := &caddyhttp.Server{ClientIPHeaders: tc.fields}
			r := httptest.NewRequest(http.MethodGet, "http://a.test/x", nil)
			r = r.WithContext(context.WithValue(r.Context(), caddyhttp.VarsCtxKey, map[string]any{caddyhttp.TrustedProxyVarKey: tc.trusted}))
			r.Header, r.RemoteAddr = tc.sent, "10.0.0.5:999"
			got := newRequestTemplate(r, siteKey(r), newApparentClient(server, netip.Addr{}))
			tc.want.Set("User-Agent", GuardUserAgent)
			if got.RemoteAddr != tc.from || !equalHeaders(got.Header, tc.want) {
				t.Errorf("from %s with %v, want from %s with %v", got.RemoteAddr, got.Header, tc.from, tc.want)
			}
		})
	}
}

func equalHeaders(a, b http.Header) bool {
	if len(a) != len(b) {
		return false
	}
	for name := range a {
		if len(a[name]) != 1 || len(b[name]) != 1 || a[name][0] != b[name][0] {
			return false
		}
	}
	return true
}

// TestSplitSite fetches the file for outside clients at a site with another file for the owner's
// network.
func TestSplitSite(t *testing.T) {
	for _, tc := range []struct{ name, options, matcher string }{
		{"client_ip", "", "client_ip private_ranges"},
		{"remote_ip", "", "remote_ip private_ranges"},
		{"loopback", "", "remote_ip 127.0.0.1/8 ::1"},
		{"an expression", "", "expression `remote_ip('127.0.0.0/8')`"},
		{"client_ip behind a proxy", "servers {\n trusted_proxies static private_ranges\n }", "client_ip private_ranges"},
		{"client_ip behind a proxy, strict", "servers {\n trusted_proxies static private_ranges\n trusted_proxies_strict\n }", "client_ip private_ranges"},
		{"client_ip behind a proxy with fields of its own", "servers {\n trusted_proxies static private_ranges\n client_ip_headers CF-Connecting-IP X-Real-IP\n }", "client_ip private_ranges"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			site := loadProbed(t, tc.options, `http://a.test:PORT {
				source_probe
				@lan `+tc.matcher+`
				handle @lan {
					respond /robots.txt "# lan"
				}
				handle {
					respond /robots.txt "# public"
				}
			}`)
			for name, header := range map[string][]string{
				"a local client":            {"User-Agent", "bingbot"},
				"a client behind the proxy": {"User-Agent", "bingbot", "X-Forwarded-For", "198.51.100.4", "CF-Connecting-IP", "198.51.100.4"},
			} {
				if got := site.probe("http://a.test:PORT/x", header...); got.Err != "" || got.Body != "# public" {
					t.Errorf("on behalf of %s: got %q, error %q", name, got.Body, got.Err)
				}
			}
		})
	}
}
