package limit

import (
	"net/http"
	"testing"
	"time"
)

func TestOf(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const year = 365 * 24 * time.Hour
	for value, want := range map[string]time.Duration{
		"":                              0,
		"120":                           2 * time.Minute,
		"100000":                        100000 * time.Second,
		"99999999999999999999999":       year,
		"-5":                            0,
		"1.5":                           0,
		"soon":                          0,
		"Sun, 01 Mar 2026 13:00:00 GMT": time.Hour,
		"Sun, 01 Mar 2026 11:00:00 GMT": 0,
		"Fri, 01 Mar 2999 12:00:00 GMT": year,
	} {
		if got := RetryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
	if got := RetryAfter(http.Header{}, now); got != 0 {
		t.Errorf("without one: %s", got)
	}
}
