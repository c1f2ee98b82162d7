package site

import "strings"

// HostPlaceholder stands for the host of the request in a location.
const HostPlaceholder = "{host}"

// KeyForHost returns the key of a location for one host. key is the key for all hosts.
func KeyForHost(key, host string) string { return strings.ReplaceAll(key, HostPlaceholder, host) }

// KeyMatchesTemplate reports whether key is the key of some host for a location with placeholders.
func KeyMatchesTemplate(key, template string) bool {
	prefix, _, ok := strings.Cut(template, HostPlaceholder)
	if !ok || !strings.HasPrefix(key, prefix) {
		return key == template
	}
	for end := len(prefix); end <= len(key); end++ {
		if KeyForHost(template, key[len(prefix):end]) == key {
			return true
		}
	}
	return false
}

// HostSelectsServer reports whether the host of the request decides which server gets the fetch.
func HostSelectsServer(key string) bool {
	_, rest, _ := strings.Cut(key, "://")
	authority, _, _ := strings.Cut(rest, "/")
	return strings.Contains(authority, HostPlaceholder)
}
