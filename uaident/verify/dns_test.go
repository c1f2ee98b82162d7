package verify

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func TestDNSServer(t *testing.T) {
	many := func(n int, names string) (records []string) {
		for i := range n {
			records = append(records, reverse("192.0.2.1")+" 60 IN PTR "+strings.ReplaceAll(names, "#", string(rune('a'+i/26))+string(rune('a'+i%26))))
		}
		return records
	}
	for _, tc := range []struct {
		name   string
		addr   string
		script script
		want   State
		says   string
	}{
		{"right", "192.0.2.1", script{records: []string{
			"1.2.0.192.in-addr.arpa. 60 IN PTR crawl-1.bot.example.com.",
			"crawl-1.bot.example.com. 60 IN A 192.0.2.1"}}, Verified, ""},
		{"right, IPv6 only", "2001:db8::1", script{records: []string{
			reverse("2001:db8::1") + " 60 IN PTR crawl-6.bot.example.com.",
			"crawl-6.bot.example.com. 60 IN AAAA 2001:db8::1"}}, Verified, ""},
		{"right, of both families", "2001:db8::1", script{records: []string{
			reverse("2001:db8::1") + " 60 IN PTR crawl-6.bot.example.com.",
			"crawl-6.bot.example.com. 60 IN A 192.0.2.1",
			"crawl-6.bot.example.com. 60 IN AAAA 2001:db8::1"}}, Verified, ""},
		{"right, in capitals", "192.0.2.1", script{records: []string{
			"1.2.0.192.in-addr.arpa. 60 IN PTR CRAWL-1.Bot.Example.COM.",
			"crawl-1.bot.example.com. 60 IN A 192.0.2.1"}}, Verified, ""},
		{"right, among several addresses", "192.0.2.1", script{records: []string{
			"1.2.0.192.in-addr.arpa. 60 IN PTR crawl.bot.example.com.",
			"crawl.bot.example.com. 60 IN A 192.0.2.7", "crawl.bot.example.com. 60 IN A 192.0.2.1"}}, Verified, ""},
		{"right, after other names", "192.0.2.1", script{records: append(many(20, "#.isp.test."),
			"1.2.0.192.in-addr.arpa. 60 IN PTR crawl-1.bot.example.com.",
			"crawl-1.bot.example.com. 60 IN A 192.0.2.1")}, Verified, ""},
		{"CNAME in the reverse zone (RFC 2317)", "192.0.2.1", script{records: []string{
			"1.2.0.192.in-addr.arpa. 60 IN CNAME 1.0-25.2.0.192.in-addr.arpa.",
			"1.0-25.2.0.192.in-addr.arpa. 60 IN PTR crawl-1.bot.example.com.",
			"crawl-1.bot.example.com. 60 IN A 192.0.2.1"}}, Verified, ""},
		{"CNAME chain of the name", "192.0.2.1", script{records: []string{
			"1.2.0.192.in-addr.arpa. 60 IN PTR crawl-1.bot.example.com.",
			"crawl-1.bot.example.com. 60 IN CNAME a.example.org.",
			"a.example.org. 60 IN CNAME b.example.org.",
			"b.example.org. 60 IN A 192.0.2.1"}}, Verified, ""},
		{"truncated over UDP", "192.0.2.1", script{records: []string{
			"1.2.0.192.in-addr.arpa. 60 IN PTR crawl-1.bot.example.com.",
			"crawl-1.bot.example.com. 60 IN A 192.0.2.1"},
			truncate: []string{"1.2.0.192.in-addr.arpa.", "crawl-1.bot.example.com."}}, Verified, ""},

		{"no name", "192.0.2.1", script{}, Spoofed, ""},
		{"no record of the kind", "192.0.2.1", script{records: []string{"1.2.0.192.in-addr.arpa. 60 IN TXT x"}}, Spoofed, ""},
		{"another's name", "192.0.2.1", script{records: []string{
			"1.2.0.192.in-addr.arpa. 60 IN PTR host.isp.test.",
			"host.isp.test. 60 IN A 192.0.2.1"}}, Spoofed, ""},
		{"the name of another address", "203.0.113.1", script{records: []string{
			reverse("203.0.113.1") + " 60 IN PTR crawl-1.bot.example.com.",
			"crawl-1.bot.example.com. 60 IN A 192.0.2.1"}}, Spoofed, ""},
		{"a name that does not exist", "203.0.113.1", script{records: []string{
			reverse("203.0.113.1") + " 60 IN PTR crawl-9.bot.example.com."}}, Spoofed, ""},
		{"a name of the other family", "2001:db8::1", script{records: []string{
			reverse("2001:db8::1") + " 60 IN PTR crawl-1.bot.example.com.",
			"crawl-1.bot.example.com. 60 IN A 192.0.2.1"}}, Spoofed, ""},
		{"below another domain", "203.0.113.1", script{records: []string{
			reverse("203.0.113.1") + " 60 IN PTR bot.example.com.evil.test.",
			"bot.example.com.evil.test. 60 IN A 203.0.113.1"}}, Spoofed, ""},
		{"not at a label", "203.0.113.1", script{records: []string{
			reverse("203.0.113.1") + " 60 IN PTR fakebot.example.com.",
			"fakebot.example.com. 60 IN A 203.0.113.1"}}, Spoofed, ""},
		{"names itself", "192.0.2.1", script{records: []string{
			"1.2.0.192.in-addr.arpa. 60 IN PTR 1.2.0.192.in-addr.arpa."}}, Spoofed, ""},
		{"loop of CNAME records", "192.0.2.1", script{records: []string{
			"1.2.0.192.in-addr.arpa. 60 IN CNAME 1.0-25.2.0.192.in-addr.arpa.",
			"1.0-25.2.0.192.in-addr.arpa. 60 IN CNAME 1.2.0.192.in-addr.arpa."}}, Spoofed, ""},

		{"SERVFAIL", "192.0.2.1", script{codes: map[string]int{"1.2.0.192.in-addr.arpa.": dns.RcodeServerFailure}}, Unknown, "no usable answer"},
		{"REFUSED", "192.0.2.1", script{codes: map[string]int{"1.2.0.192.in-addr.arpa.": dns.RcodeRefused}}, Unknown, ""},
		{"NOTIMP", "192.0.2.1", script{codes: map[string]int{"1.2.0.192.in-addr.arpa.": dns.RcodeNotImplemented}}, Unknown, ""},
		{"SERVFAIL for the address", "192.0.2.1", script{records: []string{
			"1.2.0.192.in-addr.arpa. 60 IN PTR crawl-1.bot.example.com."},
			codes: map[string]int{"crawl-1.bot.example.com.": dns.RcodeServerFailure}}, Unknown, ""},
		{"SERVFAIL for the family that counts", "2001:db8::1", script{records: []string{
			reverse("2001:db8::1") + " 60 IN PTR crawl-6.bot.example.com.",
			"crawl-6.bot.example.com. 60 IN A 192.0.2.1"},
			codes: map[string]int{"AAAA crawl-6.bot.example.com.": dns.RcodeServerFailure}}, Unknown, ""},
		{"SERVFAIL for one name of two", "192.0.2.1", script{records: []string{
			"1.2.0.192.in-addr.arpa. 60 IN PTR x.bot.example.com.",
			"1.2.0.192.in-addr.arpa. 60 IN PTR y.bot.example.com.",
			"y.bot.example.com. 60 IN A 192.0.2.9"},
			codes: map[string]int{"x.bot.example.com.": dns.RcodeServerFailure}}, Unknown, ""},
		{"a dot within a label, which makes no sense", "203.0.113.1", script{records: []string{
			reverse("203.0.113.1") + ` 60 IN PTR x\.bot\.example\.com.`,
			`x\.bot\.example\.com. 60 IN A 203.0.113.1`}}, Unknown, ""},
		{"too many names", "192.0.2.1", script{records: many(200, "#.isp.test.")}, Unknown, "no usable answer, so DNS gives no result: the address has 200 names"},
		{"too many names of the operator", "192.0.2.1", script{records: many(20, "#.bot.example.com.")}, Unknown, "too many names"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.script.tcp = new(atomic.Int64)
			v := configured(t, Options{LookupTimeout: time.Minute},
				Config{Crawlers: crawlers(), ReverseDNS: true, DNSServer: serveDNS(t, &tc.script)})
			e := v.Explain(t.Context(), &fooBot, netip.MustParseAddr(tc.addr), true)
			if e.Finding.State != tc.want {
				t.Errorf("%s, want %s: %q", e.Finding.State, tc.want, e.Steps)
			}
			if got := v.Check(&fooBot, netip.MustParseAddr(tc.addr)); got != e.Finding {
				t.Errorf("Check returns %v, Explain %v", got, e.Finding)
			}
			if tc.says != "" && !slices.ContainsFunc(e.Steps, func(s Step) bool { return strings.Contains(s.Text, tc.says) }) {
				t.Errorf("%q is missing in %q", tc.says, e.Steps)
			}
			if len(tc.script.truncate) > 0 && tc.script.tcp.Load() == 0 {
				t.Error("no query over TCP")
			}
		})
	}
}

