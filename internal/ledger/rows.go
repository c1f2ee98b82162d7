package ledger

import (
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
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

// keyOf returns the key of the row of a crawler.
func keyOf(token string, class uaident.Class, identity verify.State) rowKey {
	return rowKey{text.Truncate(token, maxToken), class.String(), identity}
}

func (w *Row) key() rowKey { return rowKey{w.Token, w.Class, w.Identity} }

// minIndexedRows is the number of rows from which a site has an index of its rows. A search
// through fewer rows is as fast.
const minIndexedRows = 9

// findRow returns a row, or nil.
func (s *Site) findRow(key rowKey) *Row {
	if len(s.Rows) < minIndexedRows {
		for _, w := range s.Rows {
			if w.Identity == key.identity && w.Token == key.token && w.Class == key.class {
				return w
			}
		}
		return nil
	}
	if s.rowIndex == nil {
		s.rowIndex = make(map[rowKey]*Row, len(s.Rows))
		for _, w := range s.Rows {
			s.rowIndex[w.key()] = w
		}
	}
	return s.rowIndex[key]
}

// setRows replaces the rows, or the slice of rows after a change.
func (s *Site) setRows(rows []*Row) { s.Rows, s.rowIndex, s.fullUntil = rows, nil, 0 }

// rowFor returns the row of a crawler. Without room it returns the shared row of the class, or
// any shared row. more reports whether the ledger has room for another row.
func (s *Site) rowFor(key rowKey, named bool, at int64, more bool) *Row {
	if w := s.findRow(key); w != nil {
		if named && !w.NamedByRobots {
			s.fullUntil = 0 // one unnamed crawler fewer
		}
		return w
	}
	if key.token == Other || !s.hasRoom(named, at) || !more {
		key.token = Other
		if w := s.findRow(key); w != nil {
			return w
		}
		if !more {
			if w := s.otherRow(); w != nil {
				return w
			}
		}
	}
	w := &Row{Token: strings.Clone(key.token), Class: key.class, Identity: key.identity}
	s.setRows(append(s.Rows, w))
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

// hasRoom reports whether another crawler can have a row. An idle row is folded if necessary.
func (s *Site) hasRoom(named bool, at int64) bool {
	if !named && at < s.fullUntil {
		return false
	}
	own, unnamed, idlest := 0, 0, -1
	for i, w := range s.Rows {
		if w.Token == Other {
			continue
		}
		own++
		if !w.NamedByRobots {
			unnamed++
		}
		if idlest < 0 || w.LastSeen < s.Rows[idlest].LastSeen {
			idlest = i
		}
	}
	if own < maxRows && (named || unnamed < maxRows-namedShare) {
		return true
	}
	if idleAt := s.Rows[idlest].LastSeen + displaceAfter.Milliseconds(); at < idleAt {
		s.fullUntil = idleAt
		return false
	}
	s.mergeIntoOther(idlest)
	return true
}

// mergeIntoOther merges a row into the shared row of its class.
func (s *Site) mergeIntoOther(i int) {
	w := s.Rows[i]
	s.setRows(slices.Delete(s.Rows, i, i+1))
	key := w.key()
	key.token = Other
	if common := s.findRow(key); common != nil {
		common.merge(w)
		return
	}
	w.Names, w.NamesOfViolators = w.splitNames(w.Names, verdictCounts[:]...), w.splitNames(w.NamesOfViolators, CountDisallowed)
	w.Token = Other
	s.setRows(append(s.Rows, w))
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

// enforceRowBound folds the most idle rows until the bound is met.
func (s *Site) enforceRowBound() {
	for s.ownRowCount() > maxRows {
		s.mergeIdlestRow()
	}
}

// mergeIdlestRow folds the row of the most idle crawler. The site must have a crawler.
func (s *Site) mergeIdlestRow() {
	idlest := -1
	for i, w := range s.Rows {
		if w.Token != Other && (idlest < 0 || w.LastSeen < s.Rows[idlest].LastSeen) {
			idlest = i
		}
	}
	s.mergeIntoOther(idlest)
}
