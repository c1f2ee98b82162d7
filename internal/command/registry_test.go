package command

import (
	"strings"
	"testing"
	"time"
)

func TestNotCheckedFor(t *testing.T) {
	now := time.Date(2026, 11, 27, 1, 0, 0, 0, time.FixedZone("", 2*60*60)) // the 26th in UTC
	for _, tc := range []struct {
		duration, checked string
		want              bool
	}{
		{"180d", "2026-05-29", true},
		{"180d", "2026-05-30", false},
		{"180d", "2026-11-26", false},
		{"180d", "", true},
		{"0d", "2026-11-25", true},
		{"0d", "2026-11-26", false},
		{"30h", "2026-11-24", true},
		{"30h", "2026-11-25", false},
	} {
		since, err := dateBefore(tc.duration, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := tc.checked < since; got != tc.want {
			t.Errorf("checked on %q, for %s: %t, want %t", tc.checked, tc.duration, got, tc.want)
		}
	}
}

func TestRegistryShowStale(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"show", "--stale", "180"}, `--stale "180" is not a duration; write for example 180d or 12h`},
		{[]string{"show", "--stale", "-1d"}, `--stale "-1d" is not a duration`},
		{[]string{"show", "--stale", "half a year"}, `--stale "half a year" is not a duration`},
		{[]string{"show", "--stale", "180d", "Gogglebot"}, "did you mean Googlebot?"},
		{[]string{"export", "--stale", "180d"}, "--stale is a flag of registry show"},
	} {
		output, err := execute(t.Context(), configured(Site{}), append([]string{"registry"}, tc.args...)...)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v, want %q; %s", tc.args, err, tc.want, output)
		}
	}
	output, err := execute(t.Context(), configured(Site{}), "registry", "show", "--stale", "36500d")
	if !strings.HasSuffix(output, " entries was checked within the last 36500d\n") || strings.Count(output, "\n") != 1 || err != nil {
		t.Errorf("not checked for a century: %.200s, %v", output, err)
	}
}
