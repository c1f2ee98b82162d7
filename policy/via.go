package policy

import (
	"slices"
	"unicode/utf8"
)

// maxRedirectLength is the maximum length of a stored redirect target in bytes.
const maxRedirectLength = 1024

// storableRedirects returns the redirect targets that can be stored.
func storableRedirects(via []string) (kept []string) {
	for _, place := range via {
		if len(kept) < MaxRedirects && IsStorableRedirect(place) {
			kept = append(kept, place)
		}
	}
	return slices.Clip(kept)
}

// IsStorableRedirect reports whether a redirect target can be stored in [State.RedirectTargets].
func IsStorableRedirect(place string) bool {
	return place != "" && len(place) <= maxRedirectLength && utf8.ValidString(place)
}
