package verify

import (
	"slices"
	"strings"
	"time"
)

// Stats are counters and gauges of a [Verifier].
type Stats struct {
	// Running and Waiting are the numbers of running and waiting lookups.
	Running, Waiting int
	// LookupsVerified, LookupsFailed and LookupsUnknown count completed lookups by result:
	// confirmed, conclusively denied, and undecided.
	LookupsVerified, LookupsFailed, LookupsUnknown uint64
	// LookupsDropped counts lookups that exceeded a limit on the queue, on a network or on the rate,
	// and slow lookups that were cancelled in favor of others.
	LookupsDropped uint64
}

// Stats returns the current counters and gauges.
func (v *Verifier) Stats() Stats {
	running, waiting := v.lookups.countLookups()
	return Stats{
		Running: running, Waiting: waiting,
		LookupsVerified: v.lookupsByState[Verified].Load(),
		LookupsFailed:   v.lookupsByState[Spoofed].Load(),
		LookupsUnknown:  v.lookupsByState[Unknown].Load(),
		LookupsDropped:  v.lookups.numDropped.Load(),
	}
}

// ListStatus is the state of an address list.
type ListStatus struct {
	// Source is the URL or the path of the file.
	Source string
	// Crawlers lists the tokens of the crawlers with this list. Callers must not modify the slice.
	Crawlers []string
	// Prefixes is the number of prefixes in use; 0 if the list was never loaded.
	Prefixes int
	// ChangedAt is the time when the prefixes in use were loaded. CheckedAt is the time when the
	// source last confirmed them. Both are zero if the list was never loaded.
	ChangedAt, CheckedAt time.Time
	// NextFetch is the time of the next fetch, or zero for a file.
	NextFetch time.Time
	// Err is the error of the last attempt to load the list, or nil.
	Err error
	// ShrunkSince is the time of the first response that lacked most of the prefixes. ShrunkSince
	// is zero if no response lacked them, or if the shorter list is in use.
	ShrunkSince time.Time
	// CannotDeny reports whether an address that the list lacks proves nothing. The list was never
	// loaded, was not confirmed for more than a week, or recently lost most of its prefixes.
	CannotDeny bool
}

// Lists returns the state of each list, sorted by source.
func (v *Verifier) Lists() []ListStatus {
	s := v.activeConfig.Load()
	statuses := make([]ListStatus, 0, len(s.lists))
	now := v.now()
	for _, l := range s.lists {
		statuses = append(statuses, l.newStatus(s.crawlersByList[l], now))
	}
	slices.SortFunc(statuses, func(a, b ListStatus) int { return strings.Compare(a.Source, b.Source) })
	return statuses
}
