package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestPreferenceLost has a group whose preferences differ from those of *.
func TestPreferenceLost(t *testing.T) {
	const all = "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /blog/ ai-use=n\nDisallow: /x\n\n"
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", all + "User-agent: GPTBot\nDisallow: /y\n", "so the preferences in line 2 do not apply"},
		{"another use", all + "User-agent: GPTBot\nContent-Usage: search=y, ai-use=y\nDisallow: /y\n", "so the preference in line 2 about train-ai does not apply"},
		{"two other uses", all + "User-agent: GPTBot\nContent-Usage: search=y\nDisallow: /y\n", "so the preference in line 2 about train-ai and ai-use does not apply"},
		{"only a use of some pages", all + "User-agent: GPTBot\nContent-Usage: train-ai=y\nDisallow: /y\n", "so the preference in line 3 about ai-use does not apply"},
		{"the same uses otherwise", all + "User-agent: GPTBot\nContent-Usage: train-ai=y, ai-use=y\nDisallow: /y\n", ""},
		{"in another group of that name", all + "User-agent: GPTBot\nContent-Usage: train-ai=n\nDisallow: /y\n\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: gptbot\nContent-Usage: ai-use=n\nDisallow: /z\n", ""},
		{"as signals", all + "User-agent: GPTBot\nContent-Signal: ai-train=no, ai-input=no\nDisallow: /y\n", ""},
		{"signals of *", "User-agent: *\nContent-Signal: ai-train=no, search=yes\nDisallow: /x\n\nUser-agent: GPTBot\nContent-Signal: search=yes\nDisallow: /y\n", "so the preference in line 2 about train-ai does not apply"},
		{"contradictory signals", "User-agent: *\nContent-Signal: ai-train=no\nContent-Usage: train-ai=y\nDisallow: /x\n\nUser-agent: GPTBot\nContent-Usage: train-ai=y\nDisallow: /y\n", ""},
		{"behind a * group without a rule", "User-agent: *\nContent-Usage: train-ai=n\n\nUser-agent: GPTBot\nContent-Usage: search=n\nDisallow: /a\n\nUser-agent: CCBot\nContent-Usage: train-ai=n\nDisallow: /b\n", "so the preference in line 2 about train-ai does not apply"},
		{"what the next group of * without a rule states", "User-agent: *\nContent-Usage: train-ai=n\n\nUser-agent: GPTBot\nContent-Usage: train-ai=y, search=n\nDisallow: /a\n\nUser-agent: CCBot\nContent-Usage: train-ai=n\nDisallow: /b\n", ""},
		{"only of pages that are forbidden", "User-agent: *\nContent-Usage: /blog/ ai-use=n\nDisallow: /x\n\nUser-agent: GPTBot\nContent-Usage: train-ai=n\nDisallow: /blog/\n", ""},
		{"only of pages that are forbidden, without a word", "User-agent: *\nContent-Usage: /blog/ ai-use=n\nDisallow: /x\n\nUser-agent: GPTBot\nDisallow: /blog/\n", ""},
		{"a line that is wrong", all + "User-agent: GPTBot\nContent-Usage: Train-ai=n\nDisallow: /y\n", ""},
		{"the whole site forbidden", all + "User-agent: GPTBot\nContent-Usage: search=y\nDisallow: /\n", ""},
	} {
		found := CheckParsed(policy.Parse([]byte(tc.text)), Options{}).Findings
		i := slices.IndexFunc(found, func(f Finding) bool { return f.Code == OmittedPreference })
		if got := i >= 0; got != (tc.want != "") || got && !strings.Contains(found[i].Message, tc.want) {
			t.Errorf("%s: got %+v", tc.name, found)
		}
	}
}

// TestPreferenceContradicts checks that the message has the lines of both kinds, once for each
// pair.
func TestPreferenceContradicts(t *testing.T) {
	const training = "User-agent: __usage_ai-training\n"
	for _, tc := range []struct{ name, text, want string }{
		{"signals", "User-agent: *\nContent-Signal: ai-input=yes\nContent-Usage: ai-use=n\nDisallow: /x\n", "line 3: Content-Usage states ai-use=n here, and Content-Signal in line 2 states ai-use=y"},
		{"the group below", "User-agent: *\nContent-Usage: train-ai=y\nDisallow: /x\n\n" + training + "Disallow: /\n", "line 6: __usage_ai-training states train-ai=n here, and Content-Usage in line 2 states train-ai=y"},
		{"the group above", training + "Allow: /\n\nUser-agent: *\nContent-Signal: ai-train=no\nDisallow: /x\n", "line 5: Content-Signal states train-ai=n here, and __usage_ai-training in line 2 states train-ai=y"},
		{"some pages", "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /press/ train-ai=y\nDisallow: /x\n\n" + training + "Disallow: /\n", "line 7: __usage_ai-training states train-ai=n here, and Content-Usage in line 3"},
		{"a rule of the group", "User-agent: *\nContent-Usage: train-ai=n\nDisallow: /x\n\n" + training + "Disallow: /\nAllow: /press/*.pdf$\n", "line 7: __usage_ai-training states train-ai=y here, and Content-Usage in line 2"},
		{"a control token", training + "Allow: /\n\nUser-agent: Google-Extended\nDisallow: /\n", "line 5: Google-Extended states train-ai=n here, and __usage_ai-training in line 2"},
		{"a named group", "User-agent: GPTBot\nContent-Usage: train-ai=y\nDisallow: /x\n\n" + training + "Disallow: /\n", "line 6: __usage_ai-training states train-ai=n here, and Content-Usage in line 2"},
		{"the same", "User-agent: *\nContent-Usage: train-ai=n\nContent-Signal: ai-train=no, search=yes\nDisallow: /x\n\n" + training + "User-agent: Google-Extended\nDisallow: /\n", ""},
		{"pages that may not be fetched", "User-agent: *\nContent-Usage: /x train-ai=y\nDisallow: /x\n\n" + training + "Disallow: /\n", ""},
	} {
		var got []string
		for _, f := range CheckParsed(policy.Parse([]byte(tc.text)), Options{}).Findings {
			switch f.Code {
			case ContradictoryPreferences:
				got = append(got, fmt.Sprintf("line %d: %s", f.Line, f.Message))
			case MisspeltCrawlerName, UnknownCrawlerName, EmptyGroupAllowsSite, OmittedPreference, InvalidSignal:
				t.Errorf("%s: %s", tc.name, f.Message)
			}
		}
		if tc.want == "" && got != nil || tc.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tc.want)) {
			t.Errorf("%s: got %q", tc.name, got)
		}
	}
}

// TestRulesOfTraining checks that a group with preferences gets the same findings as other groups.
func TestRulesOfTraining(t *testing.T) {
	const text = "User-agent: *\nDisallow: /private/\n\nUser-agent: __usage_ai-training\nAllow: press\nDisallow: /a\nAllow: /a\nDisallow: /b/c\nDisallow: /b\n"
	var codes []string
	for _, f := range CheckParsed(policy.Parse([]byte(text)), Options{}).Findings {
		codes = append(codes, string(f.Code))
	}
	if got, want := strings.Join(codes, " "), "robots-only-token rule-without-slash tied-rules covered-rule"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
