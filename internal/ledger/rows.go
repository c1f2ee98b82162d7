package ledger

import (
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// minIdleToLoseRow is the time without requests after which a crawler can lose its row to another
// crawler.
const minIdleToLoseRow = 24 * time.Hour

// rowKey identifies a row of a site.
type rowKey struct {
	token, class string
	identity     verify.State
}

// newRowKey returns the key of a crawler's row.
func newRowKey(token string, class uaident.Class, identity verify.State) rowKey {
	return rowKey{text.Truncate(token, maxTokenBytes), class.String(), identity}
}

func (w *Row) key() rowKey { return rowKey{w.Token, w.Class, w.Identity} }

// findRow returns the row with a key, or nil. A search through all rows is fast enough, because their
// number is bounded.
func (s *Site) findRow(key rowKey) *Row {
	for _, w := range s.Rows {
		if w.Identity == key.identity && w.Token == key.token && w.Class == key.class {
			return w
		}
	}
	return nil
}

// getOrCreateRow returns the row that counts the requests of a crawler, and creates it if the site
// and the ledger have room. Otherwise the result is the row that crawlers of the same class and
// identity share, created if necessary. If the ledger has no room for a missing shared row, the
// result is any shared row of the site. namedByRobots reports whether the robots.txt names the
// crawler, and ledgerHasRoom whether the ledger has room for another row.
func (s *Site) getOrCreateRow(key rowKey, namedByRobots bool, at int64, ledgerHasRoom bool) *Row {
	if w := s.findRow(key); w != nil {
		return w
	}
	if key.token == Other || !s.makeRoomForRow(namedByRobots, at) || !ledgerHasRoom {
		key.token = Other
		if w := s.findRow(key); w != nil {
			return w
		}
		if !ledgerHasRoom {
			if w := s.anySharedRow(); w != nil {
				return w
			}
		}
	}
	w := &Row{Token: strings.Clone(key.token), Class: key.class, Identity: key.identity}
	s.Rows = append(s.Rows, w)
	return w
}

// anySharedRow returns a row with the token Other, which several crawlers share, or nil.
func (s *Site) anySharedRow() *Row {
	for _, w := range s.Rows {
		if w.Token == Other {
			return w
		}
	}
	return nil
}

// makeRoomForRow reports whether the site has room for the row of another crawler. named reports
// whether the robots.txt names the crawler. If the site is full, makeRoomForRow merges the row of
// the longest idle crawler into a shared row, but only after minIdleToLoseRow without requests. For
// a crawler that robots.txt does not name, this is a row of another such crawler.
func (s *Site) makeRoomForRow(named bool, at int64) bool {
	unshared, notNamed, idlest := 0, 0, -1
	for i, w := range s.Rows {
		if w.Token == Other {
			continue
		}
		unshared++
		if !w.NamedByRobots {
			notNamed++
		}
		if !named && w.NamedByRobots {
			continue // A crawler that robots.txt does not name must not take a reserved row.
		}
		if idlest < 0 || w.LastSeen < s.Rows[idlest].LastSeen {
			idlest = i
		}
	}
	if unshared < maxRows && (named || notNamed < maxRows-reservedRows) {
		return true
	}
	if idlest < 0 || at-s.Rows[idlest].LastSeen < minIdleToLoseRow.Milliseconds() {
		return false
	}
	s.mergeIntoSharedRow(idlest)
	return true
}

// mergeIntoSharedRow removes row i, and adds its data to the shared row of the same class and
// identity. Without such a shared row, row i becomes the shared row.
func (s *Site) mergeIntoSharedRow(i int) {
	w := s.Rows[i]
	s.Rows = slices.Delete(s.Rows, i, i+1)
	key := w.key()
	key.token = Other
	if sharedRow := s.findRow(key); sharedRow != nil {
		sharedRow.merge(w)
		return
	}
	w.Names, w.NamesOfViolators = w.namesForSharedRow(w.Names, verdictCounters[:]...), w.namesForSharedRow(w.NamesOfViolators, CountDisallowed)
	w.Token = Other
	s.Rows = append(s.Rows, w)
}

// unsharedRowCount returns the number of rows whose token is not Other.
func (s *Site) unsharedRowCount() (n int) {
	for _, w := range s.Rows {
		if w.Token != Other {
			n++
		}
	}
	return n
}

// enforceRowBound merges the rows of the longest idle crawlers into shared rows until at most
// maxRows rows have another token than Other.
func (s *Site) enforceRowBound() {
	for s.unsharedRowCount() > maxRows {
		s.mergeIdlestRow()
	}
}

// mergeIdlestRow merges the row of the longest idle crawler into a shared row. The site must have a
// row whose token is not Other.
func (s *Site) mergeIdlestRow() {
	idlest := -1
	for i, w := range s.Rows {
		if w.Token != Other && (idlest < 0 || w.LastSeen < s.Rows[idlest].LastSeen) {
			idlest = i
		}
	}
	s.mergeIntoSharedRow(idlest)
}
