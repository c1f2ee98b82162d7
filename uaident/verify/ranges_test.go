package verify

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestParseRanges(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       string // the prefixes, separated by spaces
	}{
		{"Google, Microsoft, Apple, OpenAI", `{"creationTime": "2026-01-02T03:04:05.000000",
			"prefixes": [{"ipv6Prefix": "2001:db8:4860:4801::/64"}, {"ipv4Prefix": "192.0.2.0/27"}]}`,
			"2001:db8:4860:4801::/64 192.0.2.0/27"},
		{"with more about each", `{"prefixes": [{"ipv4Prefix": "192.0.2.0/27", "service": "Foo", "scope": "eu-1"}]}`, "192.0.2.0/27"},
		{"Common Crawl", `{"creationTime": "2026-01-02", "synctoken": "1", "notes": ["for IPv4, ask DNS"], "prefixes": [{"ipv4Prefix": "192.0.2.0/29"}]}`, "192.0.2.0/29"},
		{"AWS", `{"syncToken": "1", "prefixes": [{"ip_prefix": "192.0.2.0/24", "region": "x"}], "ipv6_prefixes": [{"ipv6_prefix": "2001:db8::/48"}]}`,
			"192.0.2.0/24 2001:db8::/48"},
		{"Datadog", `{"version": 7, "modified": "2026-01-02", "synthetics": {"prefixes_ipv4": ["192.0.2.1/32"],
			"prefixes_ipv4_by_location": {"aws:x": ["192.0.2.1/32"]}, "prefixes_ipv6": ["2001:db8::/64"]}}`, "192.0.2.1/32 2001:db8::/64"},
		{"Better Stack", `{"us": ["192.0.2.1", "192.0.2.2"], "eu": ["2001:db8::7"]}`, "2001:db8::7/128 192.0.2.1/32 192.0.2.2/32"},
		{"Ahrefs, addresses", `{"ips": [{"ip_address": "192.0.2.1"}]}`, "192.0.2.1/32"},
		{"both families of an entry, or none of one", `{"prefixes": [{"ipv4Prefix": "192.0.2.0/27", "ipv6Prefix": "2001:db8::/64"}, {"ipv4Prefix": "192.0.2.32/27", "ipv6Prefix": null}]}`,
			"192.0.2.0/27 2001:db8::/64 192.0.2.32/27"},
		{"an array", ` ["192.0.2.1", "2001:db8::/32"] `, "192.0.2.1/32 2001:db8::/32"},

		{"Integral Ad Science", `{"publicIPs": [{"ipv4": "192.0.2.1"}, {"ipv4": "192.0.2.2"}]}`, "192.0.2.1/32 192.0.2.2/32"},

		{"Amazon, a page with code", `<!doctype html><html><head><script>window.config = {"prefixes": "none", "a": [1, 2]}.a;</script>` +
			`<script type="application/ld+json">{"@type": "WebPage"}</script></head><body><p>203.0.113.77 {"prefixes": []}</p><pre><code class="json">` + "\n" +
			`{ "creationTime": "2026-09-04T00:00:00", "prefixes": [ {"ip_prefix": "192.0.2.1"}, {"ip_prefix": "192.0.2.4/30"} ] }` + "\n</code></pre>", "192.0.2.1/32 192.0.2.4/30"},
		{"a page with code alone", `<code>{"prefixes": [{"ipv4Prefix": "192.0.2.0/27"}]}</code>`, "192.0.2.0/27"},
		{"a page with its code in colours", `<pre>{<span>"prefixes"</span>: [{<b>"ipv4Prefix"</b>: "<i>192.0.2.0/27</i>"}]}</pre>`, "192.0.2.0/27"},
		{"a page with escaped code", `<pre>{&quot;prefixes&quot;: [{&#34;ipv4Prefix&#x22;: &quot;192.0.2.0&#47;27&quot;}]}</pre>`, "192.0.2.0/27"},
		{"a page with code that is escaped twice", `<pre>{&amp;quot;prefixes&amp;quot;: [{&amp;quot;ipv4Prefix&amp;quot;: &amp;quot;192.0.2.0/27&amp;quot;}]}</pre>`, "192.0.2.0/27"},
		{"a page with a script", `<html><script type="application/json">{"prefixes": [{"ipv6Prefix": "2001:db8::/32"}]}</script>`, "2001:db8::/32"},
		{"a page with an escaped script", `<html><script type="application/json">{&quot;prefixes&quot;: [{&quot;ipv6Prefix&quot;: &quot;2001:db8::/32&quot;}]}</script>`, "2001:db8::/32"},
		{"a page with a variable", `<html><script>const x = [1]; const list = {"prefixes": [{"ipv4Prefix": "192.0.2.0/27"}]};</script>`, "192.0.2.0/27"},
		{"a page with two lists", `<pre>{"prefixes": [{"ipv4Prefix": "192.0.2.0/27"}]}</pre><pre>{"prefixes": [{"ipv6Prefix": "2001:db8::/32"}]}</pre>`, "192.0.2.0/27 2001:db8::/32"},
		{"a page whose code is not closed", `<pre>{"prefixes": [{"ipv4Prefix": "192.0.2.0/27"}]}`, "192.0.2.0/27"},

		{"lines", "192.0.2.0/24\n192.0.2.7\n2001:db8::/32\n", "192.0.2.0/24 192.0.2.7/32 2001:db8::/32"},
		{"comments and blank lines", "# a list\r\n\r\n; of\n// ours\n192.0.2.7 # one\n\t 192.0.2.8\n", "192.0.2.7/32 192.0.2.8/32"},
		{"geofeed", "192.0.2.0/24,US,US-CA,Mountain View,\n2001:db8::/32,DE,,,\n", "192.0.2.0/24 2001:db8::/32"},
		{"no newline at the end, byte order mark", "\ufeff192.0.2.7", "192.0.2.7/32"},
		{"bits beyond the length", "192.0.2.7/24", "192.0.2.0/24"},
		{"IPv4-mapped", "::ffff:192.0.2.7\n::ffff:192.0.2.0/120", "192.0.2.7/32 192.0.2.0/24"},
	} {
		got, err := ParseRanges([]byte(tc.text))
		var all []string
		for _, p := range got {
			all = append(all, p.String())
		}
		if strings.Join(all, " ") != tc.want || err != nil {
			t.Errorf("%s: %v, %v; want %s", tc.name, all, err, tc.want)
		}
	}
}

