package site

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"strconv"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestKeyAt tells of a URL whose robots.txt a request for it is about, however the URL is
// written: what is known of the request that a client sends for it.
func TestKeyAt(t *testing.T) {
	const at = ":9501"
	hosts := testHosts()
	hosts.Server.Listen = []string{":80", at}
	for _, tc := range []struct {
		url  string
		port int // at which the request arrives
		want policy.Key
	}{
		{"http://example.com:9501/x", 9501, policy.Key{Server: at, Site: "example.com", Host: "example.com:9501"}},
		{"http://EXAMPLE.com:9501/x", 9501, policy.Key{Server: at, Site: "example.com", Host: "example.com:9501"}},
		{"http://example.com/x", 80, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"http://example.com:80/x", 80, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"http://example.com:/x", 80, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"http://example.com:8080/x", 80, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"http://example.com:09501/x", 9501, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"http://anna:secret@example.com:9501/x", 9501, policy.Key{Server: at, Site: "example.com", Host: "example.com:9501"}},
		{"http://anna@example.com", 80, policy.Key{Server: at, Site: "example.com", Host: "example.com"}},
		{"http://example.com.:9501/x", 9501, policy.Key{Server: at, Host: "example.com.:9501"}},
		{"http://example.com./x", 80, policy.Key{Server: at, Host: "example.com."}},
		{"http://Dotted.example.:9501/x", 9501, policy.Key{Server: at, Site: "dotted.example.", Host: "dotted.example.:9501"}},
		{"http://other.example.:9501/x", 9501, policy.Key{Server: at, Host: "other.example:9501"}},
		{"http://shop.example.net/x", 80, policy.Key{Server: at, Site: "*.example.net", Host: "shop.example.net"}},
		{"http://shop.example.net./x", 80, policy.Key{Server: at, Host: "shop.example.net."}},
		{"http://bücher.example/x", 80, policy.Key{Server: at, Site: "xn--bcher-kva.example", Host: "xn--bcher-kva.example"}},
		{"http://bücher.example.:9501/x", 9501, policy.Key{Server: at, Host: "xn--bcher-kva.example.:9501"}},
		{"http://[::1]:9501/x", 9501, policy.Key{Server: at, Site: "::1", Host: "[::1]:9501"}},
		{"http://[::1%25eth0]:9501/x", 9501, policy.Key{Server: at, Site: "::1", Host: "[::1]:9501"}},
		{"http://[::1%25eth0]/x", 80, policy.Key{Server: at, Site: "::1", Host: "[::1]"}},
	} {
		if got := hosts.KeyForAuthority(HostAsSent(addr.AuthorityOfURL(tc.url), false), false); got != tc.want {
			t.Errorf("%s: %+v\nwant %+v", tc.url, got, tc.want)
		}
		if got := hosts.KeyForRequest(requestFor(t, tc.url, tc.port)); got != tc.want {
			t.Errorf("a request for %s: %+v\nwant %+v", tc.url, got, tc.want)
		}
	}
}

// requestFor returns the request for a URL as it arrives from Go's client.
func requestFor(t *testing.T, url string, port int) *http.Request {
	t.Helper()
	sent, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	var wire bytes.Buffer
	if err := sent.Write(&wire); err != nil {
		t.Fatal(err)
	}
	got, err := http.ReadRequest(bufio.NewReader(&wire))
	if err != nil {
		t.Fatal(err)
	}
	return arriving(got.Host, &net.TCPAddr{Port: port}, false)
}

// TestHostOfAURL names the host of a URL as Caddy compares it with those of sites.
func TestHostOfAURL(t *testing.T) {
	for url, want := range map[string]string{
		"https://Shop.test:8443/x": "shop.test", "https://shop.test.:443/x": "shop.test.", "https://anna:x@shop.test/": "shop.test",
		"http://bücher.test": "xn--bcher-kva.test", "http://[::1]:80": "[::1]", "http://[fe80::1%25eth0]:80": "[fe80::1]", "/x": "", "https://anna@/x": "",
	} {
		if got := HostOfURL(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	for host, want := range map[string]int{"[::1]": 3, "example.com": 3, "example.com.": 0} {
		if got := HostMatchScore([]string{"::1", "example.com"}, host); got != want {
			t.Errorf("%s fits by %s", host, strconv.Itoa(got))
		}
	}
}
