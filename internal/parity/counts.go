package parity

import "net/http"

// Kind is what a request was for, as far as robots.txt goes.
type Kind uint8

// The kinds. A request that the guard has answered in place of the site is of none.
const (
	Allowed   Kind = iota // the file allows it
	Forbidden             // the file forbids it, and the guard let it pass
	Unruled               // no file decided: exempt clients, and files that nobody has read
	RobotsTxt             // for the file itself
	NumKinds
)

var kindWords = [NumKinds]string{"allowed", "forbidden", "unruled", "robots_txt"}

// String returns the word of k, such as "allowed".
func (k Kind) String() string { return kindWords[k] }

// Status is a class of answers, by what a crawler makes of them.
type Status uint8

// The statuses.
const (
	Success     Status = iota // 2xx, and 101
	Redirect                  // 3xx
	Refused                   // 401, 402, 403, 407 and 451: the page is there, and not for this client
	NotFound                  // 404 and 410
	TooMany                   // 429
	ClientError               // any other 4xx
	ServerError               // 5xx, and what broke off before it had a status
	NumStatuses
)

var statusWords = [NumStatuses]string{"2xx", "3xx", "refused", "not_found", "too_many", "4xx", "5xx"}

// String returns the word of s, such as "2xx" or "refused".
func (s Status) String() string { return statusWords[s] }

// codes returns the status codes of what a finding is about, in words.
func (s Status) codes() string {
	switch s {
	case Refused:
		return "401, 402, 403, 407 or 451"
	case TooMany:
		return "429"
	}
	return s.String()
}

// statusClientLeft is how Caddy's proxy and nginx note that a client did not wait for
// the answer. It is no answer of the site.
const statusClientLeft = 499

// StatusOf returns the class of a status code. It reports false for what is no answer:
// interim ones, and a client that left.
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

// Counts are numbers of answers, and the bytes of their bodies.
type Counts struct {
	By    [NumKinds][NumStatuses]uint64
	Bytes uint64
}

// Add adds what another has counted.
func (c *Counts) Add(other Counts) {
	for kind := range other.By {
		for status, n := range other.By[kind] {
			c.By[kind][status] += n
		}
	}
	c.Bytes += other.Bytes
}

// Of returns how many answers of a kind there were.
func (c *Counts) Of(kind Kind) (sum uint64) {
	for _, n := range c.By[kind] {
		sum += n
	}
	return sum
}

// All returns how many answers there were.
func (c *Counts) All() (sum uint64) {
	for kind := range NumKinds {
		sum += c.Of(kind)
	}
	return sum
}
