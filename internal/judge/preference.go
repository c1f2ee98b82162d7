package judge

import (
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// DocumentedUse returns the use for which clients of a class fetch pages, as their operators
// document. ok is false for a class without a documented use. A search engine may also train
// models, which its class does not show.
func DocumentedUse(class uaident.Class) (use policy.Use, ok bool) {
	switch class {
	case uaident.AITraining:
		return policy.TrainAI, true
	case uaident.AISearch, uaident.AIAssistant:
		return policy.AIUse, true
	case uaident.Search:
		return policy.SearchUse, true
	}
	return 0, false
}

// OpposesUse reports whether the preferences for a page say no to the use for which clients of a
// class fetch pages. The fetch itself is no violation.
func OpposesUse(preferences policy.Preferences, class uaident.Class) bool {
	use, ok := DocumentedUse(class)
	return ok && preferences[use] == policy.PreferenceNo
}
