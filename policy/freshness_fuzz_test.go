package policy

import (
	"net/http"
	"testing"
	"time"
)

// FuzzFreshness computes lifetimes and delays from header fields of all kinds. The lifetime of a
// copy is always within the bounds, and the next fetch is in the future, within MaxAge.
func FuzzFreshness(f *testing.F) {
	for _, seed := range [][5]string{
		{"max-age=60", "", "", "", ""},
		{"s-maxage=5, max-age=60", "Fri, 02 Jan 2026 03:04:05 GMT", "Thu, 01 Jan 2026 03:04:05 GMT", "30", "120"},
		{`no-cache="set-cookie", no-store`, "0", "x", "-1", "-1"},
		{"max-age=99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "99999999999999999999", "99999999999999999999"},
		{`max-age="1`, "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "1, 2", "Fri, 31 Dec 9999 23:59:59 GMT"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4], 503)
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4], 200)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	bounds := FreshnessPolicy{Default: 10 * time.Minute, Min: time.Minute, Max: 12 * time.Hour}
	f.Fuzz(func(t *testing.T, cacheControl, expires, date, age, retry string, status int) {
		a := FetchResult{Status: status, Header: http.Header{
			"Cache-Control": {cacheControl, cacheControl}, "Expires": {expires}, "Date": {date}, "Age": {age}, "Retry-After": {retry},
		}}
		if life := bounds.Lifetime(a.Header, now); life < bounds.Min || life > bounds.Max {
			t.Errorf("the lifetime is %s", life)
		}
		var s State
		for range 3 {
			s = s.AfterFetch(a, now, bounds, 0.5)
			if wait := s.NextFetch.Sub(now); wait <= 0 || wait > MaxAge {
				t.Fatalf("the next attempt is due in %s", wait)
			}
		}
	})
}
