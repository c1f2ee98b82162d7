package ledger

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// clientNameInSharedRow returns the name under which a shared row counts a client. The result is ""
// if the row belongs to a single crawler. token and name are those of the client's request.
func (w *Row) clientNameInSharedRow(token, name string) string {
	switch {
	case !isSharedToken(w.Token):
		return ""
	case !isSharedToken(token):
		return text.Truncate(token, maxTokenBytes) // The crawler has no row of its own.
	}
	return name
}

// isSharedToken reports whether several clients share the token, for example _other.
func isSharedToken(token string) bool { return strings.HasPrefix(token, "_") }

// namesForSharedRow returns the client names to count when this row is merged into a shared row.
// For a shared row, the result is names. For the row of a single crawler, the result is its token
// with the sum of the given counters.
func (w *Row) namesForSharedRow(names spacesaving.Sketch[string], counters ...Counter) (own spacesaving.Sketch[string]) {
	if isSharedToken(w.Token) {
		return names
	}
	var sum CounterValues
	for _, b := range w.Series[Days] {
		sum.Add(b.CounterValues())
	}
	var requests uint64
	for _, count := range counters {
		requests += sum[count]
	}
	if requests > 0 {
		own.Add(w.Token, requests, w.FirstSeen, maxNames, nil)
		own.Items[0].Last = w.LastSeen
	}
	return own
}
