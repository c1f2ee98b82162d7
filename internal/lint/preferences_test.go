package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestPreferenceLost has a group that states something of its own beside what * states.
func TestPreferenceLost(t *testing.T) {
	const all = "User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /blog/ ai-use=n\nDisallow: /x\n\n"
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", all + "User-agent: GPTBot\nDisallow: /y\n", "so what line 2 states about use is not stated"},
		{"another use", all + "User-agent: GPTBot\nContent-Usage: search=y, ai-use=y\nDisallow: /y\n", "so what line 2 states about train-ai is not stated"},
		{"two other uses", all + "User-agent: GPTBot\nContent-Usage: search=y\nDisallow: /y\n", "so what line 2 states about train-ai and ai-use is not stated"},
		{"only a use of some pages", all + "User-agent: GPTBot\nContent-Usage: train-ai=y\nDisallow: /y\n", "so what line 3 states about ai-use is not stated"},
		{"the same uses otherwise", all + "User-agent: GPTBot\nContent-Usage: train-ai=y, ai-use=y\nDisallow: /y\n", ""},
		{"in another group of that name", all + "User-agent: GPTBot\nContent-Usage: train-ai=n\nDisallow: /y\n\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: gptbot\nContent-Usage: ai-use=n\nDisallow: /z\n", ""},
		{"as signals", all + "User-agent: GPTBot\nContent-Signal: ai-train=no, ai-input=no\nDisallow: /y\n", ""},
		{"signals of *", "User-agent: *\nContent-Signal: ai-train=no, search=yes\nDisallow: /x\n\nUser-agent: GPTBot\nContent-Signal: search=yes\nDisallow: /y\n", "so what line 2 states about train-ai is not stated"},
		{"contradictory signals", "User-agent: *\nContent-Signal: ai-train=no\nContent-Usage: train-ai=y\nDisallow: /x\n\nUser-agent: GPTBot\nContent-Usage: train-ai=y\nDisallow: /y\n", ""},
		{"behind a * group without a rule", "User-agent: *\nContent-Usage: train-ai=n\n\nUser-agent: GPTBot\nContent-Usage: search=n\nDisallow: /a\n\nUser-agent: CCBot\nContent-Usage: train-ai=n\nDisallow: /b\n", "so what line 2 states about train-ai is not stated"},
		{"what the next group of * without a rule states", "User-agent: *\nContent-Usage: train-ai=n\n\nUser-agent: GPTBot\nContent-Usage: train-ai=y, search=n\nDisallow: /a\n\nUser-agent: CCBot\nContent-Usage: train-ai=n\nDisallow: /b\n", ""},
		{"only of pages that are forbidden", "User-agent: *\nContent-Usage: /blog/ ai-use=n\nDisallow: /x\n\nUser-agent: GPTBot\nContent-Usage: train-ai=n\nDisallow: /blog/\n", ""},
		{"only of pages that are forbidden, without a word", "User-agent: *\nContent-Usage: /blog/ ai-use=n\nDisallow: /x\n\nUser-agent: GPTBot\nDisallow: /blog/\n", ""},
		{"a line that is wrong", all + "User-agent: GPTBot\nContent-Usage: Train-ai=n\nDisallow: /y\n", ""},
		{"the whole site forbidden", all + "User-agent: GPTBot\nContent-Usage: search=y\nDisallow: /\n", ""},
	} {
		found := Look(policy.Parse([]byte(tc.text)), Options{}).Findings
		i := slices.IndexFunc(found, func(f Finding) bool { return f.Code == PreferenceLost })
		if got := i >= 0; got != (tc.want != "") || got && !strings.Contains(found[i].Message, tc.want) {
			t.Errorf("%s: got %+v", tc.name, found)
		}
	}
}
