package identity

import (
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// nameServer is a DNS server. Its records map a name to its PTR or A record. A name
// without a record does not exist. A record of "" gets no response.
type nameServer struct {
	address string
	queries atomic.Int32
}

func newNameServer(t *testing.T, records map[string]string) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{address: conn.LocalAddr().String()}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	go func() {
		defer close(done)
		packet := make([]byte, 1500)
		for {
			n, client, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			s.queries.Add(1)
			if reply := answerQuery(packet[:n], records); reply != nil {
				_, _ = conn.WriteTo(reply, client) // fails if the client has disconnected
			}
		}
	}()
	return s
}

// answerQuery returns the response to a query, nil for none.
func answerQuery(query []byte, records map[string]string) []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	reply := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: m.ID, Response: true, RecursionDesired: true, RecursionAvailable: true},
		Questions: m.Questions,
	}
	header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: dnsmessage.ClassINET, TTL: 60}
	value, known := records[strings.ToLower(q.Name.String())]
	switch {
	case known && value == "":
		return nil
	case !known:
		reply.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypePTR:
		reply.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.PTRResource{PTR: dnsmessage.MustNewName(value)}}}
	case q.Type == dnsmessage.TypeA:
		reply.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: [4]byte(net.ParseIP(value).To4())}}}
	}
	packed, err := reply.Pack()
	if err != nil {
		return nil
	}
	return packed
}

// TestIdentityByDNS verifies clients by reverse DNS lookups. No request waits for a
// lookup: the first request is evaluated under its claimed name.
func TestIdentityByDNS(t *testing.T) {
	t.Parallel()
	dns := newNameServer(t, map[string]string{
		"1.2.0.192.in-addr.arpa.":           "crawl-192-0-2-1.googlebot.com.",
		"crawl-192-0-2-1.googlebot.com.":    "192.0.2.1",
		"2.2.0.192.in-addr.arpa.":           "crawl-192-0-2-1.googlebot.com.", // the name of a different address
		"3.2.0.192.in-addr.arpa.":           "crawl.googlebot.com.evil.example.",
		"crawl.googlebot.com.evil.example.": "192.0.2.3",
		"4.2.0.192.in-addr.arpa.":           "crawl.fakegooglebot.com.",
		"crawl.fakegooglebot.com.":          "192.0.2.4",
		"5.2.0.192.in-addr.arpa.":           "", // no response
		"9.2.0.192.in-addr.arpa.":           "msnbot-192-0-2-9.search.msn.com.",
		"msnbot-192-0-2-9.search.msn.com.":  "192.0.2.9",
		"crawl-192-0-2-66.search.msn.com.":  "192.0.2.66",
		"66.2.0.192.in-addr.arpa.":          "crawl-192-0-2-66.search.msn.com.",
	})
	s := harness.Serve(t, "http://a.test:$PORT {\n header >X-Identity {http.robots_guard.identity}\n robots_guard enforce\n"+
		" respond /robots.txt `"+identityRobots+"`\n respond page\n}",
		"$GLOBAL", "robots_guard {\n verify {\n ranges off\n resolver "+dns.address+"\n }\n}\nservers {\n trusted_proxies static 127.0.0.0/8\n}")
	s.Warm("/")
	for _, row := range []struct{ name, userAgent, ip, want string }{
		{"name and address match", harness.Googlebot, "192.0.2.1", "verified"},
		{"the same for an image crawler", harness.GooglebotImage, "192.0.2.1", "verified"},
		{"another crawler with such a name", harness.Bingbot, "192.0.2.9", "verified"},
		{"the name of another address", harness.Googlebot, "192.0.2.2", "spoofed"},
		{"the domain is a prefix of another", harness.Googlebot, "192.0.2.3", "spoofed"},
		{"the domain ends another's label", harness.Googlebot, "192.0.2.4", "spoofed"},
		{"another operator's name", harness.Googlebot, "192.0.2.66", "spoofed"},
		{"no name", harness.Googlebot, "192.0.2.77", "spoofed"},
	} {
		if first := harness.Get(t, s.URL("/"), row.userAgent, from(row.ip)).Header.Get("X-Identity"); first != "unknown" && first != row.want {
			t.Errorf("%s: the first request is %s", row.name, first)
		}
		var got string
		harness.Eventually(t, row.name, func() bool {
			got = harness.Get(t, s.URL("/"), row.userAgent, from(row.ip)).Header.Get("X-Identity")
			return got != "unknown"
		})
		if got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
	for range 5 {
		if a := harness.Get(t, s.URL("/others-not/x"), harness.Googlebot, from("192.0.2.5")); a.Status != 200 || a.Header.Get("X-Identity") != "unknown" {
			t.Errorf("no DNS response: got %d %q", a.Status, a.Header.Get("X-Identity"))
		}
	}
	m := s.Metrics()
	if n := m.Sum("caddy_robots_guard_dns_lookups_total", `result="verified"`); n != 2 {
		t.Errorf("%v lookups verified a client, want 2: one per operator", n)
	}
	if n := m.Sum("caddy_robots_guard_identity_checks_total", `method="rdns"`, `identity="spoofed"`); n < 5 {
		t.Errorf("%v checks found a spoofed client", n)
	}
}

// TestVerifyOnline checks that the command uses the DNS server of the configuration.
func TestVerifyOnline(t *testing.T) {
	t.Parallel()
	dns := newNameServer(t, map[string]string{
		"1.2.0.192.in-addr.arpa.":        "crawl-192-0-2-1.googlebot.com.",
		"crawl-192-0-2-1.googlebot.com.": "192.0.2.1",
		"2.2.0.192.in-addr.arpa.":        "dial-up.example.",
		"dial-up.example.":               "192.0.2.2",
	})
	config := filepath.Join(t.TempDir(), "Caddyfile")
	harness.Write(t, config, "{\n robots_guard {\n  verify {\n   ranges off\n   resolver "+dns.address+"\n  }\n }\n}\nexample.com {\n robots_guard\n}\n")
	for _, row := range []struct {
		ip       string
		online   bool
		identity string
		code     int
	}{
		{"192.0.2.1", true, "identity      verified (rdns)", 0},
		{"192.0.2.2", true, "identity      spoofed (rdns)", 1},
		{"192.0.2.1", false, "identity      unknown", 0},
	} {
		args := []string{"robots-guard", "identify", "--ip", row.ip, "--config", config, "Googlebot/2.1"}
		before := dns.queries.Load()
		if row.online {
			args = append(args, "--online")
		}
		stdout, stderr, code := harness.Command(t, "", args...)
		if code != row.code || !strings.Contains(stdout, row.identity) {
			t.Errorf("%s: exit status %d and %q, want %d and %q\n%s", row.ip, code, stdout, row.code, row.identity, stderr)
		}
		if asked := dns.queries.Load() > before; asked != row.online {
			t.Errorf("%s: got a DNS query: %t", row.ip, asked)
		}
	}
}
