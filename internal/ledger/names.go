package ledger

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/spacesaving"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// nameOf returns the name of a client that shares the row, "" where the row has it.
func (w *Row) nameOf(token, name string) string {
	switch {
	case !isShared(w.Token):
		return ""
	case !isShared(token):
		return text.Cut(token, maxToken) // there was no room for a row of its own
	}
	return name
}

// isShared reports whether a token is a name for several.
func isShared(token string) bool { return strings.HasPrefix(token, "_") }

// asNames returns the names of a shared row, or that of one which is about to
// share another, with what it has of these counts.
func (w *Row) asNames(names spacesaving.Sketch[string], counts ...Count) (own spacesaving.Sketch[string]) {
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
