package guard

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// ReadSince returns the crawlers that have fetched the robots.txt of some hosts since a time, from this or
// other instances. Spoofed clients are left out.
func (s *State) ReadSince(has func(host string) bool, since time.Time) []string {
	found := make(map[string]bool)
	for _, l := range []*ledger.Ledger{s.Ledger, s.Memory.PeerLedger()} {
		if l == nil {
			continue
		}
		for _, site := range l.Snapshot().Sites {
			if !has(site.Name) {
				continue
			}
			for _, row := range site.Rows {
				if row.RobotsFetch != nil && row.RobotsFetch.At >= since.UnixMilli() && row.Identity != verify.Spoofed && !strings.HasPrefix(row.Token, "_") {
					found[row.Token] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
