package ledger

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Mark is a change of a site's robots.txt or mode.
type Mark struct {
	At   int64    `json:"at"` // in Unix milliseconds
	Kind MarkKind `json:"kind"`
	// From and To are the values before and after: versions of a robots.txt in hexadecimal,
	// or modes.
	From string `json:"from"`
	To   string `json:"to"`
}

// MarkKind is the kind of a change.
type MarkKind string

// The kinds.
const (
	MarkRobots MarkKind = "robots" // another version of the robots.txt
	MarkMode   MarkKind = "mode"   // monitor, enforce, or mixed where parts of the site differ
)

// maxMarks is the maximum number of marks of a site. The newest remain.
const maxMarks = 24

// RecordEdit records a new version of a site's robots.txt. Unknown sites are ignored. The counts of
// unchanged and moved lines survive.
func (l *Ledger) RecordEdit(site string, before, after *policy.Version, at time.Time) {
	if site == Other || before.Hash == after.Hash {
		return
	}
	was, is := lineNumbers(before.Robots), lineNumbers(after.Robots)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.countAll()
	if s := l.sites[site]; s != nil {
		s.addMark(Mark{at.UnixMilli(), MarkRobots, Version(before.Hash).String(), Version(after.Hash).String()})
		next := LineHits{Version: after.Hash, LastHit: at.UnixMilli()}
		s.carryLineCounts(before.Hash, next, was, is)
	}
}

// RecordModeChange records the mode of a site: monitor, enforce or mixed.
func (l *Ledger) RecordModeChange(site, mode string, at time.Time) {
	if site == Other || !isMode(mode) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.site(site); s.Name == site { // does not share the name Other
		s.setMode(mode, at.UnixMilli())
		s.modeChangedAt = at.UnixMilli()
	}
}

// setMode adds a mark if the known mode changes.
func (s *Site) setMode(mode string, at int64) {
	if s.Mode != "" && s.Mode != mode {
		s.addMark(Mark{at, MarkMode, s.Mode, mode})
	}
	if s.Mode != mode {
		s.revision++
	}
	s.Mode = mode
}

// restoreMode restores the stored mode. A mode from this process is newer.
func (s *Site) restoreMode(stored string) {
	switch now := s.Mode; {
	case stored == "":
	case s.modeChangedAt != 0:
		s.Mode = stored
		s.setMode(now, s.modeChangedAt)
	default:
		s.Mode = stored
	}
}

func (s *Site) addMark(m Mark) {
	s.Marks = append(s.Marks, m)
	s.sortMarks()
	s.revision++
}

// sortMarks sorts the marks by time and removes duplicates from several instances.
func (s *Site) sortMarks() {
	slices.SortStableFunc(s.Marks, func(a, b Mark) int { return cmp.Compare(a.At, b.At) })
	last := make(map[MarkKind]string)
	s.Marks = slices.DeleteFunc(s.Marks, func(m Mark) bool {
		again := last[m.Kind] == m.To || m.From == m.To
		last[m.Kind] = m.To
		return again
	})
	s.Marks = slices.Clone(s.Marks[max(0, len(s.Marks)-maxMarks):])
}

// pruneMarks removes marks older than retention or in the future.
func (s *Site) pruneMarks(now int64, retention time.Duration) {
	s.Marks = slices.DeleteFunc(s.Marks, func(m Mark) bool { return m.At < now-retention.Milliseconds() || m.At > now })
}

func isMode(word string) bool {
	return slices.Contains([]string{judge.ModeWord(false), judge.ModeWord(true), ModeMixed}, word)
}

// isValid reports whether m can be a mark of RecordEdit or RecordModeChange.
func (m Mark) isValid() bool {
	switch m.Kind {
	case MarkRobots:
		return isVersion(m.From) && isVersion(m.To)
	case MarkMode:
		return isMode(m.From) && isMode(m.To)
	}
	return false
}

func isVersion(text string) bool {
	return len(text) == hex.EncodedLen(len(Version{})) && strings.Trim(text, "0123456789abcdef") == ""
}

// ModeMixed is the mode of a site with enforced and monitored parts.
const ModeMixed = "mixed"

// carryLineCounts copies the counts of unchanged and moved lines to a new version.
func (s *Site) carryLineCounts(before Version, next LineHits, was, is map[lineKey]int) {
	find := func(v Version) int { return slices.IndexFunc(s.Files, func(f LineHits) bool { return f.Version == v }) }
	i := find(before)
	if i < 0 {
		return
	}
	old := s.Files[i]
	next.Since, next.Lines = old.Since, make(map[uint32]uint64)
	if known := find(next.Version); known >= 0 { // the edit restores an earlier version
		next.Since, next.Lines = min(next.Since, s.Files[known].Since), s.Files[known].Lines
		s.Files = slices.Delete(s.Files, known, known+1)
	}
	for key, line := range is {
		n := old.Lines[uint32(was[key])]
		if _, known := next.Lines[uint32(line)]; n > next.Lines[uint32(line)] && (known || len(next.Lines) < maxLines) {
			next.Lines[uint32(line)] = n
		}
	}
	s.Files = slices.Insert(s.Files, 0, next)
	s.Files = s.Files[:min(len(s.Files), maxFiles)]
}

// lineKey identifies a line of a robots.txt independent of its position: a User-agent line,
// or a rule of a group with the name agent.
type lineKey struct {
	agent string
	rule  string // "" for the User-agent line
	nth   int    // ordinal among equal lines
}

// maxContinued is the maximum number of lines to compare. A rule occurs once for each name of
// its group.
const maxContinued = 4 * maxLines

// lineNumbers returns the numbers of all lines that can decide a request.
func lineNumbers(robots *policy.Robots) map[lineKey]int {
	lines, equal := make(map[lineKey]int), make(map[lineKey]int)
	add := func(key lineKey, line int) bool {
		equal[key]++
		key.nth = equal[key]
		lines[key] = line
		return len(lines) < maxContinued
	}
	for _, group := range robots.Groups() {
		for _, agent := range group.Agents {
			name := strings.ToLower(agent.Name)
			if !add(lineKey{agent: name}, agent.Line) {
				return lines
			}
			for _, rule := range group.Rules {
				if !add(lineKey{agent: name, rule: rule.String()}, rule.Line) {
					return lines
				}
			}
		}
	}
	return lines
}
