package origin

import (
	"fmt"
	"strings"
)

// HostPlaceholder stands in a location for the host that a request is for.
const HostPlaceholder = "{host}"

// HasHost reports whether a location is another one for each host.
func (l *Location) HasHost() bool {
	return l != nil && strings.Contains(l.URL+l.Host, HostPlaceholder)
}

// checkPlaceholders refuses those that nothing is filled in for. With its braces a path leads
// to no file and a URL to a 404, which both restrict nothing.
func (l *Location) checkPlaceholders(option string) error {
	if strings.Contains(l.File, HostPlaceholder) {
		return fmt.Errorf("%s file: %s is not filled in, since one file is for all hosts of the site; name it without that", option, HostPlaceholder)
	}
	for _, s := range []string{KeyFor(l.URL, ""), KeyFor(l.Host, ""), l.File} {
		_, rest, _ := strings.Cut(s, "{")
		switch name, _, ok := strings.Cut(rest, "}"); {
		case !ok:
		case strings.HasPrefix(name, "env."):
			return fmt.Errorf("%s: {%s} is not filled in; an environment variable is written as {$NAME} in a Caddyfile", option, name)
		default:
			return fmt.Errorf("%s: {%s} is not filled in; write what it stands for", option, name)
		}
	}
	return nil
}

// key returns what identifies the location, as a Caddyfile has it.
func (l *Location) key() string {
	if l.Host == "" {
		return l.URL + l.File // one of the two
	}
	return l.URL + behindURL + l.Host
}

// behindURL stands between a URL and the host that is asked for there.
const behindURL = " host "

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
