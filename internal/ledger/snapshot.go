package ledger

import (
	"cmp"
	"slices"
	"time"
)

// Snapshot is an immutable copy of a ledger.
type Snapshot struct {
	// Since is the time at which the ledger began to count, and Saved the time of the snapshot.
	// Both are in Unix milliseconds.
	Since, Saved int64
	// Retention is the time for which the ledger keeps data.
	Retention time.Duration
	Sites     []*Site // Sites are sorted by name.
}

// FromUnixMilli converts Unix milliseconds to a time in UTC. FromUnixMilli returns the zero time
// for 0.
func FromUnixMilli(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Merge returns the sum of several snapshots, for example of the instances of a cluster. For each
// crawler, RobotsFetch is the latest of all snapshots. RequestsSinceFetch is the number in the same
// snapshot.
func Merge(snapshots ...Snapshot) Snapshot {
	var merged Snapshot
	sites := make(map[string]*Site)
	for _, snapshot := range snapshots {
		if merged.Since == 0 || snapshot.Since != 0 && snapshot.Since < merged.Since {
			merged.Since = snapshot.Since
		}
		merged.Saved = max(merged.Saved, snapshot.Saved)
		merged.Retention = max(merged.Retention, snapshot.Retention)
		for _, s := range snapshot.Sites {
			if known := sites[s.Name]; known != nil {
				known.merge(s)
				continue
			}
			c := s.clone()
			sites[s.Name] = c
			merged.Sites = append(merged.Sites, c)
		}
	}
	merged.sortSites()
	return merged
}

func (s *Snapshot) sortSites() {
	slices.SortFunc(s.Sites, func(a, b *Site) int { return cmp.Compare(a.Name, b.Name) })
}
