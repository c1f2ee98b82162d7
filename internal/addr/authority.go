package addr

import "strings"

// AuthorityOfURL returns the host and port of a URL unchanged, without user and password.
// AuthorityOfURL returns "" for a string without "://", such as a path.
func AuthorityOfURL(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return rest[strings.LastIndexByte(rest, '@')+1:]
}

// SplitPort splits an authority into the host and the port with its colon. port is "" for an
// authority without a port. Unlike [net.SplitHostPort], SplitPort accepts any input.
func SplitPort(authority string) (host, port string) {
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.Contains(authority[i:], "]") {
		return authority[:i], authority[i:]
	}
	return authority, ""
}

// Unbracket returns a host without the brackets of an IPv6 address.
func Unbracket(host string) string {
	if n := len(host); n > 1 && host[0] == '[' && host[n-1] == ']' {
		return host[1 : n-1]
	}
	return host
}
