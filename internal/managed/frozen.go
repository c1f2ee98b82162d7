package managed

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Freeze says that the classes which rules name stand from now on for what they do in
// the registry of today. It belongs to the making of a schedule.
func (s *Schedule) Freeze() {
	s.frozen = make(map[string][]string)
	for i := range s.rules {
		for _, word := range s.rules[i].For {
			if class, ok := uaident.ParseClass(word); ok && word != Everybody {
				s.frozen[word] = s.names.classOf(word, class)
			}
		}
	}
}

// IsFrozen reports whether some class does not follow the registry.
func (s *Schedule) IsFrozen() bool { return len(s.frozen) > 0 }

// SameWish reports whether the owner of another schedule wants the same: they differ at
// most in what classes stood for when each was made, and both are frozen.
func (s *Schedule) SameWish(o *Schedule) bool {
	if s.IsFrozen() != o.IsFrozen() {
		return false
	}
	a, errA := json.Marshal(spec{s.rules, s.sitemaps, s.lines, s.staging, nil})
	b, errB := json.Marshal(spec{o.rules, o.sitemaps, o.lines, o.staging, nil})
	return errA == nil && errB == nil && string(a) == string(b)
}

// frozenWords tells what classes stand for, a line for each.
func (s *Schedule) frozenWords() (lines []string) {
	for _, class := range slices.Sorted(maps.Keys(s.frozen)) {
		lines = append(lines, class+" stands for "+strings.Join(s.frozen[class], ", "))
	}
	return lines
}
