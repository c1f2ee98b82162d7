package faults

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestFaultReasons checks the logged reasons why a robots.txt is unavailable.
func TestFaultReasons(t *testing.T) {
	t.Parallel()
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(untrusted.Close)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // never accepts a connection
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	plain := harness.NewOrigin(t, "", nil)
	closedPort := "127.0.0.1:" + harness.FreePort(t)
	var sites strings.Builder
	var hosts []string
	want := make(map[string]string) // logged reason by site
	add := func(source, handler, site, why string) {
		host := fmt.Sprintf("h%d.test", len(hosts))
		hosts = append(hosts, host)
		sites.WriteString("http://" + host + ":$PORT {\n robots_guard {\n allow_private on\n" + source + "\n }\n" + handler + "\n}\n")
		want[cmp.Or(site, "http://"+host)] = why
	}
	own := func(handler, why string) { add("", handler, "", why) }
	url := func(url, why string) { add("fetch_timeout 5s\n source "+url, "respond ok", url, why) }
	const refused = "connection refused: nothing listens at that address ("
	own("respond 503", "the server answers status 503 Service Unavailable")
	own("respond 429", "the server limits the rate of requests (status 429)")
	own("reverse_proxy "+closedPort, refused+"status 502 Bad Gateway, ")
	own("reverse_proxy "+closedPort+" {\n fail_duration 1s\n }", refused)
	url("http://"+closedPort+"/robots.txt", refused+"reading http://"+closedPort)
	url("http://there-is-none.invalid/robots.txt", "DNS: the name does not resolve (reading http://there-is-none.invalid")
	url(untrusted.URL+"/robots.txt", "TLS: the certificate is not trusted (reading https://")
	url("https://"+plain.Address()+"/robots.txt", "TLS: the handshake fails (reading https://")
	url("http://"+silent.Addr().String()+"/robots.txt", "reading http://"+silent.Addr().String()+"/robots.txt: no complete answer within fetch_timeout")

	s := harness.Serve(t, sites.String())
	for _, host := range hosts {
		harness.Get(t, s.URL("http://"+host+"/"), harness.Bingbot)
	}
	for _, line := range s.Await("robots.txt cannot be read", len(want)) {
		for site, says := range want {
			if strings.HasPrefix(line["site"].(string), site) {
				if why, _ := line["error"].(string); !strings.HasPrefix(why, says) {
					t.Errorf("%s: %q, want %q", site, why, says)
				}
				delete(want, site)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("no reason is logged for %v", want)
	}
}
