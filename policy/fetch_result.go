package policy

import "net/http"

// MaxRedirects is the maximum number of redirects that are followed (RFC 9309 section
// 2.3.1.2). The final file applies to the original authority.
const MaxRedirects = 5

// FetchResult is the result of one attempt to fetch a robots.txt, after redirects.
type FetchResult struct {
	// Status is the HTTP status, or 0 without a complete response. A redirect status means that the
	// redirect could not be followed.
	Status int
	// Header is the header of the response, or nil.
	Header http.Header
	// Body is the content. The first MaxSize+1 bytes are sufficient.
	Body []byte
	// Err is the reason for an incomplete response: a timeout, a reset, DNS, or a truncated body.
	// With a status of 500 or more, Err can be the reason for the server's failure.
	Err error
	// RedirectTargets lists the redirect targets before the response: request targets for the site
	// itself, and URLs for other sites.
	RedirectTargets []string
	// CachedVersion is the copy that the request was conditional on. nil means none or the current copy.
	// If the access result is NotModified, this copy is still valid.
	CachedVersion *Version
}

// AccessResult is the meaning of a response for the rules of a site.
type AccessResult uint8

// The meanings, RFC 9309 section 2.3.1.
const (
	// Successful: the body has the rules.
	Successful AccessResult = iota
	// Unavailable: no robots.txt exists, and nothing is restricted.
	Unavailable
	// Unreachable: the rules are unknown.
	Unreachable
	// TooManyRequests: 429. RFC 9309 treats 429 as unavailable, Google as unreachable.
	TooManyRequests
	// NotModified: the copy of a conditional request is still valid (304).
	NotModified
)

// String returns rules, unavailable, unreachable, refused or unchanged.
func (m AccessResult) String() string {
	return [...]string{"rules", "unavailable", "unreachable", "refused", "unchanged"}[m]
}

// DeterminesRules reports whether the response determines the restrictions.
func (m AccessResult) DeterminesRules() bool {
	return m == Successful || m == Unavailable || m == NotModified
}

// AccessResult returns the meaning of the response.
func (a FetchResult) AccessResult() AccessResult {
	switch {
	case a.Err != nil || a.Status < 200:
		return Unreachable
	case a.Status < 300:
		return Successful
	case a.Status == http.StatusNotModified:
		return NotModified
	case a.Status == http.StatusTooManyRequests:
		return TooManyRequests
	case a.Status < 500:
		return Unavailable
	}
	return Unreachable
}

// rulesBody returns the body with the rules, or nil for a response without restrictions.
func (a FetchResult) rulesBody(access AccessResult) []byte {
	if access != Successful {
		return nil
	}
	return a.Body
}
