package ledger

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
)

// Site is the data about one site.
type Site struct {
	Name string `json:"name"`
	// Rows has a row for each crawler, in no particular order.
	Rows []*Row `json:"rows"`
	// Hosts counts the requests by host, if the site has several hosts.
	Hosts spacesaving.Sketch[string] `json:"hosts,omitzero"`
	// HostViolations counts the disallowed requests by host, and HostBlocks the disallowed requests
	// that the guard blocked.
	HostViolations spacesaving.Sketch[string] `json:"host_violations,omitzero"`
	HostBlocks     spacesaving.Sketch[string] `json:"host_blocks,omitzero"`
	// Visits counts visits of people by the name of the assistant that referred them, and under
	// [VisitsToDisallowed].
	Visits map[string]*HumanVisits `json:"visits,omitempty"`
	// VersionHits are the hits of the versions of robots.txt that decided recent requests, newest
	// first.
	VersionHits []LineHits `json:"files,omitempty"`
	// Mode is the last known mode, or "". Changes are the changes of the mode and of the
	// robots.txt, oldest first.
	Mode    string       `json:"mode,omitempty"`
	Changes []SiteChange `json:"marks,omitempty"`
	// modeChangedAt is the time of the last RecordModeChange, or 0.
	modeChangedAt int64
	// revision grows with every change that the ledger records about the site. Restored and expired
	// data do not change revision.
	revision uint64
}

// IsFull reports whether the maximum number of lines has counts. Further lines are not counted.
func (f *LineHits) IsFull() bool { return len(f.Lines) >= maxLines }

// LineHits counts how many requests each line of one version of a robots.txt decided. A line is a
// rule, or the User-agent line by which the crawler's group was selected.
type LineHits struct {
	Version Version           `json:"version"`
	Since   int64             `json:"since"` // Since is the start of counting, in Unix milliseconds.
	LastHit int64             `json:"last"`
	Lines   map[uint32]uint64 `json:"lines"`
}

// These are bounds of a site: rows whose token is not Other, how many of these rows are reserved
// for crawlers that the robots.txt names, versions with counted lines, counted lines of a version,
// and hosts.
const (
	maxRows      = 48
	reservedRows = 12
	maxVersions  = 2
	maxLines     = 4096
	maxHosts     = 32
)

// Revision returns a number that grows with every change that the ledger records about the site.
// Restored and expired data do not change the number.
func (s *Site) Revision() uint64 { return s.revision }

func (s *Site) countHost(q *Request) {
	if q.Host == "" {
		return
	}
	s.Hosts.Add(q.Host, 1, q.unixMilli(), maxHosts, strings.Clone)
	if q.Verdict != judge.Disallowed {
		return
	}
	s.HostViolations.Add(q.Host, 1, q.unixMilli(), maxHosts, strings.Clone)
	if q.Action == judge.Blocked {
		s.HostBlocks.Add(q.Host, 1, q.unixMilli(), maxHosts, strings.Clone)
	}
}

func (s *Site) countLines(q *Request) {
	if q.HostsFromClients || q.Rule.Version == (Version{}) || q.GroupLine == 0 {
		return
	}
	at := q.unixMilli()
	i := slices.IndexFunc(s.VersionHits, func(f LineHits) bool { return f.Version == q.Rule.Version })
	if i < 0 {
		i = 0
		if len(s.VersionHits) >= maxVersions {
			s.VersionHits = s.VersionHits[:maxVersions-1]
		}
		s.VersionHits = slices.Insert(s.VersionHits, 0, LineHits{Version: q.Rule.Version, Since: at, LastHit: at, Lines: make(map[uint32]uint64)})
	}
	f := &s.VersionHits[i]
	f.Since, f.LastHit = min(f.Since, at), max(f.LastHit, at)
	f.countHit(q.GroupLine)
	if q.Rule.Line > 0 {
		f.countHit(q.Rule.Line)
	}
}

func (f *LineHits) countHit(line int) {
	if len(f.Lines) >= maxLines {
		if _, ok := f.Lines[uint32(line)]; !ok {
			return
		}
	}
	f.Lines[uint32(line)]++
}

// merge adds the data of other, a Site of the same name from another ledger or the storage. The
// mode of s does not change.
func (s *Site) merge(other *Site) {
	for _, w := range other.Rows {
		if known := s.findRow(w.key()); known != nil {
			known.merge(w)
			continue
		}
		row := &Row{Token: w.Token, Class: w.Class, Identity: w.Identity}
		row.merge(w)
		s.Rows = append(s.Rows, row)
	}
	s.enforceRowBound()
	s.Hosts.Merge(other.Hosts, maxHosts)
	s.HostViolations.Merge(other.HostViolations, maxHosts)
	s.HostBlocks.Merge(other.HostBlocks, maxHosts)
	for _, f := range other.VersionHits {
		i := slices.IndexFunc(s.VersionHits, func(known LineHits) bool { return known.Version == f.Version })
		if i < 0 {
			i = len(s.VersionHits)
			s.VersionHits = append(s.VersionHits, LineHits{Version: f.Version, Since: f.Since, LastHit: f.LastHit, Lines: make(map[uint32]uint64, min(len(f.Lines), maxLines))})
		}
		known := &s.VersionHits[i]
		known.Since, known.LastHit = min(known.Since, f.Since), max(known.LastHit, f.LastHit)
		for line, n := range f.Lines {
			if _, ok := known.Lines[line]; !ok && len(known.Lines) >= maxLines {
				continue
			}
			known.Lines[line] += n
		}
	}
	s.mergeHumanVisits(other)
	s.Changes = append(s.Changes, other.Changes...)
	s.sortChanges()
	slices.SortStableFunc(s.VersionHits, func(a, b LineHits) int { return cmp.Compare(b.LastHit, a.LastHit) })
	s.VersionHits = s.VersionHits[:min(len(s.VersionHits), maxVersions)]
}

// prune removes data that are older than retention, and removes or limits data in the future. prune
// reports whether rows or visits remain. now is in Unix milliseconds.
func (s *Site) prune(now int64, retention time.Duration) bool {
	s.Rows = slices.DeleteFunc(s.Rows, func(w *Row) bool { return !w.prune(now, retention) })
	s.Hosts.Prune(now, retention)
	s.HostViolations.Prune(now, retention)
	s.HostBlocks.Prune(now, retention)
	s.pruneChanges(now, retention)
	for i := range s.VersionHits {
		s.VersionHits[i].LastHit = min(s.VersionHits[i].LastHit, now) // This limits times from a wrong clock.
	}
	s.VersionHits = slices.DeleteFunc(s.VersionHits, func(f LineHits) bool { return f.LastHit < now-retention.Milliseconds() })
	maps.DeleteFunc(s.Visits, func(_ string, v *HumanVisits) bool { return !v.prune(now, retention) })
	return len(s.Rows) > 0 || len(s.Visits) > 0
}

// clone returns a deep copy of the data, the mode and the revision. The copy and s share only
// strings and RobotsFetch values, which do not change.
func (s *Site) clone() *Site {
	c := &Site{Name: s.Name, Mode: s.Mode, revision: s.revision}
	c.merge(s)
	return c
}
