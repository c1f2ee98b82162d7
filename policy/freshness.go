package policy

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pquerna/cachecontrol/cacheobject"
)

// FreshnessPolicy limits the freshness lifetime that the header of a response requests. The
// lifetime is the time until the next fetch. A stale copy stays in use during this fetch.
type FreshnessPolicy struct {
	// Default is the lifetime of a response without freshness information.
	Default time.Duration
	// Min and Max bound the lifetime. MaxAge bounds the lifetime even if Max is longer.
	Min, Max time.Duration
}

// Lifetime returns the freshness lifetime of a response with the header h, received at now, as for
// a shared cache (RFC 9111 section 4.2). The lifetime is s-maxage, else max-age, else Expires,
// minus the age of the response. If the response must not be stored or must be revalidated, or if
// its freshness information is invalid, the lifetime is Min.
//
// must-revalidate, stale-while-revalidate and stale-if-error have no effect. RFC 9309 section 2.4
// defines how long a stale robots.txt may be used, whatever the response says.
func (f FreshnessPolicy) Lifetime(h http.Header, now time.Time) time.Duration {
	lifetime, explicit := headerLifetime(h, now)
	if !explicit {
		lifetime = f.Default
	}
	return min(max(lifetime-responseAge(h, now), f.Min), f.Max, MaxAge)
}

// ParseLifetime returns the freshness lifetime in the header of a response received at now, without
// subtracting its age. The result is NoLifetime for a header without freshness information.
func ParseLifetime(h http.Header, now time.Time) time.Duration {
	if lifetime, explicit := headerLifetime(h, now); explicit {
		return lifetime
	}
	return NoLifetime
}

// headerLifetime returns the freshness lifetime in the header of a response received at now.
// explicit is false for a header without freshness information.
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
		return 0, true // RFC 9111 section 5.3 treats an invalid date, above all "0", as in the past.
	}
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		date = now
	}
	return max(0, expires.Sub(date)), true
}

// responseAge returns the age of a response received at now, by its Age and Date fields (RFC 9111
// section 4.2.3).
func responseAge(h http.Header, now time.Time) (age time.Duration) {
	age, _ = parseDeltaSeconds(h.Get("Age"))
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		age = max(age, now.Sub(date))
	}
	return age
}

// timeSinceModified returns the time from Last-Modified to the time of the response, which is the
// Date field or else now. ok is false for a header without a valid Last-Modified.
func timeSinceModified(h http.Header, now time.Time) (age time.Duration, ok bool) {
	modified, err := http.ParseTime(h.Get("Last-Modified"))
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return now.Sub(modified), true
}

// parseDeltaSeconds parses a number of seconds. The result is at most a year, also for a number
// that overflows (RFC 9111 section 1.2.2). ok is false for an invalid number.
func parseDeltaSeconds(value string) (d time.Duration, ok bool) {
	n, err := strconv.ParseUint(value, 10, 64)
	return secondsUpToYear(n), err == nil || errors.Is(err, strconv.ErrRange)
}

// secondsUpToYear returns n seconds as a duration of at most a year.
func secondsUpToYear(n uint64) time.Duration {
	const year = 365 * 24 * 3600
	return time.Duration(min(n, year)) * time.Second
}
