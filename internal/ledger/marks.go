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

// Mark is a moment from which on the counts of a site mean something else.
type Mark struct {
	At   int64    `json:"at"` // in Unix milliseconds
	Kind MarkKind `json:"kind"`
	// From and To are what was before and what is since: versions of a robots.txt
	// in hexadecimal, or modes.
	From string `json:"from"`
	To   string `json:"to"`
}

// MarkKind is what has changed. It is stored as its word.
type MarkKind string

// The kinds.
const (
	MarkRobots MarkKind = "robots" // another text of the robots.txt
	MarkMode   MarkKind = "mode"   // monitor, enforce, or mixed where parts of the site differ
)

// maxMarks is how many marks of a site are kept, the latest.
const maxMarks = 24

// Edited takes note that another text took the place of the robots.txt of a
// site, which the ledger must know already. The counts of lines that the edit has left or moved
// go on.
func (l *Ledger) Edited(site string, before, after *policy.Version, at time.Time) {
	if site == Other || before.Hash == after.Hash {
		return
	}
	was, is := linesOf(before.Robots), linesOf(after.Robots)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.countAll()
	if s := l.sites[site]; s != nil {
		s.mark(Mark{at.UnixMilli(), MarkRobots, Version(before.Hash).String(), Version(after.Hash).String()})
		next := File{Version: after.Hash, Last: at.UnixMilli()}
		s.carry(before.Hash, next, was, is)
	}
}

// Switched takes note of the mode of a site: monitor, enforce or mixed.
func (l *Ledger) Switched(site, mode string, at time.Time) {
	if site == Other || !isMode(mode) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.site(site); s.Name == site { // and has not to share
		s.switched(mode, at.UnixMilli())
		s.switchedAt = at.UnixMilli()
	}
}

// switched marks another mode than the one before, if that is known.
func (s *Site) switched(mode string, at int64) {
	if s.Mode != "" && s.Mode != mode {
		s.mark(Mark{at, MarkMode, s.Mode, mode})
	}
	if s.Mode != mode {
		s.noted++
	}
	s.Mode = mode
}

// restoreMode takes in the mode that was stored: one that this process has seen
// already came after it.
func (s *Site) restoreMode(stored string) {
	switch now := s.Mode; {
	case stored == "":
	case s.switchedAt != 0:
		s.Mode = stored
		s.switched(now, s.switchedAt)
	default:
		s.Mode = stored
	}
}

func (s *Site) mark(m Mark) {
	s.Marks = append(s.Marks, m)
	s.orderMarks()
	s.noted++
}

// orderMarks sorts the marks by time and leaves out what several instances have
// seen of one change: nothing becomes what it already is.
func (s *Site) orderMarks() {
	slices.SortStableFunc(s.Marks, func(a, b Mark) int { return cmp.Compare(a.At, b.At) })
	last := make(map[MarkKind]string)
	s.Marks = slices.DeleteFunc(s.Marks, func(m Mark) bool {
		again := last[m.Kind] == m.To || m.From == m.To
		last[m.Kind] = m.To
		return again
	})
	s.Marks = slices.Clone(s.Marks[max(0, len(s.Marks)-maxMarks):])
}

// pruneMarks forgets what is older than retention, and what is in the future.
func (s *Site) pruneMarks(now int64, retention time.Duration) {
	s.Marks = slices.DeleteFunc(s.Marks, func(m Mark) bool { return m.At < now-retention.Milliseconds() || m.At > now })
}

// cleanMarks brings marks that were read into the form that they have in a
// ledger.
func (s *Site) cleanMarks(from *Site) {
	if isMode(from.Mode) {
		s.Mode = from.Mode
	}
	for _, m := range from.Marks[max(0, len(from.Marks)-maxMarks):] {
		valid := isMode
		if m.Kind == MarkRobots {
			valid = isVersion
		}
		if (m.Kind == MarkRobots || m.Kind == MarkMode) && valid(m.From) && valid(m.To) {
			s.Marks = append(s.Marks, m)
		}
	}
	s.orderMarks()
}

func isMode(word string) bool {
	return slices.Contains([]string{judge.ModeOf(false), judge.ModeOf(true), ModeMixed}, word)
}

// ModeMixed is the mode of a site of which some parts are enforced.
const ModeMixed = "mixed"

func isVersion(text string) bool {
	return len(text) == hex.EncodedLen(len(Version{})) && strings.Trim(text, "0123456789abcdef") == ""
}

// carry gives the lines of a new text the counts of the lines of the one before
// that they continue.
func (s *Site) carry(before Version, next File, was, is map[lineKey]int) {
	find := func(v Version) int { return slices.IndexFunc(s.Files, func(f File) bool { return f.Version == v }) }
	i := find(before)
	if i < 0 {
		return
	}
	old := s.Files[i]
	next.Since, next.Cut, next.Lines = old.Since, old.Cut, make(map[uint32]uint64)
	if known := find(next.Version); known >= 0 { // an edit was taken back
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

// lineKey is a line of a robots.txt, wherever it stands: a User-agent line, or a
// rule of whom it names.
type lineKey struct {
	agent string
	rule  string // "" for the User-agent line
	nth   int    // of equal ones
}

// maxContinued is how many of them are looked for. A group of many names has each
// of its rules once for each name.
const maxContinued = 4 * maxLines

// linesOf returns where the lines are that can decide about a request.
func linesOf(robots *policy.Robots) map[lineKey]int {
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
