package managed

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestTrainingPreference adds a preference in every form for every crawler with access, without a
// change of verdicts. The gate reports an opposite preference in the base.
func TestTrainingPreference(t *testing.T) {
	for _, tc := range []struct{ name, base, n, y string }{ // n and y are the findings of the gate
		{"nothing", "", "", ""},
		{"groups", "User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nUser-agent: CCBot\nDisallow: /a\n\nUser-agent: Bytespider\nDisallow: /\n", "", "rule-opens-base"},
		{"the same", "User-agent: __usage_ai-training\nDisallow: /\n\nUser-agent: *\nContent-Usage: train-ai=n\nDisallow: /private/\n", "", "preference-replaced rule-opens-base"},
		{"a group that allows", "User-agent: __usage_ai-training\nAllow: /press/\nDisallow: /\n", "preference-replaced", "rule-opens-base"},
		{"a group with others", "User-agent: GPTBot\nUser-agent: __usage_ai-training\nAllow: /press/\nDisallow: /\n", "preference-replaced", "rule-opens-base"},
		{"a control token that allows", "User-agent: Google-Extended\nAllow: /press/\n", "preference-replaced", ""},
		{"a line of *", "User-agent: *\nContent-Usage: train-ai=y\nDisallow: /private/\n", "preference-replaced", "rule-opens-base"},
		{"a line of a named group", "User-agent: GPTBot\nContent-Usage: train-ai=y\nDisallow: /a\n", "preference-contradicts", ""},
	} {
		for _, says := range []string{"n", "y"} {
			s := newSchedule(t, Rule{TrainingPreference: says})
			text, err := s.Compose(time.Now(), "", []byte(tc.base))
			if err != nil {
				t.Fatal(err)
			}
			before, after := policy.Parse([]byte(tc.base)), policy.Parse(text)
			for _, token := range []string{"GPTBot", "CCBot", "Googlebot", "Applebot", "Bytespider", "NewBot", policy.TrainingToken} {
				control := uaident.Default().Lookup(token).ControlToken()
				for _, target := range []string{"/", "/a", "/press/1", "/private/x"} {
					var prepared policy.Target
					prepared.Set(target, false)
					was, is := before.Select(true, token), after.Select(true, token)
					if was.Judge(target).Allowed != is.Judge(target).Allowed {
						t.Errorf("%s, %s: another verdict for %s at %s\n%s", tc.name, says, token, target, text)
					}
					if got := after.Preferences(is, &prepared, control)[policy.TrainAI].String(); is.Judge(target).Allowed && got != says {
						t.Errorf("%s: %s is told %s at %s, want %s\n%s", tc.name, token, got, target, says, text)
					}
				}
			}
			if says == "n" && strings.Count(string(text), policy.TrainingToken) != 1 {
				t.Errorf("%s: not one group\n%s", tc.name, text)
			}
			if tc.base == "" && says == "n" {
				page, err := os.ReadFile("../../docs/guides/ai-training.md")
				_, shown, _ := strings.Cut(string(text), "\n# training_preference")
				if err != nil || !strings.Contains(string(page), "```text\n# training_preference"+strings.TrimRight(shown, "\n")+"\n```") {
					t.Errorf("docs/guides/ai-training.md does not show\n%s", text)
				}
			}
			var codes []string
			for _, f := range s.Check([]byte(tc.base), time.Now(), 10).Findings {
				if code := string(f.Code); f.Severity >= policy.Warning && !strings.Contains(strings.Join(codes, " "), code) {
					codes = append(codes, code)
				}
			}
			if got, want := strings.Join(codes, " "), map[string]string{"n": tc.n, "y": tc.y}[says]; got != want {
				t.Errorf("%s, %s: the gate finds %q, want %q\n%s\n%v", tc.name, says, got, want, text, lint.CheckParsed(after, lint.Options{}).Findings)
			}
		}
	}
}

// TestTrainingPreferenceErrors rejects a training preference with other content.
func TestTrainingPreferenceErrors(t *testing.T) {
	for _, r := range []Rule{{TrainingPreference: "no"}, {TrainingPreference: "n", For: []string{"GPTBot"}}, {TrainingPreference: "n", Allow: true}, {TrainingPreference: "n", ContentUsage: "search=y"}} {
		if _, err := CheckRule(&r); err == nil || !strings.Contains(err.Error(), "training_preference") {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if _, err := NewSchedule(uaident.Default(), Spec{Rules: []Rule{{TrainingPreference: "n"}, {ContentUsage: "train-ai=y"}}}); err == nil || !strings.Contains(err.Error(), "both yes and no") {
		t.Errorf("got %v", err)
	}
}
