package policy

import (
	"slices"
	"unicode/utf8"
)

// maxVia bounds a place that is kept to which a robots.txt redirects, in bytes.
const maxVia = 1024

// storableVia returns the places to which redirects led that can be kept. A longer one is
// a page like others.
func storableVia(via []string) (kept []string) {
	for _, place := range via {
		if len(kept) < MaxRedirects && IsVia(place) {
			kept = append(kept, place)
		}
	}
	return slices.Clip(kept)
}

// IsVia reports whether a place can be kept as one of [State.Via].
func IsVia(place string) bool {
	return place != "" && len(place) <= maxVia && utf8.ValidString(place)
}
