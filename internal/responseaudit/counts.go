package responseaudit

import "net/http"

// Kind is the kind of a request by robots.txt.
type Kind uint8

// The kinds. A request that the guard refused has none.
const (
	KindAllowed   Kind = iota // allowed
	KindForbidden             // forbidden, but passed by the guard
	KindNoRule                // no file decided: exempt clients, and sites without a fetched file
	KindRobotsTxt             // for the file itself
	NumKinds
)

var kindWords = [NumKinds]string{"allowed", "forbidden", "unruled", "robots_txt"}

// String returns the name of k, for example "allowed".
func (k Kind) String() string { return kindWords[k] }

// Status is a class of status codes by their meaning for a crawler.
type Status uint8

// The statuses.
const (
	StatusSuccess         Status = iota // 2xx, and 101
	StatusRedirect                      // 3xx
	StatusRefused                       // 401, 402, 403, 407 and 451: not for this client
	StatusNotFound                      // 404 and 410
	StatusTooManyRequests               // 429
	StatusClientError                   // any other 4xx
	StatusServerError                   // 5xx, and connections that broke off before a status
	NumStatuses
)

var statusWords = [NumStatuses]string{"2xx", "3xx", "refused", "not_found", "too_many", "4xx", "5xx"}

// String returns the name of s, for example "2xx" or "refused".
func (s Status) String() string { return statusWords[s] }

// codes returns the status codes of s for messages.
func (s Status) codes() string {
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

// StatusOf returns the class of a status code. ok is false for interim responses and disconnected
// clients.
func StatusOf(code int) (Status, bool) {
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

// Counts are numbers of responses, and the bytes of their bodies.
type Counts struct {
	ByKindAndStatus [NumKinds][NumStatuses]uint64
	Bytes           uint64
}

// Add adds other to c.
func (c *Counts) Add(other Counts) {
	for kind := range other.ByKindAndStatus {
		for status, n := range other.ByKindAndStatus[kind] {
			c.ByKindAndStatus[kind][status] += n
		}
	}
	c.Bytes += other.Bytes
}

// Sum returns the number of responses of a kind.
func (c *Counts) Sum(kind Kind) (sum uint64) {
	for _, n := range c.ByKindAndStatus[kind] {
		sum += n
	}
	return sum
}

// Total returns the number of responses.
func (c *Counts) Total() (sum uint64) {
	for kind := range NumKinds {
		sum += c.Sum(kind)
	}
	return sum
}
