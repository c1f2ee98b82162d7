package policy

import (
	"slices"
	"unicode/utf8"
)

// maxRedirectLength is the maximum length of a stored redirect target in bytes.
const maxRedirectLength = 1024

// storableRedirects returns the first [MaxRedirects] of the redirect targets that a Snapshot can
// contain.
func storableRedirects(targets []string) (storable []string) {
	for _, target := range targets {
		if len(storable) < MaxRedirects && isStorableRedirect(target) {
			storable = append(storable, target)
		}
	}
	return slices.Clip(storable)
}

// isStorableRedirect reports whether a Snapshot can contain a redirect target: it is UTF-8, not
// empty and not too long.
func isStorableRedirect(target string) bool {
	return target != "" && len(target) <= maxRedirectLength && utf8.ValidString(target)
}
