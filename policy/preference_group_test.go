package policy

import (
	"fmt"
	"strings"
	"testing"
)

// TestNoClientSelectsTrainingGroup checks that no client selects the group of [TrainingToken], in any
// spelling and with many names.
func TestNoClientSelectsTrainingGroup(t *testing.T) {
	for _, others := range []int{0, 1, 2 * maxUnindexedNames} {
		var text strings.Builder
		for i := range others {
			fmt.Fprintf(&text, "User-agent: bot%d\nDisallow: /b\n", i)
		}
		for _, name := range []string{TrainingToken, "__USAGE_AI-Training", TrainingToken + " of all", TrainingToken + "/1.0"} {
			r := Parse([]byte(text.String() + "User-agent: " + name + "\nDisallow: /\n"))
			for range 2 { // compiled the second time
				for _, token := range []string{TrainingToken, strings.ToUpper(TrainingToken), name, trainingKey, strings.ToLower(trainingKey), "bot0x", ""} {
					if s := r.Select(true, token); s != nil {
						t.Errorf("%s of %d: %q selects the group in line %d", name, others, token, s.FirstAgent().Line)
					}
				}
				if r.NamesToken(TrainingToken) || len(r.GroupNames()) != others {
					t.Errorf("%s of %d is in Names %v", name, others, r.GroupNames())
				}
				if p, lines := preferencesOf(r, "x", "/a", ""); p.String() != "train-ai=n" || len(lines) != 1 || lines[0].Source != name || lines[0].Path != "/" || lines[0].Line != 2*others+2 {
					t.Errorf("%s of %d states %v by %+v", name, others, p, lines)
				}
			}
			if others == 0 && r.Restricts() {
				t.Errorf("%s restricts a crawler", name)
			}
		}
	}
}

// TestTrainingInAGroupWithOthers does not change the verdicts of other crawlers in the group.
func TestTrainingInAGroupWithOthers(t *testing.T) {
	r := Parse([]byte("User-agent: GPTBot\nUser-agent: " + TrainingToken + "\nUser-agent: *\nDisallow: /a\n"))
	for _, token := range []string{"GPTBot", "bot", TrainingToken} {
		s := r.Select(true, token)
		if s.Judge("/a").Allowed || !s.Judge("/b").Allowed || s.NamesCrawler() != (token == "GPTBot") {
			t.Errorf("%s: %+v", token, s.Judge("/a"))
		}
	}
}
