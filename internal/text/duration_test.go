package text

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		0:                       {"0s", "0 seconds"},
		time.Second:             {"1s", "1 second"},
		1500 * time.Millisecond: {"1.5s", "1.5 seconds"},
		time.Minute:             {"1m", "1 minute"},
		90 * time.Second:        {"1m30s", "90 seconds"},
		10 * time.Minute:        {"10m", "10 minutes"},
		time.Hour:               {"1h", "1 hour"},
		90 * time.Minute:        {"1h30m", "90 minutes"},
		time.Hour + time.Second: {"1h0m1s", "3601 seconds"},
		24 * time.Hour:          {"24h", "24 hours"},
		48 * time.Hour:          {"2d", "48 hours"},
		49 * time.Hour:          {"49h", "49 hours"},
		-time.Minute:            {"-1m", "-60 seconds"},
	} {
		if got := [2]string{Duration(d), FormatSpan(d)}; got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
