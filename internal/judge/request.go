package judge

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Request is a request to judge, with the identity of its client.
type Request struct {
	Client       uaident.Identity // Client is the client that the User-Agent identifies.
	Verification verify.State     // Verification says whether the claimed name is verified.
	Method       string           // Method is the request method. "" means GET.
	Target       string           // Target is the request target as sent: a path with an optional query, or a URL.
	// Path is the decoded path without the query. If it is empty, the path of Target is used.
	Path string
	// Token, if not empty, is the product token to use instead of Client. The * group applies to
	// the token. "*" is a client without a group of its own. Settings such as exempt then use
	// Client, if Client has a name.
	Token string
	// Names are the names of Client from [uaident.Identity.AppendNames]. If nil, Judge looks
	// them up. Judge does not change them.
	Names []string
	// GroupCache caches the group of the client for the next request by the same client and file.
	// It may be nil.
	GroupCache *GroupCache
}

// ControlToken returns the control token with which the operator of the client's crawler lets sites
// restrict the use of pages, such as Google-Extended for Googlebot. It is "" without one.
func (r *Request) ControlToken() string {
	if r.Client.Crawler == nil && r.Token != "" {
		return uaident.Default().Lookup(r.Token).ControlToken()
	}
	return r.Client.Crawler.ControlToken()
}

// clientSettingsApply reports whether Client, and not only Token, is known, so that settings such
// as exempt apply to it.
func (r *Request) clientSettingsApply() bool { return r.Token == "" || r.Client.Token != "" }

// DecodedPath returns Path, or else the unescaped path of Target without the query. It is "/"
// for a URL without a path.
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

// hasOpaqueTarget reports whether the target is a URL without a slash after its scheme, for example
// x:public/. This URL has no path here, but a proxy passes it on unchanged.
func (r *Request) hasOpaqueTarget() bool {
	if strings.HasPrefix(r.Target, "/") {
		return false
	}
	u, err := url.ParseRequestURI(r.Target)
	return err == nil && u.Opaque != ""
}

// robotsTxt is the path of the rules (RFC 9309 section 2.3).
const robotsTxt = "/robots.txt"

// acmeChallenges is the directory of the tokens for certificate validation.
const acmeChallenges = "/.well-known/acme-challenge/"

// IsACMEChallenge reports whether a request is for a token of certificate
// validation (RFC 8555 section 8.3). A validator is not a crawler, whatever its User-Agent
// is. The target is the request target as sent. Escapes and dot segments are not resolved,
// because they may lead to another page. An empty method is GET.
func IsACMEChallenge(method, target string) bool {
	if method != http.MethodGet && method != http.MethodHead && method != "" {
		return false
	}
	rest, ok := strings.CutPrefix(target, acmeChallenges)
	if !ok {
		return false
	}
	token, _, _ := strings.Cut(rest, "?")
	return token != "" && !strings.ContainsFunc(token, isInvalidTokenChar)
}

// isInvalidTokenChar reports whether a token cannot contain the character (RFC 8555 section 8.1).
func isInvalidTokenChar(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
}

// IsRobotsFetch reports whether a client knows the rules after the response to its request for
// robots.txt. This is so if the response is the file, a confirmation of the client's copy, or 404
// or 410. HEAD, partial content and redirects do not deliver the rules.
func IsRobotsFetch(method string, status int) bool {
	if method != http.MethodGet {
		return false
	}
	switch status {
	case http.StatusOK, http.StatusNotModified, http.StatusNotFound, http.StatusGone:
		return true
	}
	return false
}
