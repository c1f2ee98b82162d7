package managed

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestPreferencesOfTheBase holds what a base says of a use, as crawlers read it, against
// rules about the same.
func TestPreferencesOfTheBase(t *testing.T) {
	for _, tc := range []struct {
		base string // of GPTBot
		rule Rule
		want policy.Preference // of /blog/1
	}{
		{"/blog train-ai=y", prefer("/blog train-ai=n"), policy.PreferenceYes},
		{"/blog\ttrain-ai=y", prefer("/blog train-ai=n"), policy.PreferenceYes},
		{"/blog \t train-ai=n", prefer("/blog train-ai=y", "GPTBot"), policy.PreferenceYes},
		{"/blog\ttrain-ai=n", prefer("/blog train-ai=y", "GPTBot"), policy.PreferenceYes},
		{"train-ai=y;ref=1", prefer("train-ai=n"), policy.PreferenceYes},
		// What is no dictionary says nothing.
		{"train-ai=y, Search=y", prefer("train-ai=n"), policy.PreferenceNo},
		{"train-ai=y,", prefer("train-ai=n"), policy.PreferenceNo},
		{"train-ai=y search=y", prefer("train-ai=n"), policy.PreferenceNo},
		{"train-ai=n,", prefer("train-ai=y", "GPTBot"), policy.PreferenceYes},
	} {
		plan, err := NewPlan(uaident.Default(), []Rule{tc.rule}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := plan.Compose([]byte("User-agent: GPTBot\nContent-Usage: "+tc.base+"\nDisallow: /x\n"), "a.test")
		if err != nil {
			t.Fatal(err)
		}
		if got := policy.Parse(text).Select(true, "GPTBot").Preferences("/blog/1")[policy.TrainAI]; got != tc.want {
			t.Errorf("%q and %q: got %s, want %s, in\n%s", tc.base, tc.rule.Usage, got, tc.want, text)
		}
	}
}
