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
		if len(storable) < MaxRedirects && IsStorableRedirect(target) {
			storable = append(storable, target)
		}
	}
	return slices.Clip(storable)
}

// IsStorableRedirect reports whether a redirect target can be stored in [State.RedirectTargets].
func IsStorableRedirect(target string) bool {
	return target != "" && len(target) <= maxRedirectLength && utf8.ValidString(target)
}
