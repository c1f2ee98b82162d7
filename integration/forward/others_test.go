package forward

import (
	"os"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestEnvoy sends the requests that Envoy sends according to its documentation, with
// the method, the path and the Host of the client's request. The test does not run
// Envoy.
func TestEnvoy(t *testing.T) {
	t.Parallel()
	app := harness.NewOrigin(t, robots, nil)
	text, err := os.ReadFile(folder + "envoy/Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	port := harness.FreePort(t)
	s := harness.Start(t, strings.NewReplacer(":9181", ":"+port, "127.0.0.1:3000", app.Address(), "allow_private on", "allow_private on\nfetch_wait 20s\nfetch_timeout 20s",
		"{\n\tservers", "{\n\tadmin off\n\tpersist_config off\n\tservers").Replace(string(text)), "127.0.0.1:"+port)
	s.Port = port
	for _, tc := range []struct {
		start  string
		status int
	}{
		{"GET /private/x HTTP/1.1\r\nHost: example.com", 403},
		{"GET //private/x?a=b HTTP/1.1\r\nHost: example.com", 403},
		{"GET /%70rivate/x HTTP/1.1\r\nHost: example.com", 403},
		{"POST /private/x HTTP/1.1\r\nContent-Length: 0\r\nHost: example.com", 403},
		{"GET /private/x HTTP/1.1\r\nHost: example.com\r\nX-Forwarded-Uri: /public/", 403},
		{"GET /private/x HTTP/1.1\r\nHost: example.com\r\nX-Forwarded-Method: OPTIONS\r\nX-Forwarded-Method: GET", 403},
		{"GET /private/x HTTP/1.1\r\nHost: example.com\r\nX-Original-URL: https://example.com/public/", 403},
		{"GET /public/ HTTP/1.1\r\nHost: example.com", 200},
		{"GET /robots.txt HTTP/1.1\r\nHost: example.com", 200},
	} {
		status, body := harness.Raw(t, s, tc.start+"\r\nX-Forwarded-Proto: https\r\nX-Forwarded-For: 192.0.2.7\r\nUser-Agent: "+harness.Bingbot+"\r\nConnection: close\r\n\r\n")
		if status != tc.status {
			t.Errorf("%.80q: %d %.200q, want %d", tc.start, status, body, tc.status)
		}
	}
}

// TestTraefik sends the requests that Traefik 3.7 sends to a decision point. If Traefik
// is installed, the tests of all proxies run it as well.
func TestTraefik(t *testing.T) {
	t.Parallel()
	s := decide(t, harness.NewOrigin(t, robots, nil), "")
	for target, want := range map[string]int{"/private/x": 403, "/public/": 200} {
		got, _ := ask(t, s, harness.Bingbot, append(about("a.test", target), "X-Forwarded-Port: 443")...)
		if got.StatusCode != want {
			t.Errorf("%s: %d", target, got.StatusCode)
		}
	}
	// A WebSocket has its own scheme with trustForwardHeader.
	fields := about("a.test", "/private/x")
	fields[1] = "X-Forwarded-Proto: wss"
	if got, _ := ask(t, s, harness.Bingbot, fields...); got.StatusCode != 403 {
		t.Errorf("a WebSocket: %d", got.StatusCode)
	}
}
