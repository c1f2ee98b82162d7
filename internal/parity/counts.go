package parity

import "net/http"

// Kind is the kind of a request by robots.txt.
type Kind uint8

// The kinds. A request that the guard refused has none.
const (
	Allowed   Kind = iota // allowed
	Forbidden             // forbidden, but passed by the guard
	Unruled               // no file decided: exempt clients, and sites without a fetched file
	RobotsTxt             // for the file itself
	NumKinds
)

var kindWords = [NumKinds]string{"allowed", "forbidden", "unruled", "robots_txt"}

// String returns the name of k, such as "allowed".
func (k Kind) String() string { return kindWords[k] }

// Status is a class of status codes by their meaning for a crawler.
type Status uint8

// The statuses.
const (
	Success     Status = iota // 2xx, and 101
	Redirect                  // 3xx
	Refused                   // 401, 402, 403, 407 and 451: not for this client
	NotFound                  // 404 and 410
	TooMany                   // 429
	ClientError               // any other 4xx
	ServerError               // 5xx, and connections that broke off before a status
	NumStatuses
)

var statusWords = [NumStatuses]string{"2xx", "3xx", "refused", "not_found", "too_many", "4xx", "5xx"}

// String returns the name of s, such as "2xx" or "refused".
func (s Status) String() string { return statusWords[s] }

// codes returns the status codes of s as text.
func (s Status) codes() string {
	switch s {
	case Refused:
		return "401, 402, 403, 407 or 451"
	case TooMany:
		return "429"
	}
	return s.String()
}

// statusClientLeft is the status of Caddy's proxy and nginx for a client that disconnected.
const statusClientLeft = 499

// StatusOf returns the class of a status code. ok is false for interim responses and clients
// that disconnected.
func StatusOf(code int) (Status, bool) {
	switch {
	case code == http.StatusSwitchingProtocols, code >= 200 && code < 300:
		return Success, true
	case code >= 300 && code < 400:
		return Redirect, true
	case code == http.StatusNotFound, code == http.StatusGone:
		return NotFound, true
	case code == http.StatusTooManyRequests:
		return TooMany, true
	case code == http.StatusUnauthorized, code == http.StatusPaymentRequired, code == http.StatusForbidden,
		code == http.StatusProxyAuthRequired, code == http.StatusUnavailableForLegalReasons:
		return Refused, true
	case code == statusClientLeft:
		return 0, false
	case code >= 400 && code < 500:
		return ClientError, true
	case code >= 500 && code < 600:
		return ServerError, true
	}
	return 0, false
}

// Counts are numbers of responses, and the bytes of their bodies.
type Counts struct {
	By    [NumKinds][NumStatuses]uint64
	Bytes uint64
}

// Add adds other to c.
func (c *Counts) Add(other Counts) {
	for kind := range other.By {
		for status, n := range other.By[kind] {
			c.By[kind][status] += n
		}
	}
	c.Bytes += other.Bytes
}

// Of returns the number of responses of a kind.
func (c *Counts) Of(kind Kind) (sum uint64) {
	for _, n := range c.By[kind] {
		sum += n
	}
	return sum
}

// All returns the number of responses.
func (c *Counts) All() (sum uint64) {
	for kind := range NumKinds {
		sum += c.Of(kind)
	}
	return sum
}
