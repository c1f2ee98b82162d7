package ledger

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Site is what is known of one site.
type Site struct {
	Name string `json:"name"`
	// Rows are the crawlers, in no particular order.
	Rows []*Row `json:"rows"`
	// Hosts are those of its requests, where it stands for several.
	Hosts spacesaving.Sketch[string] `json:"hosts,omitzero"`
	// Visits are how often people came from an assistant, by its name.
	Visits map[string]*Visits `json:"visits,omitempty"`
	// Files are the texts of its robots.txt by which was judged lately, the
	// latest first.
	Files []File `json:"files,omitempty"`
	// Mode is the last one that is known, "" for none. Marks are when it or the
	// robots.txt has changed, the earliest first.
	Mode  string `json:"mode,omitempty"`
	Marks []Mark `json:"marks,omitempty"`
	// switchedAt is when this ledger was told the mode, 0 if it never was.
	switchedAt int64
}

// File is how often the lines of one text of a robots.txt have decided about a
// request, as a rule or as the user-agent line of a group.
type File struct {
	Version Version           `json:"version"`
	Since   int64             `json:"since"` // when counting began, in Unix milliseconds
	Last    int64             `json:"last"`
	Lines   map[uint32]uint64 `json:"lines"`
	// Cut says that more lines have decided something than are counted.
	Cut bool `json:"cut,omitempty"`
}

// Bounds of a site: crawlers with a row of their own, some of them for those
// that the robots.txt names, robots.txt files, and counted lines of each.
const (
	maxRows    = 48
	namedShare = 12
	maxFiles   = 2
	maxLines   = 4096
	maxHosts   = 32
)

// displaceAfter is after what time without a request a crawler makes room for
// another one.
const displaceAfter = 24 * time.Hour

// rowKey tells rows apart.
type rowKey struct {
	token, class string
	identity     verify.State
}

func (w *Row) key() rowKey { return rowKey{w.Token, w.Class, w.Identity} }

// find returns a row, nil if there is none.
func (s *Site) find(key rowKey) *Row {
	for _, w := range s.Rows {
		if w.key() == key {
			return w
		}
	}
	return nil
}

// row returns the row of a crawler, or the one that it shares with others of
// its class, or with all others, where there is no room. more says whether the
// ledger has room for another row.
func (s *Site) row(key rowKey, named bool, at int64, more bool) *Row {
	if w := s.find(key); w != nil {
		return w
	}
	if key.token == Other || !s.room(named, at) || !more {
		key.token = Other
		if w := s.find(key); w != nil {
			return w
		}
		if !more {
			if w := s.others(); w != nil {
				return w
			}
		}
	}
	w := &Row{Token: own(key.token, maxToken), Class: key.class, Identity: key.identity}
	s.Rows = append(s.Rows, w)
	return w
}

// others returns a row that crawlers share, nil if there is none.
func (s *Site) others() *Row {
	for _, w := range s.Rows {
		if w.Token == Other {
			return w
		}
	}
	return nil
}

// room reports whether another crawler can have a row, making it if some other
// was not seen for long.
func (s *Site) room(named bool, at int64) bool {
	unnamed, idle := 0, -1
	for i, w := range s.Rows {
		if w.Token == Other {
			continue
		}
		if !w.Named {
			unnamed++
		}
		if at-w.LastSeen >= displaceAfter.Milliseconds() && (idle < 0 || w.LastSeen < s.Rows[idle].LastSeen) {
			idle = i
		}
	}
	if s.own() < maxRows && (named || unnamed < maxRows-namedShare) {
		return true
	}
	if idle < 0 {
		return false
	}
	s.fold(idle)
	return true
}

// fold adds a row to that of all others of its class.
func (s *Site) fold(i int) {
	w := s.Rows[i]
	s.Rows = slices.Delete(s.Rows, i, i+1)
	key := w.key()
	key.token = Other
	if common := s.find(key); common != nil {
		common.merge(w)
		return
	}
	w.Names, w.Breakers = w.asNames(w.Names, verdictCounts[:]...), w.asNames(w.Breakers, CountDisallowed)
	w.Token = Other
	s.Rows = append(s.Rows, w)
}

// noteHost counts the host of a request.
func (s *Site) noteHost(q *pending) {
	if q.Host != "" {
		s.Hosts.Add(q.Host, 1, q.at, maxHosts, strings.Clone)
	}
}

