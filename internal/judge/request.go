package judge

import (
	"net/http"
	"path"
	"strings"
)

// IsACMEChallenge reports whether a certificate validator asks for its token
// (RFC 8555 section 8.3). It is no crawler, whatever it calls itself. The path
// is the decoded one, without the query.
func IsACMEChallenge(method, p string) bool {
	if method != http.MethodGet && method != http.MethodHead {
		return false
	}
	if !strings.Contains(p, "acme-challenge") {
		return false
	}
	directory, token := path.Split(path.Clean("/" + p))
	return directory == "/.well-known/acme-challenge/" && token != "" && !strings.HasSuffix(p, "/")
}

// IsReading reports whether a client that asked for the robots.txt knows the
// rules now: it got the file, or learnt that its copy holds or that there is
// none. HEAD, a part of the file and a redirect to elsewhere tell nobody what is
// in it.
func IsReading(method string, status int) bool {
	if method != http.MethodGet {
		return false
	}
	switch status {
	case http.StatusOK, http.StatusNotModified, http.StatusNotFound, http.StatusGone:
		return true
	}
	return false
}
