package judge

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Request is a request that is judged, with what is known of who sends it.
type Request struct {
	Client   uaident.Identity // what its User-Agent says
	Identity verify.State     // how sure it is that the client is who it says
	Method   string           // GET if not known
	Target   string           // as sent: a path with or without a query, or a URL
	// Path is the decoded path without the query; that of Target if it is empty.
	Path string
	// Token, if it is not empty, asks about a client by this product token alone, one
	// that obeys the * group; "*" is one that no group names. Client is then only what
	// settings such as exempt choose it by, if it has a name.
	Token string
	// Names are those of the Client as [uaident.Identity.AppendChain] has them, nil to have
	// them looked up. They are not changed.
	Names []string
	// Bound keeps what is found of the client in the robots.txt, for the next
	// request by the same client and file. It may be nil.
	Bound *Bound
}

// ControlToken returns the control token of the crawler's operator, as
// [uaident.Crawler.ControlToken] does.
func (r *Request) ControlToken() string {
	if r.Client.Crawler == nil && r.Token != "" {
		return uaident.Default().Lookup(r.Token).ControlToken()
	}
	return r.Client.Crawler.ControlToken()
}

// hasClient reports whether Client says who asks, so that settings can choose it.
func (r *Request) hasClient() bool { return r.Token == "" || r.Client.Token != "" }

// DecodedPath returns the path without the query and with its escapes decoded: Path, or if
// that is not known what the target says, "/" for a URL without a path.
func (r *Request) DecodedPath() string {
	if r.Path != "" {
		return r.Path
	}
	p := r.Target
	if scheme, rest, ok := strings.Cut(p, "://"); ok && !strings.ContainsAny(scheme, "/:") {
		i := strings.IndexAny(rest, "/?")
		if i < 0 || rest[i] == '?' {
			return "/"
		}
		p = rest[i:]
	}
	p, _, _ = strings.Cut(p, "?")
	if decoded, err := url.PathUnescape(p); err == nil {
		return decoded
	}
	return p
}

// isOpaque reports whether the target is a URL without a slash behind its scheme,
// as x:public/ is: no path here, but a proxy passes it on as it is.
func (r *Request) isOpaque() bool {
	if strings.HasPrefix(r.Target, "/") {
		return false
	}
	u, err := url.ParseRequestURI(r.Target)
	return err == nil && u.Opaque != ""
}

// robotsTxt is where the rules stand (RFC 9309 section 2.3).
const robotsTxt = "/robots.txt"

// acmeChallenges is the directory of the tokens of certificate validation.
const acmeChallenges = "/.well-known/acme-challenge/"

// IsACMEChallenge reports whether a request is for a token of certificate
// validation (RFC 8555 section 8.3). A validator is no crawler, whatever its
// User-Agent says. The target is the request target as sent, in exactly this
// spelling: an escape or a dot segment may lead to another page. An empty method
// is GET.
func IsACMEChallenge(method, target string) bool {
	if method != http.MethodGet && method != http.MethodHead && method != "" {
		return false
	}
	rest, ok := strings.CutPrefix(target, acmeChallenges)
	if !ok {
		return false
	}
	token, _, _ := strings.Cut(rest, "?")
	return token != "" && !strings.ContainsFunc(token, notInToken)
}

// notInToken reports whether a character cannot stand in a token (RFC 8555
// section 8.1).
func notInToken(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
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
