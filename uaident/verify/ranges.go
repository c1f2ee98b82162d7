package verify

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// MaxListBytes is how long a list of addresses may be.
const MaxListBytes = 1 << 20

// ParseRanges returns the prefixes of a list of addresses, in their order. An
// address stands for itself alone. Bits beyond a prefix's length are ignored, and
// IPv4-mapped IPv6 addresses are IPv4 addresses. It reads what operators are known
// to publish, and nothing that only looks like it, for an error page may have an
// address in it: that of whoever asked. A text that begins with { or [ is JSON,
// and one of these:
//
//   - {"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv6Prefix": "2001:db8::/32"}]},
//     with whatever else beside them, as Google, Microsoft, Apple, OpenAI, Ahrefs,
//     Common Crawl and others publish. The names ip_prefix and ipv6_prefix, the
//     latter in an array ipv6_prefixes, are those of AWS.
//   - {"ips": [{"ip_address": "192.0.2.1"}]}, the other list of Ahrefs, or
//     {"publicIPs": [{"ipv4": "192.0.2.1"}]}, that of Integral Ad Science.
//   - {"synthetics": {"prefixes_ipv4": ["192.0.2.1/32"], "prefixes_ipv6": []}}, as
//     Datadog publishes. What is there by location is there in these, too.
//   - {"us": ["192.0.2.1"], "eu": ["2001:db8::7"]}: arrays by a region of two
//     letters, at least two of them, as Better Stack publishes.
//   - ["192.0.2.1", "2001:db8::/32"].
//
// A text that begins with < is a web page. Its lists are the JSON objects of the first two
// forms in its pre, code and script elements, as Amazon publishes.
//
// Other text has a prefix or an address a line, as Telegram, Pingdom and
// UptimeRobot publish. A comma and the country may follow, with more behind it, so
// that geofeeds (RFC 8805) can be read. Blank lines and what follows # are ignored,
// as are lines that begin with ; or //.
//
// It returns an error that says where for a text that is too long, has no prefix
// at all, or has something else in the place of one: half a list would make liars
// of crawlers that the other half has.
func ParseRanges(data []byte) ([]netip.Prefix, error) {
	if len(data) > MaxListBytes {
		return nil, fmt.Errorf("the list is longer than %d bytes", MaxListBytes)
	}
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	var prefixes []netip.Prefix
	var err error
	switch {
	case len(data) > 0 && (data[0] == '{' || data[0] == '['):
		prefixes, err = parseJSON(data)
	case len(data) > 0 && data[0] == '<':
		prefixes, err = parseHTML(data)
	default:
		prefixes, err = parseLines(string(data))
	}
	if err != nil {
		return nil, err
	}
	if len(prefixes) == 0 {
		return nil, errors.New("the list has no address")
	}
	return prefixes, nil
}

func parseLines(text string) (prefixes []netip.Prefix, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if line == "" || line[0] == ';' || strings.HasPrefix(line, "//") {
			continue
		}
		first, rest, more := strings.Cut(line, ",")
		prefix, ok := parsePrefix(first)
		if !ok {
			return nil, fmt.Errorf("line %d: %.60q is neither an address nor a prefix", number, first)
		}
		if country, _, _ := strings.Cut(rest, ","); more && !isCountry(strings.TrimSpace(country)) {
			return nil, fmt.Errorf("line %d: %.60q behind the prefix is no country of two letters, as in a geofeed", number, rest)
		}
		prefixes = append(prefixes, prefix)
	}
	return prefixes, nil
}

// isCountry reports whether s may be the second field of a geofeed, which may be
// empty (RFC 8805 section 2.1.1.2).
func isCountry(s string) bool { return s == "" || isRegion(s) }

// isRegion reports whether s is two letters.
func isRegion(s string) bool {
	letter := func(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
	return len(s) == 2 && letter(s[0]) && letter(s[1])
}

// parsePrefix reads an address or a prefix.
func parsePrefix(s string) (netip.Prefix, bool) {
	s = strings.TrimSpace(s)
	if !strings.Contains(s, "/") {
		addr, err := netip.ParseAddr(s)
		if err != nil || addr.Zone() != "" {
			return netip.Prefix{}, false
		}
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), true
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return netip.Prefix{}, false
	}
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return netip.Prefix{}, false
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), true
}
