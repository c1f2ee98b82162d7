package judge

import (
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// UseOfClass returns the category of use that clients of a class fetch for, by what their
// operators say; ok is false for classes of which that is not known. A search engine
// may train as well; of that its class says nothing.
func UseOfClass(class uaident.Class) (use policy.Use, ok bool) {
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

// OpposesUse reports whether the preferences stated about what is fetched are against
// the use that clients of a class fetch it for. Fetching it is no violation.
func OpposesUse(preferences policy.Preferences, class uaident.Class) bool {
	use, ok := UseOfClass(class)
	return ok && preferences[use] == policy.PreferenceNo
}
