package policy

import (
	"slices"
	"unicode/utf8"
)

// maxRedirectLength is the maximum length of a stored redirect target in bytes.
const maxRedirectLength = 1024

// storableRedirects returns the redirect targets that can be stored.
func storableRedirects(targets []string) (storable []string) {
	for _, target := range targets {
		if len(storable) < MaxRedirects && isStorableRedirect(target) {
			storable = append(storable, target)
		}
	}
	return slices.Clip(storable)
}

// isStorableRedirect reports whether a redirect target can be stored in [State.RedirectTargets].
func isStorableRedirect(target string) bool {
	return target != "" && len(target) <= maxRedirectLength && utf8.ValidString(target)
}
