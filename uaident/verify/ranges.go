package verify

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// MaxListBytes is the maximum size of an address list in bytes.
const MaxListBytes = 1 << 20

// ParseRanges parses an address list and returns its prefixes in order. A single address is a
// prefix of full length. ParseRanges ignores bits after the prefix length, and converts
// IPv4-mapped IPv6 addresses to IPv4. It accepts only the formats below, because an error
// page can contain the address of the requesting server. A list that begins with { or [ must
// be JSON in one of these formats:
//
//   - {"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv6Prefix": "2001:db8::/32"}]} with
//     any other fields, as of Google, Microsoft, Apple, OpenAI, Ahrefs and Common Crawl. AWS
//     uses the names ip_prefix and ipv6_prefix, the latter in an array ipv6_prefixes.
//   - {"ips": [{"ip_address": "192.0.2.1"}]} as of Ahrefs, or {"publicIPs": [{"ipv4":
//     "192.0.2.1"}]} as of Integral Ad Science.
//   - {"synthetics": {"prefixes_ipv4": ["192.0.2.1/32"], "prefixes_ipv6": []}} as of Datadog.
//     Its lists by location are subsets of these.
//   - {"us": ["192.0.2.1"], "eu": ["2001:db8::7"]}: arrays by region of two letters, at least
//     two of them, as of Better Stack.
//   - ["192.0.2.1", "2001:db8::/32"].
//
// A list that begins with < is a web page. ParseRanges reads JSON objects of the first two
// formats in its pre, code and script elements, as of Amazon.
//
// Other lists have one prefix or address a line, as of Telegram, Pingdom and UptimeRobot. A
// comma and a country may follow, as in geofeeds (RFC 8805). Blank lines, comments after #,
// and lines that begin with ; or // are ignored.
//
// ParseRanges returns an error with the position for a list that is too long, contains no
// prefix or contains an invalid entry. Half a list would deny the crawlers in the other half.
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
		return nil, errors.New("the list is empty")
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
			return nil, fmt.Errorf("line %d: %.60q is not an address or prefix", number, first)
		}
		if country, _, _ := strings.Cut(rest, ","); more && !isCountry(strings.TrimSpace(country)) {
			return nil, fmt.Errorf("line %d: %.60q after the prefix is not a country code of two letters", number, rest)
		}
		prefixes = append(prefixes, prefix)
	}
	return prefixes, nil
}

// isCountry reports whether s can be the second field of a geofeed, which may be empty (RFC 8805
// section 2.1.1.2).
func isCountry(s string) bool { return s == "" || isRegion(s) }

// isRegion reports whether s consists of two ASCII letters.
func isRegion(s string) bool {
	letter := func(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
	return len(s) == 2 && letter(s[0]) && letter(s[1])
}

// parsePrefix parses an address or a prefix. The result for an address is a prefix of full length.
// ok is false for other text.
func parsePrefix(s string) (_ netip.Prefix, ok bool) {
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
