package limit

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// RetryAfter returns the duration in a Retry-After header, which is a number of seconds or a date
// (RFC 9110 section 10.2.3). The maximum is a year. The result is 0 if the header is missing or
// invalid.
func RetryAfter(header http.Header, now time.Time) time.Duration {
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
