package logformat

import (
	"time"
	"unsafe"
)

const second = 1_000_000_000 // The unit of all times in this file is the nanosecond.

const commonTimeLength = len("02/Jan/2006:15:04:05 -0700")

// parseCommonTime parses a time as in the Common format, 02/Jan/2006:15:04:05 -0700. The result is
// in Unix nanoseconds.
func parseCommonTime(b []byte) (at int64, ok bool) { return parseTime("02/Jan/2006:15:04:05 -0700", b) }

// parseTime parses a time by a layout of package time. The result is in Unix nanoseconds. ok is
// false for a year before 1700 or after 2200.
func parseTime(layout string, b []byte) (at int64, ok bool) {
	t, err := time.ParseInLocation(layout, unsafe.String(unsafe.SliceData(b), len(b)), time.UTC)
	return t.UnixNano(), err == nil && 1700 <= t.Year() && t.Year() <= 2200
}

// parseUnixTime parses Unix seconds, with or without a fraction, or large numbers of milli-, micro-
// or nanoseconds. The result is in nanoseconds.
func parseUnixTime(b []byte) (at int64, ok bool) {
	i := 0
	for ; i < len(b) && b[i] != '.'; i++ {
		digit := b[i] - '0'
		if digit > 9 || i >= 18 && at > (1<<63-1-9)/10 {
			return 0, false
		}
		at = at*10 + int64(digit)
	}
	if i == 0 || i > 19 {
		return 0, false
	}
	unit := int64(1)
	switch {
	case at < 1e10:
		unit = second
	case at < 1e13:
		unit = second / 1e3
	case at < 1e16:
		unit = second / 1e6
	}
	if unit > 1 && at > (1<<63-1)/unit-1 {
		return 0, false
	}
	fraction := int64(0)
	for at *= unit; i+1 < len(b); i++ {
		digit := b[i+1] - '0'
		if digit > 9 {
			return 0, false
		}
		if unit > 1 {
			unit /= 10
			fraction = fraction*10 + int64(digit)
		}
	}
	return at + fraction*unit, true
}

// layouts are the notations of times in JSON logs other than numbers. A fraction may follow the
// seconds. Without a zone the time is in UTC.
var layouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006/01/02 15:04:05", "02/Jan/2006:15:04:05 -0700",
}

// parseAnyTime parses Unix time or a time in one of layouts. The result is in Unix nanoseconds.
func parseAnyTime(b []byte) (at int64, ok bool) {
	if at, ok = parseUnixTime(b); ok {
		return at, true
	}
	for _, layout := range layouts {
		if at, ok = parseTime(layout, b); ok {
			return at, true
		}
	}
	return 0, false
}

// timeCache caches the last parsed time, because many consecutive lines have the same time.
type timeCache struct {
	text  [32]byte
	n     int
	value int64
}

// parse returns the result of read(b), from the cache if b equals the bytes of the last call.
func (c *timeCache) parse(b []byte, read func([]byte) (int64, bool)) (int64, bool) {
	if len(b) == c.n && string(b) == string(c.text[:c.n]) && c.n > 0 {
		return c.value, true
	}
	at, ok := read(b)
	if ok && len(b) <= len(c.text) {
		c.n, c.value = copy(c.text[:], b), at
	}
	return at, ok
}
