package ledger

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// displaceAfter is the idle time after which a crawler's row can be folded for another
// crawler.
const displaceAfter = 24 * time.Hour

// rowKey identifies a row.
type rowKey struct {
	token, class string
	identity     verify.State
}

func (w *Row) key() rowKey { return rowKey{w.Token, w.Class, w.Identity} }

// indexedRows is the number of rows above which a site has an index.
const indexedRows = 6

// find returns a row, or nil.
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
		s.indexRow(w)
	}
}

// indexRow adds a row to the index.
func (s *Site) indexRow(w *Row) { s.index[w.Token], w.next = w, s.index[w.Token] }

// resetIndex invalidates the caches after rows were removed.
func (s *Site) resetIndex() { s.index, s.crowded = nil, crowded{} }

// add adds a new row.
func (s *Site) add(w *Row) {
	s.Rows, s.crowded = append(s.Rows, w), crowded{}
	if s.index != nil {
		s.indexRow(w)
	}
}

// crowded caches, for a site without room, the time at which the first row becomes idle. The
// values are Unix milliseconds for a crawler that the robots.txt does not name, and for a
// named crawler. 0 means unknown.
type crowded [2]int64

func (c *crowded) of(named bool) *int64 {
	if named {
		return &c[1]
	}
	return &c[0]
}

// row returns the row of a crawler. Without room it returns the shared row of the class, or
// any shared row. more reports whether the ledger has room for another row.
func (s *Site) row(key rowKey, named bool, at int64, more bool) *Row {
	key.token = text.Truncate(key.token, maxToken)
	if w := s.find(key); w != nil {
		if named && !w.Named {
			s.crowded = crowded{} // frees room for unnamed crawlers
		}
		return w
	}
	if key.token == Other || !s.room(named, at) || !more {
		key.token = Other
		if w := s.find(key); w != nil {
			return w
		}
		if !more {
			if w := s.otherRow(); w != nil {
				return w
			}
		}
	}
	w := &Row{Token: strings.Clone(key.token), Class: key.class, Identity: key.identity}
	s.add(w)
	return w
}

// otherRow returns a shared row, or nil.
func (s *Site) otherRow() *Row {
	for _, w := range s.Rows {
		if w.Token == Other {
			return w
		}
	}
	return nil
}

// room reports whether another crawler can have a row. It folds an idle row if necessary.
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
	if s.ownRowCount() < maxRows && (named || unnamed < maxRows-namedShare) {
		return true
	}
	if idle < 0 {
		*s.crowded.of(named) = seen + displaceAfter.Milliseconds()
		return false
	}
	s.mergeIntoOther(idle)
	return true
}

// mergeIntoOther merges a row into the shared row of its class.
func (s *Site) mergeIntoOther(i int) {
	w := s.Rows[i]
	s.Rows = slices.Delete(s.Rows, i, i+1)
	s.resetIndex()
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

// ownRowCount returns the number of rows of single crawlers.
func (s *Site) ownRowCount() (n int) {
	for _, w := range s.Rows {
		if w.Token != Other {
			n++
		}
	}
	return n
}

// limit folds the most idle rows until the bound is met.
func (s *Site) limit() {
	for s.ownRowCount() > maxRows {
		s.mergeIdlestRow()
	}
}

// mergeIdlestRow folds the row of the most idle crawler. There must be one.
func (s *Site) mergeIdlestRow() {
	idlest := -1
	for i, w := range s.Rows {
		if w.Token != Other && (idlest < 0 || w.LastSeen < s.Rows[idlest].LastSeen) {
			idlest = i
		}
	}
	s.mergeIntoOther(idlest)
}