func TestParseRangesFails(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "list is empty"},
		{"comments only", "# nothing\n", "list is empty"},
		{"empty JSON", "{}", "unknown format"},
		{"no prefixes", `{"prefixes": []}`, "list is empty"},
		{"an error in JSON", `{"error": "not found"}`, "unknown format"},
		{"a page", "<!DOCTYPE html>\n<title>Not found</title>", "web page without an address list"},
		{"a page with the client's address", `<html><p>203.0.113.77 is blocked</p><pre>203.0.113.77</pre><code>["203.0.113.77"]</code>`, "web page without"},
		{"a page with the client's address in a script", `<html><script>var t = {"client": {"ip": "203.0.113.77"}, "ips": 1}; var x = ["203.0.113.77"];</script>`, "web page without"},
		{"a page with a list within other data", `<html><script>{"props": {"prefixes": [{"ipv4Prefix": "192.0.2.0/27"}]}}</script>`, "web page without"},
		{"a page with a list outside of code", `<html><p>{"prefixes": [{"ipv4Prefix": "192.0.2.0/27"}]}</p>`, "web page without"},
		{"a page with a list in a comment", `<html><!-- <pre>{"prefixes": [{"ipv4Prefix": "192.0.2.0/27"}]}</pre> -->`, "web page without"},
		{"a page with half a list", `<pre>{"prefixes": [{"ipv4Prefix": "192.0.2.0/27"}, {"ipv4Prefix": "x"}]}</pre>`, `in the page: JSON: prefixes, entry 1: "ipv4Prefix" is "x"`},
		{"a page that is cut off in its list", `<pre>{"prefixes": [{"ipv4Prefix": "192.0.2.0/27"}, {"ipv4`, "web page without"},
		{"a page with an empty list", `<pre>{"prefixes": []}</pre>`, "web page without"},
		{"half a page", "192.0.2.1\n\n<html>", `line 3: "<html>" is not an address`},
		{"cut off", `{"prefixes": [{"ipv4Prefix": "192.0.2.0/27"}, {"ipv`, "JSON"},
		{"an error with the asker's address", `{"error": "too many requests", "client_ip": "203.0.113.77"}`, "unknown format"},
		{"an error with a list in it", `{"error": "blocked", "addresses": ["203.0.113.77"]}`, "unknown format"},
		{"an error that is a list", `{"errors": ["203.0.113.77 is blocked"]}`, "unknown format"},
		{"an error with one", `{"ip": ["203.0.113.77"]}`, "unknown format"},
		{"an address somewhere below", `{"request": {"client": {"ip": "203.0.113.77"}}, "status": 200}`, "unknown format"},
		{"an address beside the prefixes", `{"prefixes": [], "ip_address": "203.0.113.77"}`, "list is empty"},
		{"no array", `{"prefixes": "192.0.2.0/24"}`, "prefixes: "},
		{"prefixes that are not called so", `{"prefixes": [{"ipv4Prefix": "192.0.2.0/27"}, {"client_ip": "203.0.113.77"}]}`, "entry 1 has none of"},
		{"a number", `{"prefixes": [{"ipv4Prefix": 192}]}`, "is not a string"},
		{"an array with something else", `["192.0.2.1", "x"]`, `entry 1: "x" is not an address`},
		{"an array with nothing", `["192.0.2.1", null]`, "entry 1 is null"},
		{"regions with something else", `{"us": ["192.0.2.1"], "eu": "none"}`, "eu: "},
		{"a product with something else", `{"synthetics": {"prefixes_ipv4": ["192.0.2.1/32", "x"]}}`, `entry 1: "x" is not an address`},
		{"two lists in a row", `["192.0.2.1"] ["192.0.2.2"]`, "JSON"},
		{"a sentence", "203.0.113.77 is blocked", `"203.0.113.77 is blocked" is not an address`},
		{"a sentence with a comma", "203.0.113.77, you are blocked", "not a country"},
		{"not closed", `{"prefixes": [{"ipv4Prefix": "192.0.2.0/27"}`, "JSON"},
		{"wrong brackets", `[}`, "JSON"},
		{"no prefix where one must be", `{"prefixes": [{"ipv4Prefix": "192.0.2.0/27"}, {"ipv4Prefix": "192.0.2.0/33"}]}`, `"ipv4Prefix" is "192.0.2.0/33"`},
		{"zone", "fe80::1%eth0", "is not an address"},
		{"too long", strings.Repeat("#", MaxListBytes+1), "longer than"},
		{"all of IPv4, mapped", "::ffff:0:0/90", "is not an address"},
		{"a range with a dash", "192.0.2.1-192.0.2.9", "is not an address"},
	} {
		if got, err := ParseRanges([]byte(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, %v; want an error with %q", tc.name, got, err, tc.want)
		}
	}
}

