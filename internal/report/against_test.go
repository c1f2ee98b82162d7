package report

import (
	"slices"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestAgainst tells what was asked for against preferences, by class, and of how many
// requests the crawler had read what is stated.
func TestAgainst(t *testing.T) {
	l := ledger.New(func() time.Time { return now })
	version := ledger.Version{1}
	request := func(token string, class uaident.Class, ago time.Duration) ledger.Request {
		return ledger.Request{At: now.Add(-ago), Site: "example.com", Token: token, Class: class, Verdict: judge.Allowed, Target: "/", UserAgent: token,
			AgainstPreference: true, Rule: ledger.Rule{Version: version}, VersionFetchedAt: now.Add(-time.Hour)}
	}
	for _, q := range []ledger.Request{
		request("GPTBot", uaident.AITraining, 30*time.Minute), request("GPTBot", uaident.AITraining, 10*time.Minute),
		request("CCBot", uaident.AITraining, 9*time.Minute), request("bingbot", uaident.Search, 8*time.Minute),
	} {
		if q.Token == "GPTBot" && q.At.After(now.Add(-20*time.Minute)) {
			l.RecordRobotsFetch(&q, ledger.RobotsFetch{At: now.Add(-20 * time.Minute).UnixMilli(), Status: 200, Version: version})
		}
		l.Record(&q)
	}
	got := (&Source{Ledger: l.Snapshot(), Now: now}).Crawlers(Filter{}, 0, 10)
	want := []RequestsAgainstPreference{{"ai_training", "train-ai=n", 3, 1}, {"search", "search=n", 1, 0}}
	if !slices.Equal(got.AgainstPreference, want) {
		t.Errorf("got %+v, want %+v", got.AgainstPreference, want)
	}
	for _, c := range got.Crawlers {
		if c.Token == "GPTBot" && (c.AgainstPreference == nil || *c.AgainstPreference != RequestsAgainstPreference{"ai_training", "train-ai=n", 2, 1}) {
			t.Errorf("GPTBot: %+v", c.AgainstPreference)
		}
		if c.Disallowed != 0 {
			t.Errorf("%s has %d requests outside of the robots.txt", c.Token, c.Disallowed)
		}
	}
}
