package judge

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestIsAgainst holds what is stated about uses against what a class fetches for.
func TestIsAgainst(t *testing.T) {
	var no, yes policy.Preferences
	no[policy.TrainAI], no[policy.AIUse], no[policy.SearchUse] = policy.PreferenceNo, policy.PreferenceNo, policy.PreferenceNo
	yes[policy.TrainAI], yes[policy.AIUse], yes[policy.SearchUse] = policy.PreferenceYes, policy.PreferenceYes, policy.PreferenceYes
	for class, want := range map[uaident.Class]bool{
		uaident.AITraining: true, uaident.AISearch: true, uaident.AIAssistant: true, uaident.Search: true,
		uaident.SEO: false, uaident.Library: false, uaident.Browser: false,
	} {
		if got := IsAgainst(no, class); got != want {
			t.Errorf("%s, where all is refused: %t, want %t", class, got, want)
		}
		if IsAgainst(yes, class) || IsAgainst(policy.Preferences{}, class) {
			t.Errorf("%s, where nothing is refused: true", class)
		}
	}
	only := policy.Preferences{policy.TrainAI: policy.PreferenceNo}
	if !IsAgainst(only, uaident.AITraining) || IsAgainst(only, uaident.Search) {
		t.Error("one use is taken for another")
	}
}
