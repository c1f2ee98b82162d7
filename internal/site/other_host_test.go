package site

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// TestRedirectToAnotherHost checks that a redirect to the robots.txt of another configured host
// stays within Caddy, also if another server has that host. Other redirects lead outside.
func TestRedirectToAnotherHost(t *testing.T) {
	const (
		site = `http://www.a.test:PORT {
			source_probe
			redir TO
		}
		http://a.test:PORT {
			@inside remote_ip 127.0.0.1
			respond @inside "# inside"
			respond "# {host} {uri}"
		}
		http://*.b.test:PORT {
			respond "# {host}"
		}
		https://a.test:TLS, https://www.a.test:TLS {
			@inside remote_ip 127.0.0.1
			respond @inside "# inside"
			respond "# {scheme}://{host}{uri} {tls_version} to {http.request.header.User-Agent}"
		}`
		secure  = "# https://a.test/robots.txt tls1.3 to " + GuardUserAgent
		proxied = "servers {\n trusted_proxies static 127.0.0.1/32\n }"
	)
	for _, tc := range []struct {
		name, options, to string
		want              string // empty if the redirect leads outside
	}{
		{"all of www to the other", "", "http://a.test:PORT{uri}", "# a.test /robots.txt"},
		{"its host in another spelling", "", "http://A.test:PORT/robots.txt", "# a.test /robots.txt"},
		{"another path", "", "http://a.test:PORT/secret", ""},
		{"a query", "", "http://a.test:PORT/robots.txt?x", ""},
		{"a host that a wildcard takes", "", "http://x.b.test:PORT/robots.txt", ""},
		{"a host that nobody names", "", "http://c.test:PORT/robots.txt", ""},
		{"another port", "", "http://a.test:1/robots.txt", ""},
		{"https at the port of http", "", "https://a.test:PORT/robots.txt", ""},
		{"https at another server", "", "https://a.test:TLS/robots.txt", secure},
		{"the same host over https", "", "https://www.a.test:TLS/robots.txt", strings.Replace(secure, "a.test", "www.a.test", 1)},
		{"https at a mapped port", "https_port TLS", "https://a.test/robots.txt", secure},
		{"https at a port of another program", "", "https://a.test/robots.txt", ""},
		{"http at the port of https", "", "http://a.test:TLS/robots.txt", ""},
		{"behind a proxy", proxied, "http://a.test:PORT/robots.txt", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			// No certificates, since no request comes over TLS. With auto_https off, skip_install_trust has an
			// effect only on a CA that the configuration names.
			options := "auto_https off\npki {\n\tca local\n}\n" + tc.options
			got := loadProbed(t, options, strings.Replace(site, "TO", tc.to, 1), "TLS", freePort(t)).probe("http://www.a.test:PORT/x")
			if tc.want == "" {
				if got.Err == "" {
					t.Errorf("it was read within the server: %q", got.Body)
				}
				return
			}
			if got.Err != "" || got.Body != tc.want {
				t.Errorf("got %q, error %q", got.Body, got.Err)
			}
		})
	}
}

// TestRedirectCollectsHostsOnce fetches a redirected robots.txt at a server with many hosts. Clients
// can cause such fetches with invented names below a wildcard.
func TestRedirectCollectsHostsOnce(t *testing.T) {
	const many = 2000
	var hosts strings.Builder
	for i := range many {
		fmt.Fprintf(&hosts, ", http://%d.test:PORT", i)
	}
	site := loadProbed(t, "", `http://www.a.test:PORT {
		source_probe
		redir http://a.test:PORT/robots.txt
	}
	http://a.test:PORT`+hosts.String()+` {
		respond "# {host}"
	}`)
	allocs := testing.AllocsPerRun(10, func() {
		if got := site.probe("http://www.a.test:PORT/x"); got.Body != "# a.test" {
			t.Errorf("got %q, error %q", got.Body, got.Err)
		}
	})
	if allocs > 1.5*many { // the probe itself collects the hosts for each request
		t.Errorf("%.0f allocations at a server with %d hosts", allocs, many)
	}
}

// TestRedirectToAnotherHostOverHTTP redirects at the HTTP port of a server with TLS. The fetch uses
// the network, because a virtual request to this server would be over https.
func TestRedirectToAnotherHostOverHTTP(t *testing.T) {
	port := freePort(t)
	config := strings.NewReplacer("PORT", port, "TLS", freePort(t), "DIR", t.TempDir()).Replace(`{
		"admin": {"disabled": true, "config": {"persist": false}},
		"logging": {"logs": {"default": {"writer": {"output": "discard"}}}},
		"storage": {"module": "file_system", "root": "DIR"},
		"apps": {"http": {"http_port": PORT, "https_port": TLS, "servers": {"both": {
			"listen": ["127.0.0.1:PORT", "127.0.0.1:TLS"],
			"protocols": ["h1"],
			"automatic_https": {"disable": true},
			"tls_connection_policies": [{}],
			"routes": [
				{"match": [{"host": ["www.a.test"]}], "handle": [
					{"handler": "source_probe", "timeout": 20000000000},
					{"handler": "static_response", "status_code": 301, "headers": {"Location": ["http://a.test:PORT/robots.txt"]}}
				]},
				{"match": [{"host": ["a.test"]}], "handle": [{"handler": "static_response", "body": "# inside"}]}
			]
		}}}}
	}`)
	if err := caddy.Load([]byte(config), true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = caddy.Stop() })
	r, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:"+port+"/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "www.a.test:" + port
	r.Header.Set("Probe", "1")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	var got probed
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("%v: status %d, body %q", err, resp.StatusCode, body)
	}
	if !strings.HasPrefix(got.Err, "reading http://a.test:") {
		t.Errorf("got %q, error %q, want an error of the network", got.Body, got.Err)
	}
}
