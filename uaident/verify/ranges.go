package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
)

// MaxListBytes is how long a list of addresses may be.
const MaxListBytes = 1 << 20

// ParseRanges returns the prefixes of a list of addresses, in their order. An
// address stands for itself alone. Bits beyond a prefix's length are ignored, and
// IPv4-mapped IPv6 addresses are IPv4 addresses. It reads two formats:
//
//   - JSON, if the text begins with { or [: each string that is an element of an
//     array, or the value of a name that speaks of addresses (it contains "prefix",
//     "cidr" or "addr", or is, begins or ends with "ip"), is a prefix or an address if it
//     is one. This covers
//     {"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv6Prefix": "2001:db8::/32"}]},
//     which Google, Microsoft, Apple, OpenAI and others publish, and the arrays of
//     Datadog and Better Stack. What such a name calls a prefix must be one.
//   - Plain text otherwise: a prefix or an address a line, then nothing or what a
//     space, tab, comma or semicolon separates from it, so that geofeeds (RFC 8805)
//     can be read. Blank lines and what follows # are ignored, as are lines that
//     begin with ; or //.
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
	if len(data) > 0 && (data[0] == '{' || data[0] == '[') {
		prefixes, err = parseJSON(data)
	} else {
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
		if i := strings.IndexAny(line, " \t,;"); i >= 0 {
			line = line[:i]
		}
		prefix, ok := parsePrefix(line)
		if !ok {
			return nil, fmt.Errorf("line %d: %.60q is neither an address nor a prefix", number, line)
		}
		prefixes = append(prefixes, prefix)
	}
	return prefixes, nil
}

// parseJSON reads token by token, so that nesting costs no stack.
func parseJSON(data []byte) (prefixes []netip.Prefix, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var arrays []bool // of the open brackets, innermost last: whether an array
	name, isName := "", false
	for {
		token, err := d.Token()
		if err == io.EOF && len(arrays) == 0 {
			return prefixes, nil
		}
		if err != nil {
			return nil, fmt.Errorf("JSON: %w", err)
		}
		inArray := len(arrays) > 0 && arrays[len(arrays)-1]
		switch token := token.(type) {
		case json.Delim:
			switch token {
			case '{', '[':
				arrays = append(arrays, token == '[')
			default:
				arrays = arrays[:len(arrays)-1]
			}
			isName = len(arrays) > 0 && !arrays[len(arrays)-1]
			continue
		case string:
			if isName && !inArray {
				name, isName = token, false
				continue
			}
			prefix, ok := parsePrefix(token)
			switch {
			case ok && (inArray || speaksOfAddresses(name)):
				prefixes = append(prefixes, prefix)
			case !ok && !inArray && strings.HasSuffix(strings.ToLower(name), "prefix"):
				return nil, fmt.Errorf("JSON: %.40q is %.60q, which is neither an address nor a prefix", name, token)
			}
		}
		isName = !inArray
	}
}

func speaksOfAddresses(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"prefix", "cidr", "addr"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return strings.HasPrefix(name, "ip") || strings.HasSuffix(name, "ip")
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
