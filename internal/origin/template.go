package origin

import "strings"

// HostPlaceholder stands in a location for the host that a request is for.
const HostPlaceholder = "{host}"

// KeyFor returns the key of a location for a host, by the key for all hosts.
func KeyFor(key, host string) string { return strings.ReplaceAll(key, HostPlaceholder, host) }

// IsKeyOf reports whether a key is that of some host, by the key for all hosts.
func IsKeyOf(key, all string) bool {
	before, _, ok := strings.Cut(all, HostPlaceholder)
	if !ok || !strings.HasPrefix(key, before) {
		return key == all
	}
	for end := len(before); end <= len(key); end++ {
		if KeyFor(all, key[len(before):end]) == key {
			return true
		}
	}
	return false
}

// ChoosesServer reports whether by the key of a location the host decides which server
// is asked.
func ChoosesServer(key string) bool {
	_, rest, _ := strings.Cut(key, "://")
	authority, _, _ := strings.Cut(rest, "/")
	return strings.Contains(authority, HostPlaceholder)
}
