package verify

import (
	"slices"
	"strings"
	"time"
)

// Stats are counts of what a [Verifier] did and holds.
type Stats struct {
	// Running is the number of look-ups under way, Waiting of those that wait.
	Running, Waiting int
	// LookupsVerified, LookupsFailed and LookupsUnknown count look-ups since the
	// start by what they found: a confirmed name, conclusively none, or no answer.
	LookupsVerified, LookupsFailed, LookupsUnknown uint64
	// Dropped counts look-ups that did not take place because too many waited, of
	// all or of one network, or because of the rate, and those that took long and
	// were cut short for others.
	Dropped uint64
}

// Stats returns counts of what the verifier did and holds.
func (v *Verifier) Stats() Stats {
	running, waiting := v.lookups.busy()
	return Stats{
		Running: running, Waiting: waiting,
		LookupsVerified: v.found[Verified].Load(),
		LookupsFailed:   v.found[Spoofed].Load(),
		LookupsUnknown:  v.found[Unknown].Load(),
		Dropped:         v.lookups.dropped.Load(),
	}
}

// ListStatus is the state of a list of addresses.
type ListStatus struct {
	// Source is the URL or the path of the file.
	Source string
	// For are the tokens of the crawlers that it is used for. It must not be modified.
	For []string
	// Prefixes is the number of prefixes in use; 0 if the list was never loaded.
	Prefixes int
	// Changed is when the prefixes in use were loaded, Checked when they were last
	// confirmed to be current; zero if never.
	Changed, Checked time.Time
	// Next is when a list of a URL is fetched next; zero for a file.
	Next time.Time
	// Err is why the last attempt to load it failed, nil if it did not.
	Err error
	// ShrunkSince is when the list was first seen without most of what it had, which is
	// not believed at once; zero if it was not, or is believed.
	ShrunkSince time.Time
	// Stale says that the list does not deny claims: it was never loaded, was not
	// confirmed to be current for longer than a week, or lately lost most of what it
	// had.
	Stale bool
}

// Lists returns the state of each list, sorted by source.
func (v *Verifier) Lists() []ListStatus {
	s := v.setup.Load()
	all := make([]ListStatus, 0, len(s.lists))
	now := v.now()
	for _, l := range s.lists {
		all = append(all, l.status(s.users[l], now))
	}
	slices.SortFunc(all, func(a, b ListStatus) int { return strings.Compare(a.Source, b.Source) })
	return all
}
