package responseaudit

import "net/http"

// RequestKind says what the robots.txt decided about a crawler's request, or that the request was
// for the robots.txt.
type RequestKind uint8

// The kinds. A request that the guard refused has none.
const (
	KindAllowed   RequestKind = iota // KindAllowed is a request that the robots.txt allows.
	KindForbidden                    // KindForbidden is a request that the robots.txt forbids and the guard let pass.
	// KindNoRule is a request about which no file decided: from an exempt client, or to a site without
	// a fetched file.
	KindNoRule
	KindRobotsTxt // KindRobotsTxt is a request for the robots.txt itself.
	NumRequestKinds
)

var requestKindNames = [NumRequestKinds]string{"allowed", "forbidden", "unruled", "robots_txt"}

// String returns the name of k, for example "allowed".
func (k RequestKind) String() string { return requestKindNames[k] }

// StatusClass is a group of status codes that mean the same for a crawler.
type StatusClass uint8

// The classes of status codes.
const (
	StatusSuccess  StatusClass = iota // StatusSuccess is 2xx and 101.
	StatusRedirect                    // StatusRedirect is 3xx.
	// StatusRefused is 401, 402, 403, 407 and 451: the client may not have the page.
	StatusRefused
	StatusNotFound        // StatusNotFound is 404 and 410.
	StatusTooManyRequests // StatusTooManyRequests is 429.
	StatusClientError     // StatusClientError is any other 4xx.
	// StatusServerError is 5xx, or a connection that broke off before a status.
	StatusServerError
	NumStatusClasses
)

var statusClassNames = [NumStatusClasses]string{"2xx", "3xx", "refused", "not_found", "too_many", "4xx", "5xx"}

// String returns the name of s, for example "2xx" or "refused".
func (s StatusClass) String() string { return statusClassNames[s] }

// describeCodes returns the status codes of the class for a message, for example "401, 402, 403,
// 407 or 451".
func (s StatusClass) describeCodes() string {
	switch s {
	case StatusRefused:
		return "401, 402, 403, 407 or 451"
	case StatusTooManyRequests:
		return "429"
	}
	return s.String()
}

// statusClientClosed is the status of Caddy's proxy and nginx for a client that disconnected.
const statusClientClosed = 499

// ClassifyStatus returns the class of a status code. ok is false for 499, which proxies use for a
// client that disconnected, for interim responses (1xx except 101), and for a number that is no
// status code.
func ClassifyStatus(code int) (StatusClass, bool) {
	switch {
	case code == http.StatusSwitchingProtocols, code >= 200 && code < 300:
		return StatusSuccess, true
	case code >= 300 && code < 400:
		return StatusRedirect, true
	case code == http.StatusNotFound, code == http.StatusGone:
		return StatusNotFound, true
	case code == http.StatusTooManyRequests:
		return StatusTooManyRequests, true
	case code == http.StatusUnauthorized, code == http.StatusPaymentRequired, code == http.StatusForbidden,
		code == http.StatusProxyAuthRequired, code == http.StatusUnavailableForLegalReasons:
		return StatusRefused, true
	case code == statusClientClosed:
		return 0, false
	case code >= 400 && code < 500:
		return StatusClientError, true
	case code >= 500 && code < 600:
		return StatusServerError, true
	}
	return 0, false
}

// ResponseCounts are numbers of responses by kind of request and class of status, and the sum of
// their body sizes.
type ResponseCounts struct {
	ByKindAndStatus [NumRequestKinds][NumStatusClasses]uint64
	Bytes           uint64
}

// Add adds the numbers of other to c.
func (c *ResponseCounts) Add(other ResponseCounts) {
	for kind := range other.ByKindAndStatus {
		for status, n := range other.ByKindAndStatus[kind] {
			c.ByKindAndStatus[kind][status] += n
		}
	}
	c.Bytes += other.Bytes
}

// KindTotal returns the number of responses to requests of one kind.
func (c *ResponseCounts) KindTotal(kind RequestKind) (sum uint64) {
	for _, n := range c.ByKindAndStatus[kind] {
		sum += n
	}
	return sum
}

// Total returns the number of all responses.
func (c *ResponseCounts) Total() (sum uint64) {
	for kind := range NumRequestKinds {
		sum += c.KindTotal(kind)
	}
	return sum
}