func TestPlausibility(t *testing.T) {
	var half []string // of the Internet, in allowed pieces
	for i := 1; i < 100; i++ {
		half = append(half, fmt.Sprintf("%d.0.0.0/8", i))
	}
	for _, tc := range []struct {
		name, list string
		want       string // an error, "" if plausible
	}{
		{"an address", "192.0.2.1", ""},
		{"widest", "20.0.0.0/8 2600::/16", ""},
		{"all", "0.0.0.0/0", "wide"},
		{"half", "128.0.0.0/1", "wide"},
		{"a bit too wide", "20.0.0.0/7", "wide"},
		{"all of IPv6", "::/0", "wide"},
		{"a bit too wide for IPv6", "2600::/15", "wide"},
		{"one wide among many", "192.0.2.0/24 0.0.0.0/1 198.51.100.0/24", "wide"},
		{"in pieces", strings.Join(half, " "), "large part"},
		{"in pieces of IPv6", "2600::/16 2601::/16 2602::/16 2603::/16 2604::/16", "large part"},
		{"private", "10.0.0.0/8 fd00::/16", ""},
		{"none", "", "list is empty"},
	} {
		_, err := newPrefixTable(prefixes(tc.list))
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", tc.name, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: %v, want an error with %q", tc.name, err, tc.want)
		}
	}
}

