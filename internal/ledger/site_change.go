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

// SiteChange is a change of a site's robots.txt or of its mode (monitor, enforce or mixed).
type SiteChange struct {
	At   int64          `json:"at"` // At is the time in Unix milliseconds.
	Kind SiteChangeKind `json:"kind"`
	// From and To are the values before and after the change: versions of a robots.txt in
	// hexadecimal, or modes.
	From string `json:"from"`
	To   string `json:"to"`
}

// SiteChangeKind says what changed: the robots.txt or the mode.
type SiteChangeKind string

// These are the kinds of changes of a site.
const (
	RobotsChange SiteChangeKind = "robots" // The site has another version of robots.txt.
	// The site has another mode: monitor, enforce, or mixed if its parts differ.
	ModeChange SiteChangeKind = "mode"
)

// maxSiteChanges is the maximum number of changes of a site. The newest remain.
const maxSiteChanges = 24

// RecordRobotsChange records that a site has a new version of its robots.txt. Unchanged and moved
// lines keep their counts. Sites without data in the ledger are ignored.
func (l *Ledger) RecordRobotsChange(site string, before, after *policy.Version, at time.Time) {
	if site == Other || before.Hash == after.Hash {
		return
	}
	oldLines, newLines := lineNumbers(before.Robots), lineNumbers(after.Robots)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.countBufferedRecords()
	if s := l.sites[site]; s != nil {
		s.addChange(SiteChange{at.UnixMilli(), RobotsChange, Version(before.Hash).String(), Version(after.Hash).String()})
		next := LineHits{Version: after.Hash, LastHit: at.UnixMilli()}
		s.copyLineCounts(before.Hash, next, oldLines, newLines)
	}
}

// RecordModeChange records the mode of a site: monitor, enforce or mixed. Other modes are ignored.
func (l *Ledger) RecordModeChange(site, mode string, at time.Time) {
	if site == Other || !isMode(mode) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.getOrCreateSite(site); s.Name == site { // For an unknown site, the result is the site Other.
		s.setMode(mode, at.UnixMilli())
		s.modeChangedAt = at.UnixMilli()
	}
}

// setMode sets the mode of the site. If the site had another mode, setMode adds a SiteChange.
func (s *Site) setMode(mode string, at int64) {
	if s.Mode != "" && s.Mode != mode {
		s.addChange(SiteChange{at, ModeChange, s.Mode, mode})
	}
	if s.Mode != mode {
		s.revision++
	}
	s.Mode = mode
}

// restoreMode adds the mode from the storage. A mode recorded since the start of the server is
// newer and remains.
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

func (s *Site) addChange(m SiteChange) {
	s.Changes = append(s.Changes, m)
	s.sortChanges()
	s.revision++
}

// sortChanges sorts the changes by time. sortChanges removes changes that several instances
// recorded, and the oldest changes beyond maxSiteChanges.
func (s *Site) sortChanges() {
	slices.SortStableFunc(s.Changes, func(a, b SiteChange) int { return cmp.Compare(a.At, b.At) })
	last := make(map[SiteChangeKind]string)
	s.Changes = slices.DeleteFunc(s.Changes, func(m SiteChange) bool {
		duplicate := last[m.Kind] == m.To || m.From == m.To
		last[m.Kind] = m.To
		return duplicate
	})
	s.Changes = slices.Clone(s.Changes[max(0, len(s.Changes)-maxSiteChanges):])
}

// pruneChanges removes changes that are older than retention or in the future.
func (s *Site) pruneChanges(now int64, retention time.Duration) {
	s.Changes = slices.DeleteFunc(s.Changes, func(m SiteChange) bool { return m.At < now-retention.Milliseconds() || m.At > now })
}

func isMode(mode string) bool {
	return slices.Contains([]string{judge.ModeWord(false), judge.ModeWord(true), ModeMixed}, mode)
}

// isValid reports whether the kind of m is known, and its values are versions or modes.
func (m SiteChange) isValid() bool {
	switch m.Kind {
	case RobotsChange:
		return isVersion(m.From) && isVersion(m.To)
	case ModeChange:
		return isMode(m.From) && isMode(m.To)
	}
	return false
}

func isVersion(version string) bool {
	return len(version) == hex.EncodedLen(len(Version{})) && strings.Trim(version, "0123456789abcdef") == ""
}

// ModeMixed is the mode of a site of which one part enforces and another part monitors.
const ModeMixed = "mixed"

// copyLineCounts copies the counts of the lines of version before to next, the counts of the new
// version. oldLines and newLines are the lines of the two versions. Equal keys identify the same
// line.
func (s *Site) copyLineCounts(before Version, next LineHits, oldLines, newLines map[lineKey]int) {
	find := func(v Version) int {
		return slices.IndexFunc(s.VersionHits, func(f LineHits) bool { return f.Version == v })
	}
	i := find(before)
	if i < 0 {
		return
	}
	old := s.VersionHits[i]
	next.Since, next.Lines = old.Since, make(map[uint32]uint64)
	if known := find(next.Version); known >= 0 { // The edit restores an earlier version.
		next.Since, next.Lines = min(next.Since, s.VersionHits[known].Since), s.VersionHits[known].Lines
		s.VersionHits = slices.Delete(s.VersionHits, known, known+1)
	}
	for key, line := range newLines {
		n := old.Lines[uint32(oldLines[key])]
		if _, known := next.Lines[uint32(line)]; n > next.Lines[uint32(line)] && (known || len(next.Lines) < maxLines) {
			next.Lines[uint32(line)] = n
		}
	}
	s.VersionHits = slices.Insert(s.VersionHits, 0, next)
	s.VersionHits = s.VersionHits[:min(len(s.VersionHits), maxVersions)]
}

// lineKey identifies a line of a robots.txt independent of its line number. The line is a
// User-agent line, or a rule in a group that names the crawler in the field agent.
type lineKey struct {
	agent      string
	rule       string // rule is the rule, or "" for a user-agent line.
	occurrence int    // occurrence is 1 for the first of equal lines, 2 for the second, and so on.
}

// maxComparedLines is the maximum number of lines to compare. A rule counts once for each name of
// its group.
const maxComparedLines = 4 * maxLines

// lineNumbers returns the line number of each User-agent line and each rule. It stops after
// maxComparedLines lines.
func lineNumbers(robots *policy.Robots) map[lineKey]int {
	lines, equal := make(map[lineKey]int), make(map[lineKey]int)
	add := func(key lineKey, line int) bool {
		equal[key]++
		key.occurrence = equal[key]
		lines[key] = line
		return len(lines) < maxComparedLines
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
