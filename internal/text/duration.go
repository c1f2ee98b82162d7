package text

import (
	"strconv"
	"strings"
	"time"
)

// Duration returns a duration as in a configuration: 1m and not 1m0s. From two whole days on, whole
// days are written as 2d.
func Duration(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 2*day && d%day == 0 {
		return strconv.Itoa(int(d/day)) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// FormatSpan returns a duration for a sentence: 1 minute, 90 seconds, 24 hours.
func FormatSpan(d time.Duration) string {
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"hour", time.Hour}, {"minute", time.Minute}} {
		if d >= unit.of && d%unit.of == 0 {
			return formatCount(strconv.Itoa(int(d/unit.of)), unit.name)
		}
	}
	return formatCount(strconv.FormatFloat(d.Seconds(), 'f', -1, 64), "second")
}

func formatCount(number, unit string) string {
	if number != "1" {
		unit += "s"
	}
	return number + " " + unit
}
