package verify

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func TestExplain(t *testing.T) {
	list := writeFile(t, "192.0.2.128/25\n10.0.0.0/8")
	withList := Config{ReverseDNS: true, Lists: []List{{CrawlerOrOperator: "Foo", File: list}}}
	for _, tc := range []struct {
		name    string
		config  Config
		crawler *uaident.Crawler
		addr    string
		online  bool
		want    State
		says    []string // expected texts, in order, each in a separate step
	}{
		{"no crawler", Config{}, nil, "192.0.2.1", true, Claimed, []string{"names no crawler"}},
		{"all is off", Config{}, &fooBot, "192.0.2.1", true, Claimed, []string{"the method is disabled"}},
		{"nothing is published", withList, &plainBot, "192.0.2.1", true, Claimed, []string{"operator of PlainBot publishes no known"}},
		{"in the list", withList, &fooBot, "::ffff:192.0.2.200", true, Verified,
			[]string{"The address ::ffff:192.0.2.200 is checked as 192.0.2.200", list + " (2 prefixes, checked 2", "DNS is not needed", "this is FooBot"}},
		{"by DNS", withList, &fooBot, "192.0.2.1", true, Verified,
			[]string{"does not contain 192.0.2.1", "names of 192.0.2.1 are: crawl-1.bot.example.com.", "resolves to 192.0.2.1", "this is FooBot"}},
		{"another's name", withList, &fooBot, "203.0.113.1", true, Spoofed,
			[]string{"does not contain", "are: crawl-1.bot", "does not resolve to 203.0.113.1", "this is not FooBot"}},
		{"a name below another domain", withList, &fooBot, "203.0.113.2", true, Spoofed,
			[]string{"does not contain", "are: x.bot.example.com.evil.test", "None of these names is in one of .bot.example.com, .crawl.example.net", "not FooBot"}},
		{"no name", withList, &fooBot, "198.51.100.9", true, Spoofed, []string{"does not contain", "has no name for 198.51.100.9", "not FooBot"}},
		{"no answer", withList, &fooBot, "198.51.100.1", true, Unknown, []string{"does not contain", "no usable answer, so DNS gives no result: server misbehaving", "unknown whether"}},
		{"not asked", withList, &fooBot, "192.0.2.1", false, Unknown, []string{"does not contain", "DNS was not queried", "unknown whether"}},
		{"a proxy in between", withList, &fooBot, "172.16.0.1", true, Unknown, []string{"does not contain", "a proxy is missing", "unknown whether"}},
		{"private, in the list", withList, &fooBot, "10.0.0.1", true, Verified, []string{"contains 10.0.0.1", "DNS is not needed", "this is FooBot"}},
		{"a preview", withList, &fooPreview, "203.0.113.1", true, Claimed, []string{"does not contain", "are:", "does not resolve", "readers' devices"}},
		{"for a person", Config{ReverseDNS: true}, &fooUser, "203.0.113.1", true, Claimed, []string{"are:", "does not resolve", "for a person"}},
		{"unsure", Config{ReverseDNS: true}, &unsureBot, "203.0.113.1", true, Claimed, []string{"are:", "does not resolve", "not from its operator"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.config.Crawlers = crawlers()
			dns := honestDNS()
			v := configured(t, Options{Resolver: dns}, tc.config)
			addr := netip.MustParseAddr(tc.addr)
			e := v.Explain(t.Context(), tc.crawler, addr, tc.online)
			if e.Finding.State != tc.want {
				t.Errorf("%s, want %s", e.Finding.State, tc.want)
			}
			steps := e.Steps
			for _, says := range tc.says {
				i := slices.IndexFunc(steps, func(s Step) bool { return strings.Contains(s.Text, says) })
				if i < 0 {
					t.Errorf("%q is missing or out of order in %q", says, e.Steps)
					break
				}
				steps = steps[i+1:]
			}
			if !tc.online && dns.count() > 0 {
				t.Error("asked DNS")
			}
			// Check returns the same finding after the lookup.
			if got := v.Check(tc.crawler, addr); got != e.Finding {
				t.Errorf("Check returns %v, Explain %v", got, e.Finding)
			}
			idle(t, v)
		})
	}
}

func TestExplainWhatIsRemembered(t *testing.T) {
	v := configured(t, Options{Resolver: honestDNS()}, Config{Crawlers: crawlers(), ReverseDNS: true})
	for addr, want := range map[string]string{
		"192.0.2.1":    "Cached DNS result: 192.0.2.1 has a name",
		"203.0.113.1":  "Cached DNS result: 203.0.113.1 has no name",
		"198.51.100.1": "no conclusive answer",
	} {
		finding := settled(t, v, &fooBot, addr)
		e := v.Explain(t.Context(), &fooBot, netip.MustParseAddr(addr), false)
		if e.Finding != finding || !strings.Contains(e.Steps[0].Text, want) {
			t.Errorf("%s: %v %q, want %v %q", addr, e.Finding, e.Steps, finding, want)
		}
	}
	if e := v.Explain(t.Context(), &fooBot, netip.Addr{}, true); e.Finding.State != Unknown || !strings.Contains(e.Steps[0].Text, "unknown") {
		t.Errorf("no address: %+v", e)
	}
}

func TestExplainLists(t *testing.T) {
	s := serveList(t, fourPrefixes)
	bar := &uaident.Crawler{Token: "BarBot", Verification: uaident.Verification{Ranges: []string{s.URL}}}
	v := configured(t, Options{Transport: s.Client().Transport}, Config{Crawlers: []uaident.Crawler{*bar}, Ranges: true})
	addr := netip.MustParseAddr("192.0.2.1")
	if e := v.Explain(t.Context(), bar, addr, false); e.Finding.State != Unknown || !strings.Contains(e.Steps[0].Text, "was never loaded") {
		t.Errorf("offline: %+v", e)
	}
	if s.count() != 0 {
		t.Error("the server got a request")
	}
	if e := v.Explain(t.Context(), bar, addr, true); e.Finding != (Finding{Verified, Ranges}) || !strings.Contains(e.Steps[0].Text, "(4 prefixes") {
		t.Errorf("online: %+v", e)
	}
	if err := errors.Join(v.loadAll(t.Context(), isNeverLoaded)...); err != nil || s.count() != 1 {
		t.Errorf("loading with all lists loaded: %v, %d requests", err, s.count())
	}
	s.says("")
	v = configured(t, Options{Transport: s.Client().Transport}, Config{Crawlers: []uaident.Crawler{*bar}, Ranges: true})
	if e := v.Explain(t.Context(), bar, addr, true); e.Finding.State != Unknown || !strings.Contains(e.Steps[0].Text, "is empty") {
		t.Errorf("an invalid list: %+v", e)
	}
	if err := errors.Join(v.loadAll(t.Context(), isNeverLoaded)...); err == nil || !strings.Contains(err.Error(), s.URL) {
		t.Errorf("loading: %v", err)
	}
}
