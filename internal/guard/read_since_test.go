package guard

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestReadSince checks which crawlers have recently fetched the robots.txt of a host.
func TestReadSince(t *testing.T) {
	now := time.Now()
	s := &State{Ledger: ledger.New(time.Now)}
	reads := func(site, token string, identity verify.State, ago time.Duration) {
		q := ledger.Request{At: now.Add(-ago), Site: site, Token: token, Class: uaident.Search, Identity: identity, Method: http.MethodGet, Target: "/robots.txt"}
		s.Ledger.Record(&q)
		s.Ledger.RecordRobotsFetch(&q, ledger.RobotsFetch{At: q.At.UnixMilli(), Status: http.StatusOK})
	}
	reads("a.test", "bingbot", verify.Verified, time.Minute)
	reads("a.test", "bingbot", verify.Claimed, 3*time.Hour)
	reads("a.test", "CCBot", verify.Claimed, 2*time.Minute)
	reads("a.test", "Googlebot", verify.Spoofed, time.Minute)
	reads("a.test", "YandexBot", verify.Verified, 2*time.Hour)
	reads("a.test", ledger.Other, verify.Unknown, time.Minute)
	reads("b.test", "SeznamBot", verify.Verified, time.Minute)
	isA := func(host string) bool { return host == "a.test" }
	if got := strings.Join(s.CrawlersWithFetchSince(isA, now.Add(-time.Hour)), " "); got != "CCBot bingbot" {
		t.Errorf("read by %q", got)
	}
	if got := s.CrawlersWithFetchSince(isA, now); len(got) != 0 {
		t.Errorf("from now on read by %q", got)
	}
}
