package policy

import (
	"slices"
	"unicode/utf8"
)

// maxVia is the maximum length of a stored redirect target in bytes.
const maxVia = 1024

// storableVia returns the redirect targets that can be stored.
func storableVia(via []string) (kept []string) {
	for _, place := range via {
		if len(kept) < MaxRedirects && IsVia(place) {
			kept = append(kept, place)
		}
	}
	return slices.Clip(kept)
}

// IsVia reports whether a redirect target can be stored in [State.Via].
func IsVia(place string) bool {
	return place != "" && len(place) <= maxVia && utf8.ValidString(place)
}
