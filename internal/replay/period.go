package replay

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseTime parses a time in RFC 3339, or a date with or without a time of day, in UTC if there is
// no zone. A duration, such as 90m, 24h or 30d, means that long before now.
func ParseTime(s string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.Parse(layout, s); err == nil {
			if !isLogYear(at.Year()) {
				return time.Time{}, fmt.Errorf("the year %d is out of range", at.Year())
			}
			return at, nil
		}
	}
	ago, err := time.ParseDuration(s)
	if number, ok := strings.CutSuffix(s, "d"); ok {
		var n int
		n, err = strconv.Atoi(number)
		ago = time.Duration(max(n, -1)) * 24 * time.Hour // Every negative number is invalid, and a large one would overflow.
		if n > 36500 {
			return time.Time{}, fmt.Errorf("%s is too long ago", s)
		}
	}
	if err != nil || ago < 0 {
		return time.Time{}, fmt.Errorf("%q is not a time; write for example 2026-11-20, 2026-11-20T10:00:00Z, or 24h or 30d for that long ago", s)
	}
	return now.Add(-ago), nil
}

// isLogYear reports whether a time in this year can be stored as Unix nanoseconds in an int64.
func isLogYear(year int) bool { return 1700 <= year && year <= 2200 }
