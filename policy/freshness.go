package policy

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pquerna/cachecontrol/cacheobject"
)

// FreshnessPolicy configures the freshness lifetime of a response. A stale copy stays in use during
// the fetch in the background.
type FreshnessPolicy struct {
	// Default applies to responses without freshness information.
	Default time.Duration
	// Min and Max bound the lifetime. Max is at most MaxAge.
	Min, Max time.Duration
}

// Lifetime returns the freshness lifetime of a response with a header, received at now, as for a shared cache (RFC
// 9111 section 4.2). The lifetime is s-maxage, else max-age, else Expires, minus the age of the
// response. If the response must not be stored or must be revalidated, or if its freshness is
// invalid, the lifetime is Min.
//
// must-revalidate, stale-while-revalidate and stale-if-error have no effect. RFC 9309 section 2.4
// defines how long a stale robots.txt may be used, and a request never waits for a refresh.
func (f FreshnessPolicy) Lifetime(h http.Header, now time.Time) time.Duration {
	lifetime, explicit := headerLifetime(h, now)
	if !explicit {
		lifetime = f.Default
	}
	return min(max(lifetime-responseAge(h, now), f.Min), f.Max, MaxAge)
}

// ParseLifetime returns the freshness lifetime in a header received at now, or NoLifetime.
func ParseLifetime(h http.Header, now time.Time) time.Duration {
	if lifetime, explicit := headerLifetime(h, now); explicit {
		return lifetime
	}
	return NoLifetime
}

// headerLifetime returns the freshness lifetime in a header.
func headerLifetime(h http.Header, now time.Time) (lifetime time.Duration, explicit bool) {
	if value := strings.Join(h.Values("Cache-Control"), ","); value != "" {
		directives, err := cacheobject.ParseResponseCacheControl(value)
		switch {
		case err != nil, directives.NoStore, directives.NoCachePresent:
			return 0, true
		case directives.SMaxAge >= 0:
			return secondsUpToYear(uint64(directives.SMaxAge)), true
		case directives.MaxAge >= 0:
			return secondsUpToYear(uint64(directives.MaxAge)), true
		}
	}
	if h.Get("Expires") == "" {
		return 0, false
	}
	expires, err := http.ParseTime(h.Get("Expires"))
	if err != nil {
		return 0, true // RFC 9111 section 5.3: in the past, above all "0"
	}
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		date = now
	}
	return max(0, expires.Sub(date)), true
}

// responseAge returns the age of a response on arrival (RFC 9111 section 4.2.3).
func responseAge(h http.Header, now time.Time) (age time.Duration) {
	age, _ = parseDeltaSeconds(h.Get("Age"))
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		age = max(age, now.Sub(date))
	}
	return age
}

// TimeSinceModified returns the time between the last modification of a file and its response at
// now, by the server's clock if available. ok is false without Last-Modified.
func TimeSinceModified(h http.Header, now time.Time) (age time.Duration, ok bool) {
	modified, err := http.ParseTime(h.Get("Last-Modified"))
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return now.Sub(modified), true
}

// parseDeltaSeconds parses a number of seconds. A number that overflows is the maximum (RFC 9111
// section 1.2.2).
func parseDeltaSeconds(value string) (d time.Duration, ok bool) {
	n, err := strconv.ParseUint(value, 10, 64)
	return secondsUpToYear(n), err == nil || errors.Is(err, strconv.ErrRange)
}

// secondsUpToYear returns n seconds, at most a year.
func secondsUpToYear(n uint64) time.Duration {
	const year = 365 * 24 * 3600
	return time.Duration(min(n, year)) * time.Second
}
