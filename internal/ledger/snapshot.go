package ledger

import (
	"cmp"
	"slices"
	"time"
)

// Snapshot is what a ledger knows at one time. It does not change.
type Snapshot struct {
	// Since is when the ledger began to count and Saved the time of the
	// snapshot, in Unix milliseconds.
	Since, Saved int64
	// Retention is for how long anything is kept.
	Retention time.Duration
	Sites     []*Site // by name
}

// Time returns the time of Unix milliseconds as the ledger keeps them, the zero
// time for 0.
func Time(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Merge returns what several ledgers know together, such as those of the
// instances of a cluster. Counts add up. Of the last reading of a robots.txt
// the latest is known, with the requests that the same ledger has counted since.
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
	merged.sort()
	return merged
}

func (s *Snapshot) sort() {
	slices.SortFunc(s.Sites, func(a, b *Site) int { return cmp.Compare(a.Name, b.Name) })
}
