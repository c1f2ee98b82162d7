package addr

import "strings"

// Authority returns the host and port of a URL as they stand there, without the user and
// the password that may stand before them, "" for a path.
func Authority(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return rest[strings.LastIndexByte(rest, '@')+1:]
}

// CutPort divides an authority into the host and the port with its colon, "" if
// it has none. Unlike [net.SplitHostPort] it takes whatever a client sends.
func CutPort(authority string) (host, port string) {
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.Contains(authority[i:], "]") {
		return authority[:i], authority[i:]
	}
	return authority, ""
}

// Unbracket returns a host without the brackets that an IPv6 address has in an
// authority.
func Unbracket(host string) string {
	if n := len(host); n > 1 && host[0] == '[' && host[n-1] == ']' {
		return host[1 : n-1]
	}
	return host
}
