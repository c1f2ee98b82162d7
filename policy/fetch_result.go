package policy

import "net/http"

// MaxRedirects is the maximum number of redirects that are followed (RFC 9309 section
// 2.3.1.2). The final file applies to the original authority.
const MaxRedirects = 5

// FetchResult is the result of one attempt to fetch a robots.txt, after redirects.
type FetchResult struct {
	// Status is the HTTP status, or 0 if no complete header arrived. A redirect status means that
	// the redirect could not be followed.
	Status int
	// Header is the header of the response, or nil.
	Header http.Header
	// Body is the content of the response. Bytes beyond the first MaxSize+1 can be omitted.
	Body []byte
	// Err is the reason for an incomplete response: a timeout, a reset, DNS, or a truncated body.
	// With a status of 500 or more, Err can be the reason for the server's failure.
	Err error
	// RedirectTargets lists the targets of the followed redirects: request targets for the site
	// itself, and URLs for other sites.
	RedirectTargets []string
	// CachedVersion is the version whose validators the conditional request had, or nil for the
	// current version or an unconditional request. A response 304 confirms this version.
	CachedVersion *Version
}

// AccessResult is what a response to a fetch of the robots.txt means for the rules of the site.
type AccessResult uint8

// The first three are the access results of RFC 9309 section 2.3.1.
const (
	// Successful means that the body is the robots.txt.
	Successful AccessResult = iota
	// Unavailable means that the site has no robots.txt, so nothing is disallowed.
	Unavailable
	// Unreachable means that the fetch failed, so the rules are unknown.
	Unreachable
	// TooManyRequests is status 429. RFC 9309 treats 429 as unavailable, Google as unreachable.
	TooManyRequests
	// NotModified is status 304: the version of the conditional request is still valid.
	NotModified
)

// String returns the word for the result in logs and reports: "rules" for Successful,
// "unavailable", "unreachable", "refused" for TooManyRequests, or "unchanged" for NotModified.
func (m AccessResult) String() string {
	return [...]string{"rules", "unavailable", "unreachable", "refused", "unchanged"}[m]
}

// DeterminesRules reports whether the rules are known after the response: it is Successful,
// Unavailable or NotModified.
func (m AccessResult) DeterminesRules() bool {
	return m == Successful || m == Unavailable || m == NotModified
}

// AccessResult returns what the response means for the rules, by its status and error.
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

// rulesBody returns the body if access is Successful. For other results it returns nil, because the
// body of an error page has no rules.
func (a FetchResult) rulesBody(access AccessResult) []byte {
	if access != Successful {
		return nil
	}
	return a.Body
}
