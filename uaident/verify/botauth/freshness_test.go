package botauth

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// TestFreshness checks the freshness lifetime of a directory and the times of fetches.
func TestFreshness(t *testing.T) {
	for _, test := range []struct {
		name   string
		header []string
		want   time.Duration
	}{
		{"no freshness fields", nil, time.Hour},
		{"max-age", []string{"Cache-Control", "max-age=7200"}, 2 * time.Hour},
		{"s-maxage first", []string{"Cache-Control", "max-age=7200, s-maxage=10800"}, 3 * time.Hour},
		{"less than the minimum", []string{"Cache-Control", "max-age=1"}, minFresh},
		{"zero", []string{"Cache-Control", "max-age=0"}, minFresh},
		{"more than the maximum", []string{"Cache-Control", "max-age=31536000"}, maxFresh},
		{"age", []string{"Cache-Control", "max-age=7200", "Age", "3600"}, time.Hour},
		{"no-store", []string{"Cache-Control", "no-store, max-age=7200"}, minFresh},
		{"no-cache", []string{"Cache-Control", "no-cache"}, minFresh},
		{"nonsense", []string{"Cache-Control", "max-age=x"}, minFresh},
		{"Expires", []string{"Expires", start.Add(2 * time.Hour).Format(http.TimeFormat)}, 2 * time.Hour},
		{"Expires in the past", []string{"Expires", start.Add(-time.Hour).Format(http.TimeFormat)}, minFresh},
		{"max-age before Expires", []string{"Cache-Control", "max-age=600", "Expires", start.Add(2 * time.Hour).Format(http.TimeFormat)}, 10 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, ok(goodDirectory, test.header...))
			if err := f.Refresh(t.Context(), testAgent); err != nil {
				t.Fatal(err)
			}
			if got := f.Directories()[0]; got.Expires.Sub(got.Fetched) != test.want || !got.Fetched.Equal(start) {
				t.Errorf("got %v, want %v", got.Expires.Sub(got.Fetched), test.want)
			}
		})
	}
}

// signed returns a request signed at the fixture's time with nonce n.
func (f fixture) signed(n int) Request {
	s := newSigning()
	s.param("nonce", fmt.Sprintf(`"at %d"`, n))
	s.created(f.clock.now())
	s.expires(f.clock.now().Add(time.Minute))
	return s.sign()
}

// TestOutOfDate checks an expired directory. It stays in use during the next fetch, and for a day
// if fetches fail. A removed key is valid until the next successful fetch.
func TestOutOfDate(t *testing.T) {
	f := warm(t) // fresh for an hour
	check := func(want Reason, fetches int64) {
		t.Helper()
		expect(t, f.Check(f.signed(int(f.clock.offset.Load()))), want)
		f.wg.Wait()
		if got := f.origins.fetches.Load(); got != fetches {
			t.Errorf("%d fetches, want %d", got, fetches)
		}
	}
	f.clock.add(time.Hour - 1)
	check(Verified, 1)
	f.origins.answer = status(503, "")
	f.clock.add(1)
	check(Verified, 2) // and a failed fetch
	f.clock.add(24*time.Hour - 1)
	check(Verified, 3)
	f.clock.add(1)
	check(DirectoryUnavailable, 3) // no fetch during the back-off
	f.origins.answer = ok(goodDirectory)
	f.clock.add(time.Hour)
	check(DirectoryPending, 4)
	f.clock.add(1)
	check(Verified, 4)
	f.origins.answer = ok(directoryOf())
	f.clock.add(time.Hour)
	check(Verified, 5)
	f.clock.add(1)
	check(KeyUnknown, 5)
}

func TestBackOff(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer func(*http.Request) (*http.Response, error)
		waits  []time.Duration // minimum wait after each failure
	}{
		{"doubles up to five minutes", status(503, ""), []time.Duration{
			15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute,
		}},
		{"Retry-After", status(429, "", "Retry-After", "3600"), []time.Duration{time.Hour, time.Hour}},
		{"Retry-After in the past", status(503, "", "Retry-After", start.Add(-time.Hour).Format(http.TimeFormat)), []time.Duration{15 * time.Second}},
		{"Retry-After as a date", status(503, "", "Retry-After", start.Add(time.Hour).Format(http.TimeFormat)), []time.Duration{time.Hour}},
		{"Retry-After of more than a day", status(503, "", "Retry-After", "999999999"), []time.Duration{24 * time.Hour}},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, test.answer)
			expect(t, f.Check(f.signed(0)), DirectoryPending)
			for i, wait := range test.waits {
				f.wg.Wait()
				f.clock.add(wait - time.Nanosecond)
				expect(t, f.Check(f.signed(i)), DirectoryUnavailable)
				maxJitter := min(wait/10, max(0, 5*time.Minute-wait)) // The wait with jitter stays within five minutes.
				f.clock.add(maxJitter + time.Nanosecond)
				expect(t, f.Check(f.signed(i)), DirectoryPending)
			}
			f.wg.Wait()
			if got, want := f.origins.fetches.Load(), int64(len(test.waits)+1); got != want {
				t.Errorf("%d fetches, want %d", got, want)
			}
		})
	}
}