// TestSlowDNSServer checks that a lookup without a response is inconclusive, with any timeout.
func TestSlowDNSServer(t *testing.T) {
	for _, tc := range []struct {
		name   string
		script script
	}{
		{"no answer about the name", script{silent: []string{"1.2.0.192.in-addr.arpa."}}},
		{"no answer about the address", script{
			records: []string{"1.2.0.192.in-addr.arpa. 60 IN PTR crawl-1.bot.example.com."},
			silent:  []string{"crawl-1.bot.example.com."}}},
		{"answers with another ID only", script{wrongID: []string{"1.2.0.192.in-addr.arpa."}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := configured(t, Options{LookupTimeout: 300 * time.Millisecond},
				Config{Crawlers: crawlers(), ReverseDNS: true, DNSServer: serveDNS(t, &tc.script)})
			e := v.Explain(t.Context(), &fooBot, netip.MustParseAddr("192.0.2.1"), true)
			if e.Finding.State != Unknown {
				t.Errorf("%s: %q", e.Finding.State, e.Steps)
			}
			if !slices.ContainsFunc(e.Steps, func(s Step) bool { return strings.Contains(s.Text, "DNS did not answer") }) {
				t.Errorf("the explanation lacks the missing response: %q", e.Steps)
			}
			if got := settled(t, v, &fooBot, "192.0.2.1"); got.State != Unknown {
				t.Errorf("Check returns %s", got.State)
			}
		})
	}
	t.Run("nobody listens", func(t *testing.T) {
		v := configured(t, Options{}, Config{Crawlers: crawlers(), ReverseDNS: true, DNSServer: "127.0.0.1:1"})
		if got := settled(t, v, &fooBot, "192.0.2.1"); got.State != Unknown {
			t.Error(got)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		v := configured(t, Options{}, Config{Crawlers: crawlers(), ReverseDNS: true, DNSServer: serveDNS(t, &script{})})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if e := v.Explain(ctx, &fooBot, netip.MustParseAddr("192.0.2.1"), true); e.Finding.State != Unknown {
			t.Error(e.Finding)
		}
		if v.results.otherResults.held() != 0 {
			t.Error("the result of a cancelled lookup is cached")
		}
	})
}

// TestServerIsNamed checks that errors name the queried server and not a server of the system.
func TestServerIsNamed(t *testing.T) {
	const name = "1.2.0.192.in-addr.arpa."
	server := serveDNS(t, &script{codes: map[string]int{name: dns.RcodeServerFailure}})
	r := newResolver(server)
	if _, err := r.LookupPTR(t.Context(), netip.MustParseAddr("192.0.2.1")); err == nil || !strings.Contains(err.Error(), server) {
		t.Errorf("SERVFAIL: %v does not name %s", err, server)
	}
	if _, err := r.LookupPTR(t.Context(), netip.MustParseAddr("192.0.2.2")); !errors.Is(err, ErrNoName) || !strings.Contains(err.Error(), server) {
		t.Errorf("no name: %v does not name %s", err, server)
	}
}

func TestConclusiveErrors(t *testing.T) {
	for _, tc := range []struct {
		name string
		err  error
		want bool
	}{
		{"none", nil, false},
		{"no such name", &net.DNSError{Err: "no such host", Server: "192.0.2.53:53", IsNotFound: true}, true},
		{"no server was asked", &net.DNSError{Err: "no such host", IsNotFound: true}, false},
		{"time-out", &net.DNSError{Err: "i/o timeout", Server: "192.0.2.53:53", IsTimeout: true}, false},
		{"SERVFAIL", &net.DNSError{Err: "server misbehaving", Server: "192.0.2.53:53", IsTemporary: true}, false},
		{"REFUSED", &net.DNSError{Err: "server misbehaving", Server: "192.0.2.53:53"}, false},
		{"both", &net.DNSError{Err: "x", Server: "192.0.2.53:53", IsNotFound: true, IsTemporary: true}, false},
		{"cancelled", context.Canceled, false},
	} {
		if got := errors.Is(newResolver("").convertError(tc.err), ErrNoName); got != tc.want {
			t.Errorf("%s: conclusive: %t, want %t", tc.name, got, tc.want)
		}
	}
}

// TestNextServer checks that the second server of the system is queried in time if the first does
// not respond.
func TestNextServer(t *testing.T) {
	const name = "1.2.0.192.in-addr.arpa."
	silent := serveDNS(t, &script{silent: []string{name, "crawl-1.bot.example.com."}})
	server := serveDNS(t, &script{records: []string{name + " 60 IN PTR crawl-1.bot.example.com.", "crawl-1.bot.example.com. 60 IN A 192.0.2.1"}})
	r := newResolver("")
	dial := r.Dial
	asked := 0
	r.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if asked++; asked%2 == 1 { // the system has these two servers
			return dial(ctx, network, silent)
		}
		return dial(ctx, network, server)
	}
	ctx, cancel := context.WithTimeout(t.Context(), New(Options{}).options.LookupTimeout)
	defer cancel()
	if c := confirmDNS(ctx, r, netip.MustParseAddr("192.0.2.1"), []string{".bot.example.com"}); c.state != Verified {
		t.Errorf("%s after %d questions: %v", c.state, asked, c.problem)
	}
}
