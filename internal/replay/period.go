package replay

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseTime reads a point in time as people write it: RFC 3339, a date, a date
// and a time (UTC if there is no zone), or how long ago it was, such as 90m, 24h
// or 30d.
func ParseTime(s string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.Parse(layout, s); err == nil {
			if !isLogYear(at.Year()) {
				return time.Time{}, fmt.Errorf("no log is of the year %d", at.Year())
			}
			return at, nil
		}
	}
	ago, err := time.ParseDuration(s)
	if number, ok := strings.CutSuffix(s, "d"); ok {
		var n int
		n, err = strconv.Atoi(number)
		ago = time.Duration(n) * 24 * time.Hour
		if n > 36500 {
			return time.Time{}, fmt.Errorf("%s is too long ago", s)
		}
	}
	if err != nil || ago < 0 {
		return time.Time{}, fmt.Errorf("%q is no time; give one like 2026-11-20, 2026-11-20T10:00:00Z, or 24h or 30d for how long ago", s)
	}
	return now.Add(-ago), nil
}

// isLogYear reports whether nanoseconds can count as far as a year, as times of
// requests are.
func isLogYear(year int) bool { return 1700 <= year && year <= 2200 }