// noteLines counts the lines that decided about a request.
func (s *Site) noteLines(q *pending) {
	if q.Shared || q.Rule.Version == (Version{}) || q.GroupLine == 0 {
		return
	}
	i := slices.IndexFunc(s.Files, func(f File) bool { return f.Version == q.Rule.Version })
	if i < 0 {
		i = 0
		if len(s.Files) >= maxFiles {
			s.Files = s.Files[:maxFiles-1]
		}
		s.Files = slices.Insert(s.Files, 0, File{Version: q.Rule.Version, Since: q.at, Last: q.at, Lines: make(map[uint32]uint64)})
	}
	f := &s.Files[i]
	f.Since, f.Last = min(f.Since, q.at), max(f.Last, q.at)
	f.hit(q.GroupLine)
	if q.Rule.Line > 0 {
		f.hit(q.Rule.Line)
	}
}

func (f *File) hit(line int) {
	if _, ok := f.Lines[uint32(line)]; !ok && len(f.Lines) >= maxLines {
		f.Cut = true
		return
	}
	f.Lines[uint32(line)]++
}

// merge adds what another place has counted at the same site.
func (s *Site) merge(other *Site) {
	for _, w := range other.Rows {
		if known := s.find(w.key()); known != nil {
			known.merge(w)
			continue
		}
		c := w.clone()
		s.Rows = append(s.Rows, &c)
	}
	s.limit()
	s.Hosts.Merge(other.Hosts, maxHosts)
	for _, f := range other.Files {
		i := slices.IndexFunc(s.Files, func(known File) bool { return known.Version == f.Version })
		if i < 0 {
			f.Lines = maps.Clone(f.Lines)
			s.Files = append(s.Files, f)
			continue
		}
		known := &s.Files[i]
		known.Since, known.Last, known.Cut = min(known.Since, f.Since), max(known.Last, f.Last), known.Cut || f.Cut
		for line, n := range f.Lines {
			if _, ok := known.Lines[line]; !ok && len(known.Lines) >= maxLines {
				known.Cut = true
				continue
			}
			known.Lines[line] += n
		}
	}
	s.mergeVisits(other)
	s.Marks = append(s.Marks, other.Marks...)
	s.orderMarks()
	slices.SortStableFunc(s.Files, func(a, b File) int { return int(min(max(b.Last-a.Last, -1), 1)) })
	s.Files = s.Files[:min(len(s.Files), maxFiles)]
}

// own returns how many crawlers have a row of their own.
func (s *Site) own() (n int) {
	for _, w := range s.Rows {
		if w.Token != Other {
			n++
		}
	}
	return n
}

// limit keeps within the bound of rows: those not seen for longest are folded.
func (s *Site) limit() {
	for s.own() > maxRows {
		s.foldIdlest()
	}
}

// foldIdlest folds the row of the crawler that was not seen for longest. There
// must be one.
func (s *Site) foldIdlest() {
	idlest := -1
	for i, w := range s.Rows {
		if w.Token != Other && (idlest < 0 || w.LastSeen < s.Rows[idlest].LastSeen) {
			idlest = i
		}
	}
	s.fold(idlest)
}

// prune forgets what is older than retention. It reports whether anything is
// left.
func (s *Site) prune(now int64, retention time.Duration) bool {
	s.Rows = slices.DeleteFunc(s.Rows, func(w *Row) bool { return !w.prune(now, retention) })
	s.Hosts.Prune(now, retention)
	s.pruneMarks(now, retention)
	s.Files = slices.DeleteFunc(s.Files, func(f File) bool { return f.Last < now-retention.Milliseconds() })
	maps.DeleteFunc(s.Visits, func(_ string, v *Visits) bool { return !v.prune(now, retention) })
	return len(s.Rows) > 0 || len(s.Visits) > 0
}

// clone returns a copy that shares nothing but the memory of strings.
func (s *Site) clone() *Site {
	c := &Site{Name: s.Name, Rows: make([]*Row, len(s.Rows)), Hosts: s.Hosts.Clone(), Files: slices.Clone(s.Files), Mode: s.Mode, Marks: slices.Clone(s.Marks)}
	for i, w := range s.Rows {
		row := w.clone()
		c.Rows[i] = &row
	}
	c.mergeVisits(s)
	for i := range c.Files {
		c.Files[i].Lines = maps.Clone(c.Files[i].Lines)
	}
	return c
}
