// Package retryafter reads for how long the answer of a server asks to be left alone.
package retryafter

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// Of returns what Retry-After asks for, in seconds or by a date (RFC 9110 section
// 10.2.3), and 0 where it is not there or is none. It is a year at most: what is
// sensible the caller knows.
func Of(header http.Header, now time.Time) time.Duration {
	const year = 365 * 24 * 3600
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return time.Duration(min(seconds, year)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), year*time.Second)
	}
	return 0
}
