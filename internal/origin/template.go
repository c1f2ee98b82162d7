package origin

import "strings"

// HostPlaceholder stands for the host of the request in a location.
const HostPlaceholder = "{host}"

// KeyFor returns the key of a location for one host. key is the key for all hosts.
func KeyFor(key, host string) string { return strings.ReplaceAll(key, HostPlaceholder, host) }

// IsKeyOf reports whether key is the key of some host for the location with the key all.
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

// ChoosesServer reports whether the host of the request decides which server gets the fetch.
func ChoosesServer(key string) bool {
	_, rest, _ := strings.Cut(key, "://")
	authority, _, _ := strings.Cut(rest, "/")
	return strings.Contains(authority, HostPlaceholder)
}
