package logformat

import (
	"testing"
	"time"
)

func TestTimes(t *testing.T) {
	for _, tc := range []struct{ in, want string }{ // "" for an invalid time
		{"21/Nov/2026:15:36:53 +0000", "2026-11-21T15:36:53Z"},
		{"21/nov/2026:15:36:53 -0130", "2026-11-21T17:06:53Z"},
		{"29/Feb/2024:23:59:60 +0100", ""},
		{"01/Jan/1970:00:00:00 +0000", "1970-01-01T00:00:00Z"},
		{"21/Now/2026:15:36:53 +0000", ""},
		{"00/Nov/2026:15:36:53 +0000", ""},
		{"31/Feb/2026:15:36:53 +0000", ""},
		{"29/Feb/2026:15:36:53 +0000", ""},
		{"29/Feb/2100:15:36:53 +0000", ""},
		{"30/Apr/2026:15:36:53 +0000", "2026-04-30T15:36:53Z"},
		{"31/Apr/2026:15:36:53 +0000", ""},
		{"31/Dec/2026:15:36:53 +0000", "2026-12-31T15:36:53Z"},
		{"32/Dec/2026:15:36:53 +0000", ""},
		{"2026-02-31T15:36:53Z", ""},
		{"21/Nov/2026:24:36:53 +0000", ""},
		{"21/Nov/9999:15:36:53 +0000", ""},
		{"21/Nov/2026 15:36:53 +0000", ""},
		{"2026-11-21T15:36:53Z", "2026-11-21T15:36:53Z"},
		{"2026-11-21T15:36:53.25+02:00", "2026-11-21T13:36:53.25Z"},
		{"2026-11-21T15:36:53+0200", "2026-11-21T13:36:53Z"},
		{"2026/11/21 15:36:53.123456789", "2026-11-21T15:36:53.123456789Z"},
		{"2026-11-21 15:36:53", "2026-11-21T15:36:53Z"},
		{"2026-11-21T15:36:53X", ""},
		{"1795275413", "2026-11-21T15:36:53Z"},
		{"1795275413.7122183", "2026-11-21T15:36:53.7122183Z"},
		{"1795275413712", "2026-11-21T15:36:53.712Z"},
		{"1795275413712218", "2026-11-21T15:36:53.712218Z"},
		{"1795275413712218300", "2026-11-21T15:36:53.7122183Z"},
		{"99999999999999999999", ""},
		{"9999999999", ""}, // the year 2286
		{"-1", ""},
		{"", ""},
		{"-", ""},
	} {
		at, ok := parseAnyTime([]byte(tc.in))
		if tc.want == "" {
			if ok {
				t.Errorf("%q is %s, want none", tc.in, timeOf(at))
			}
		} else if got := timeOf(at).Format(time.RFC3339Nano); !ok || got != tc.want {
			t.Errorf("%q is %s (%t), want %s", tc.in, got, ok, tc.want)
		}
	}
}

// TestTimesAgree compares every hour of some years, including leap years, with the standard
// library.
func TestTimesAgree(t *testing.T) {
	for _, year := range []int{1970, 1999, 2000, 2024, 2026, 2100} {
		for at := time.Date(year, 1, 1, 0, 59, 58, 0, time.UTC); at.Year() == year; at = at.Add(7 * time.Hour) {
			for _, layout := range []string{"02/Jan/2006:15:04:05 -0700", time.RFC3339} {
				if got, ok := parseAnyTime([]byte(at.Format(layout))); !ok || got != at.UnixNano() {
					t.Fatalf("%s: %s (%t)", at.Format(layout), timeOf(got), ok)
				}
			}
		}
	}
}

// timeOf converts Unix nanoseconds into a time in UTC.
func timeOf(at int64) time.Time { return time.Unix(0, at).UTC() }