func prefixes(list string) (parsed []netip.Prefix) {
	for p := range strings.FieldsSeq(list) {
		prefix, ok := parsePrefix(p)
		if !ok {
			panic(p)
		}
		parsed = append(parsed, prefix)
	}
	return parsed
}

func TestShrinking(t *testing.T) {
	for _, tc := range []struct {
		name, from, to string
		want           bool
	}{
		{"same", "192.0.2.0/25 198.51.100.0/25", "198.51.100.0/25 192.0.2.0/25", false},
		{"more", "192.0.2.0/25", "192.0.2.0/25 198.51.100.0/25", false},
		{"half is gone", "192.0.2.0/25 198.51.100.0/25", "192.0.2.0/25", false},
		{"most is gone", "192.0.2.0/25 198.51.100.0/25 203.0.113.0/25", "192.0.2.0/25", true},
		{"all is other", "192.0.2.0/25", "198.51.100.0/25", true},
		{"merged", "192.0.2.0/25 192.0.2.128/25 2001:db8::/33 2001:db8:8000::/33", "192.0.2.0/24 2001:db8::/32", false},
		{"split", "192.0.2.0/24", "192.0.2.0/25 192.0.2.128/25", false},
	} {
		from, _ := newPrefixTable(prefixes(tc.from))
		to, _ := newPrefixTable(prefixes(tc.to))
		if got := from.losesMostIn(to); got != tc.want {
			t.Errorf("%s: %t, want %t", tc.name, got, tc.want)
		}
	}
}

// A list either fails or is what a naive reading of it has.
func FuzzParseRanges(f *testing.F) {
	for _, seed := range []string{
		"", "192.0.2.0/24\n2001:db8::/32", `{"prefixes":[{"ipv4Prefix":"192.0.2.0/27"},{"ipv6Prefix":"2001:db8::/64"}]}`,
		`["192.0.2.1"]`, `{"us":["192.0.2.1"]}`, "# x\n192.0.2.7/24,US", "[[[[[[[[", `{"a":{"b":[{"ip":"::ffff:192.0.2.1"}]}}`,
		`{"a`, "::ffff:192.0.2.0/120", "192.0.2.1;x", "0.0.0.0/0",
		`<pre>{"prefixes":[{"ipv4Prefix":"192.0.2.0/27"}]}</pre>`, `<script>x={&quot;ips&quot;:[{"ip_address":1}]}`, "<pre><code></pre></code>{", "<code>" + strings.Repeat("{", 99),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ParseRanges(data)
		if (err == nil) != (len(got) > 0) {
			t.Fatalf("%d prefixes and %v", len(got), err)
		}
		for _, p := range got {
			if !p.IsValid() || p != p.Masked() || p.Addr().Is4In6() || p.Addr().Zone() != "" {
				t.Fatalf("prefix %v", p)
			}
		}
		list, err := newPrefixTable(got)
		if err != nil {
			return
		}
		for _, p := range got[:min(len(got), 100)] {
			addr := p.Addr()
			naive := slices.ContainsFunc(list.prefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
			if list.contains(addr) != naive || !naive {
				t.Fatalf("%s: contains returns %t, linear search %t", addr, list.contains(addr), naive)
			}
		}
	})
}
