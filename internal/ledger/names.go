package ledger

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// sharedRowName returns the client's name for a shared row, or "" for the row of a single crawler.
func (w *Row) sharedRowName(token, name string) string {
	switch {
	case !isShared(w.Token):
		return ""
	case !isShared(token):
		return text.Truncate(token, maxToken) // the crawler has no row of its own
	}
	return name
}

// isShared reports whether several clients share a token.
func isShared(token string) bool { return strings.HasPrefix(token, "_") }

// splitNames returns the names of a shared row. For the row of a single crawler, the result is the
// crawler's name with the sum of the given counts, for folding the row.
func (w *Row) splitNames(names spacesaving.Sketch[string], counts ...Count) (own spacesaving.Sketch[string]) {
	if isShared(w.Token) {
		return names
	}
	var sum Counts
	for _, cell := range w.Series[Days] {
		sum.Add(cell.Counts())
	}
	var requests uint64
	for _, count := range counts {
		requests += sum[count]
	}
	if requests > 0 {
		own.Add(w.Token, requests, w.FirstSeen, maxNames, nil)
		own.Items[0].Last = w.LastSeen
	}
	return own
}
