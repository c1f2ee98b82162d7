package ledger

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
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

// indexedRows is for how many rows a site keeps an index. Fewer are looked through
// as fast.
const indexedRows = 6

// find returns a row, nil if there is none.
func (s *Site) find(key rowKey) *Row {
	if len(s.Rows) > indexedRows {
		if s.index == nil {
			s.reindex()
		}
		for w := s.index[key.token]; w != nil; w = w.next {
			if w.Identity == key.identity && w.Class == key.class {
				return w
			}
		}
		return nil
	}
	for _, w := range s.Rows {
		if w.Identity == key.identity && w.Token == key.token && w.Class == key.class {
			return w
		}
	}
	return nil
}

func (s *Site) reindex() {
	s.index = make(map[string]*Row, len(s.Rows))
	for _, w := range s.Rows {
		s.put(w)
	}
}

// put adds a row to the index.
func (s *Site) put(w *Row) { s.index[w.Token], w.next = w, s.index[w.Token] }

// rowsChanged forgets what is known of the rows, from which some were taken out.
func (s *Site) rowsChanged() { s.index, s.crowded = nil, crowded{} }

// add takes in a row of which there is none yet.
func (s *Site) add(w *Row) {
	s.Rows, s.crowded = append(s.Rows, w), crowded{}
	if s.index != nil {
		s.put(w)
	}
}

// crowded are the times, in Unix milliseconds, before which no row is idle for so long
// that it makes room, of a site that has no other: for a crawler that its robots.txt
// does not name, and for one that it does. 0 if that has to be looked up.
type crowded [2]int64

func (c *crowded) of(named bool) *int64 {
	if named {
		return &c[1]
	}
	return &c[0]
}

// row returns the row of a crawler, or the one that it shares with others of
// its class, or with all others, where there is no room. more says whether the
// ledger has room for another row.
func (s *Site) row(key rowKey, named bool, at int64, more bool) *Row {
	key.token = text.Cut(key.token, maxToken)
	if w := s.find(key); w != nil {
		if named && !w.Named {
			s.crowded = crowded{} // it leaves the share of those that are not named
		}
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
	w := &Row{Token: strings.Clone(key.token), Class: key.class, Identity: key.identity}
	s.add(w)
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
	if at < *s.crowded.of(named) {
		return false
	}
	unnamed, idle, seen := 0, -1, int64(math.MaxInt64)
	for i, w := range s.Rows {
		if w.Token == Other {
			continue
		}
		if !w.Named {
			unnamed++
		}
		seen = min(seen, w.LastSeen)
		if at-w.LastSeen >= displaceAfter.Milliseconds() && (idle < 0 || w.LastSeen < s.Rows[idle].LastSeen) {
			idle = i
		}
	}
	if s.own() < maxRows && (named || unnamed < maxRows-namedShare) {
		return true
	}
	if idle < 0 {
		*s.crowded.of(named) = seen + displaceAfter.Milliseconds()
		return false
	}
	s.fold(idle)
	return true
}

// fold adds a row to that of all others of its class.
func (s *Site) fold(i int) {
	w := s.Rows[i]
	s.Rows = slices.Delete(s.Rows, i, i+1)
	s.rowsChanged()
	key := w.key()
	key.token = Other
	if common := s.find(key); common != nil {
		common.merge(w)
		return
	}
	w.Names, w.Breakers = w.asNames(w.Names, verdictCounts[:]...), w.asNames(w.Breakers, CountDisallowed)
	w.Token = Other
	s.add(w)
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
