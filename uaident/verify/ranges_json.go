package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
)

// listFormat is a format of JSON address lists. array is the name of the array of objects, and
// members are the names of their fields with a prefix or address.
type listFormat struct {
	array   string
	members []string
}

var listFormats = []listFormat{
	{"prefixes", []string{"ipv4Prefix", "ipv6Prefix", "ip_prefix"}},
	{"ipv6_prefixes", []string{"ipv6_prefix"}},
	{"ips", []string{"ip_address"}},
	{"publicIPs", []string{"ipv4", "ipv6"}},
}

// parseJSON parses a JSON list in a format of [ParseRanges].
func parseJSON(data []byte) ([]netip.Prefix, error) {
	if data[0] == '[' {
		return parseArray("the list", data)
	}
	var list map[string]json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("JSON: %w", err)
	}
	recognized := false
	var merged []netip.Prefix
	for _, s := range listFormats {
		if array, ok := list[s.array]; ok {
			prefixes, err := s.parseEntries(array)
			if err != nil {
				return nil, err
			}
			recognized, merged = true, append(merged, prefixes...)
		}
	}
	if recognized {
		return merged, nil
	}
	names := slices.Sorted(maps.Keys(list))
	for _, name := range names {
		var product struct {
			IPv4 json.RawMessage `json:"prefixes_ipv4"`
			IPv6 json.RawMessage `json:"prefixes_ipv6"`
		}
		if json.Unmarshal(list[name], &product) != nil {
			continue // The list does not have this format.
		}
		for _, field := range []struct {
			name  string
			array json.RawMessage
		}{{"prefixes_ipv4", product.IPv4}, {"prefixes_ipv6", product.IPv6}} {
			if field.array == nil {
				continue
			}
			prefixes, err := parseArray(field.name, field.array)
			if err != nil {
				return nil, err
			}
			recognized, merged = true, append(merged, prefixes...)
		}
	}
	if recognized {
		slices.SortFunc(merged, netip.Prefix.Compare)
		return merged, nil
	}
	if len(names) < 2 || slices.ContainsFunc(names, func(name string) bool { return !isRegion(name) }) {
		return nil, errors.New(`JSON: unknown format; an address list is, for example, {"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}]}`)
	}
	for _, name := range names {
		prefixes, err := parseArray(name, list[name])
		if err != nil {
			return nil, err
		}
		merged = append(merged, prefixes...)
	}
	return merged, nil
}

// parseEntries parses the array of a list. Each object must have at least one of the members.
func (s listFormat) parseEntries(array json.RawMessage) (prefixes []netip.Prefix, err error) {
	var entries []map[string]json.RawMessage
	if err := json.Unmarshal(array, &entries); err != nil {
		return nil, fmt.Errorf("JSON: %s: %w", s.array, err)
	}
	for i, entry := range entries {
		numBefore := len(prefixes)
		for _, name := range s.members {
			value, ok := entry[name]
			if !ok || string(value) == "null" {
				continue
			}
			var text string
			if err := json.Unmarshal(value, &text); err != nil {
				return nil, fmt.Errorf("JSON: %s, entry %d: %s is not a string", s.array, i, name)
			}
			prefix, ok := parsePrefix(text)
			if !ok {
				return nil, fmt.Errorf("JSON: %s, entry %d: %q is %.60q, which is not an address or prefix", s.array, i, name, text)
			}
			prefixes = append(prefixes, prefix)
		}
		if len(prefixes) == numBefore {
			return nil, fmt.Errorf("JSON: %s, entry %d has none of %q", s.array, i, s.members)
		}
	}
	return prefixes, nil
}

// parseArray parses a JSON array of prefixes and addresses. name is the name of the array in
// errors.
func parseArray(name string, array json.RawMessage) (prefixes []netip.Prefix, err error) {
	var texts []*string
	if err := json.Unmarshal(array, &texts); err != nil {
		return nil, fmt.Errorf("JSON: %s: %w", name, err)
	}
	for i, text := range texts {
		if text == nil {
			return nil, fmt.Errorf("JSON: %s, entry %d is null", name, i)
		}
		prefix, ok := parsePrefix(*text)
		if !ok {
			return nil, fmt.Errorf("JSON: %s, entry %d: %.60q is not an address or prefix", name, i, *text)
		}
		prefixes = append(prefixes, prefix)
	}
	return prefixes, nil
}
