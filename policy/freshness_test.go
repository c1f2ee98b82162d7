package policy

import (
	"net/http"
	"testing"
	"time"
)

func TestFreshnessOfAnswers(t *testing.T) {
	f := FreshnessPolicy{Default: 10 * time.Minute, Min: time.Minute, Max: 12 * time.Hour}
	at := func(d time.Duration) string { return epoch.Add(d).Format(http.TimeFormat) }
	for _, tc := range []struct {
		name   string
		header http.Header
		want   time.Duration
	}{
		{"no header at all", nil, 10 * time.Minute},
		{"nothing about freshness", http.Header{"Cache-Control": {"public"}}, 10 * time.Minute},
		{"max-age", http.Header{"Cache-Control": {"max-age=3600"}}, time.Hour},
		{"s-maxage wins over max-age", http.Header{"Cache-Control": {"max-age=60, s-maxage=7200"}}, 2 * time.Hour},
		{"s-maxage of nought wins over max-age", http.Header{"Cache-Control": {"max-age=3600, s-maxage=0"}}, time.Minute},
		{"max-age of nought wins over Expires", http.Header{"Cache-Control": {"max-age=0"}, "Expires": {at(5 * time.Hour)}}, time.Minute},
		{"in another line", http.Header{"Cache-Control": {"public", "max-age=3600"}}, time.Hour},
		{"in capitals and quotes", http.Header{"Cache-Control": {`MAX-AGE="3600"`}}, time.Hour},
		{"max-age wins over Expires", http.Header{"Cache-Control": {"max-age=3600"}, "Expires": {at(5 * time.Hour)}}, time.Hour},
		{"Expires", http.Header{"Expires": {at(2 * time.Hour)}}, 2 * time.Hour},
		{"Expires counts from Date", http.Header{"Expires": {at(3 * time.Hour)}, "Date": {at(time.Hour)}}, 2 * time.Hour},
		{"Expires: 0", http.Header{"Expires": {"0"}}, time.Minute},
		{"Age is taken off", http.Header{"Cache-Control": {"max-age=3600"}, "Age": {"1800"}}, 30 * time.Minute},
		{"an old Date is an age, too", http.Header{"Cache-Control": {"max-age=3600"}, "Date": {at(-15 * time.Minute)}}, 45 * time.Minute},
		{"the greater age counts", http.Header{"Cache-Control": {"max-age=3600"}, "Age": {"60"}, "Date": {at(-15 * time.Minute)}}, 45 * time.Minute},
		{"older than fresh", http.Header{"Cache-Control": {"max-age=60"}, "Age": {"7200"}}, time.Minute},
		{"no-cache", http.Header{"Cache-Control": {"no-cache, max-age=3600"}}, time.Minute},
		{"no-store", http.Header{"Cache-Control": {"no-store"}}, time.Minute},
		{"must-revalidate", http.Header{"Cache-Control": {"max-age=3600, must-revalidate"}}, time.Hour},
		{"stale-while-revalidate and stale-if-error", http.Header{"Cache-Control": {"max-age=3600, stale-while-revalidate=9, stale-if-error=9"}}, time.Hour},
		{"nonsense", http.Header{"Cache-Control": {"max-age=soon"}}, time.Minute},
		{"negative", http.Header{"Cache-Control": {"max-age=-1"}}, time.Minute},
		{"at least the minimum", http.Header{"Cache-Control": {"max-age=1"}}, time.Minute},
		{"at most the maximum", http.Header{"Cache-Control": {"max-age=31536000"}}, 12 * time.Hour},
		{"beyond any number", http.Header{"Cache-Control": {"max-age=99999999999999999999"}}, 12 * time.Hour},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := f.Lifetime(tc.header, epoch); got != tc.want {
				t.Errorf("Lifetime = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestFreshnessEndsWithinADay(t *testing.T) {
	f := FreshnessPolicy{Default: 48 * time.Hour, Min: 36 * time.Hour, Max: 72 * time.Hour}
	if got := f.Lifetime(nil, epoch); got != MaxAge {
		t.Errorf("Lifetime = %v, want %v with any configuration", got, MaxAge)
	}
}
