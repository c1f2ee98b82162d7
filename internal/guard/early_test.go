package guard

import (
	"net/http"
	"slices"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestReadInEarlyData tests a proxy that forwards a request for /robots.txt from early
// data. It may be a replay, so it does not count as a robots fetch.
func TestReadInEarlyData(t *testing.T) {
	for _, early := range []bool{false, true} {
		s := newChangingSite(t, options{Enforce: true}, loose)
		s.hold()
		r := from(requestBy("bingbot/2.0", "/robots.txt"), "192.0.2.1")
		if early {
			r.Header.Set("Early-Data", "1")
		}
		s.reads(r, loose)
		if got := hasReadings(s.g); got == early {
			t.Errorf("early %t: the ledger has a reading: %t", early, got)
		}
	}
}

// TestDecideInEarlyData checks the same for decision requests.
func TestDecideInEarlyData(t *testing.T) {
	for _, early := range []bool{false, true} {
		g, _ := decider(t, func(policy.Key) string { return loose })
		fields := http.Header{"User-Agent": {"bingbot/2.0"}}
		if early {
			fields.Set("Early-Data", "1")
		}
		asksWith(g, fields, "https://a.test/robots.txt")
		if got := hasReadings(g); got == early {
			t.Errorf("early %t: the ledger has a reading: %t", early, got)
		}
	}
}

// hasReadings reports whether the ledger contains a robots fetch.
func hasReadings(g *Guard) bool {
	for _, site := range g.state.Ledger.Snapshot().Sites {
		if slices.ContainsFunc(site.Rows, func(row *ledger.Row) bool { return row.RobotsFetch != nil }) {
			return true
		}
	}
	return false
}
