package judge_test

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func TestGrace(t *testing.T) {
	const day = 24 * time.Hour
	for _, test := range []struct {
		userAgent string
		all, want time.Duration
	}{
		{"DuckAssistBot/1.2; (+http://duckduckgo.com/duckassistbot.html)", day, 3 * day},
		{"DuckAssistBot/1.2", 4 * day, 4 * day},
		{"DuckAssistBot/1.2", day - 1, day - 1}, // the owner means it
		{"DuckAssistBot/1.2", 0, 0},
		{"Amazonbot/0.1", day, day},
		{"bingbot/2.0", day, day},
		{"NobodyKnowsBot/1.0", 2 * day, 2 * day},
	} {
		if got := judge.GracePeriod(uaident.Identify(test.userAgent), test.all); got != test.want {
			t.Errorf("%s has %v of %v, want %v", test.userAgent, got, test.all, test.want)
		}
	}
}
