package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// TestContentUsage checks the grammar and the examples of draft-ietf-aipref-attach-05 and
// draft-ietf-aipref-vocab-08.
func TestContentUsage(t *testing.T) {
	data, err := os.ReadFile("testdata/content_usage.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var vector struct {
			Name, Robots, Token, Control string
			Want                         map[string]string // preferences by target
		}
		if err := json.Unmarshal(line, &vector); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		t.Run(vector.Name, func(t *testing.T) {
			robots := Parse([]byte(vector.Robots))
			for target, want := range vector.Want {
				if got, _ := preferencesOf(robots, vector.Token, target, vector.Control); got.String() != want {
					t.Errorf("%s: got %q, want %q", target, got, want)
				}
			}
		})
	}
}

// preferencesOf returns the preferences for a target as sent, and the lines that decide.
func preferencesOf(r *Robots, token, target, control string) (Preferences, []Statement) {
	var t Target
	t.Set(target, false)
	s := r.Select(true, token)
	return r.Preferences(s, &t, control), r.DecidingStatements(s, &t, control)
}

// TestPreferencesCombine checks how preferences combine. Order and repetition have no effect,
// unknown adds nothing, and no wins.
func TestPreferencesCombine(t *testing.T) {
	var values []Preferences
	for i := range 27 {
		values = append(values, Preferences{Preference(i % 3), Preference(i / 3 % 3), Preference(i / 9)})
	}
	for _, p := range values {
		if p.Combine(p) != p || p.Combine(Preferences{}) != p {
			t.Errorf("%v changes when combined with itself or with no preferences", p)
		}
		for _, q := range values {
			both := p.Combine(q)
			if both != q.Combine(p) {
				t.Errorf("the order of %v and %v changes the result", p, q)
			}
			for _, use := range AllUses() {
				if (p[use] == PreferenceNo || q[use] == PreferenceNo) != (both[use] == PreferenceNo) {
					t.Errorf("%v and %v are %v about %v", p, q, both, use)
				}
			}
			for _, r := range values {
				if both.Combine(r) != p.Combine(q.Combine(r)) {
					t.Errorf("the grouping of %v, %v and %v changes the result", p, q, r)
				}
			}
		}
	}
}

// allStatements returns the Content-Usage and Content-Signal lines for a crawler.
func allStatements(r *Robots, token string) (lines []Statement) {
	s := r.Select(true, token)
	for _, by := range []*statements{s.lenient.usages, s.lenient.signals} {
		if by != nil {
			lines = append(lines, by.lines...)
		}
	}
	return lines
}

// naivePreferences compares each line with a target.
func naivePreferences(lines []Statement, target string) Preferences {
	return naivePreferencesBy(ContentUsage, lines, target).Combine(naivePreferencesBy(ContentSignal, lines, target))
}

func naivePreferencesBy(by string, lines []Statement, target string) (p Preferences) {
	var t Target
	t.Set(target, false)
	longest := -1
	for _, line := range lines {
		if line.Source != by {
			continue
		}
		length := -1
		if line.Path == "" {
			length = 0
		}
		for _, form := range t.Variants() {
			if pattern := (Rule{Path: line.Path}).CanonicalPath(); pattern != "" && naiveMatch(pattern, form.Text) {
				length = len(pattern)
			}
		}
		if length > longest {
			longest, p = length, Preferences{}
		}
		if length == longest && length >= 0 {
			p = p.Combine(line.Preferences)
		}
	}
	return p
}

// TestPreferencesAgainstNaive compares compiled statements with the naive implementation, and
// the reported lines with their effect.
func TestPreferencesAgainstNaive(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	pick := func(words ...string) string { return words[dice.IntN(len(words))] }
	path := func() string {
		var b strings.Builder
		b.WriteByte('/')
		for range dice.IntN(4) {
			b.WriteString(pick("a", "b", "/", "*", "%61", "ab", "//"))
		}
		return b.String() + pick("", "", "$")
	}
	different := 0
	for range 20_000 {
		text := "User-agent: *\n"
		for range 1 + dice.IntN(12) {
			if dice.IntN(3) == 0 {
				text += "Content-Signal: " + pick("", path()+" ") + pick("ai-train=no", "ai-train=yes, search=no", "Ai-Input = No", "noise", "search=maybe") + "\n"
				continue
			}
			text += "Content-Usage: " + pick("", path()+" ", path()+" ") +
				pick("train-ai=n", "train-ai=y", "search=n, train-ai=y", "ai-use=y", "ai-use=n, search=y", "noise;", "") + "\n"
		}
		text += "Disallow:\n"
		var rules []Rule
		if dice.IntN(2) == 0 {
			text += "User-agent: " + TrainingToken + "\n"
			for range dice.IntN(4) {
				rules = append(rules, Rule{Allow: dice.IntN(2) == 0, Path: path(), Line: strings.Count(text, "\n") + 1})
				text += rules[len(rules)-1].String() + "\n"
			}
		}
		robots := Parse([]byte(text))
		target := strings.TrimSuffix(path(), "$")
		want := naivePreferences(allStatements(robots, "x"), target)
		if allowed, rule, _ := naiveReadAll(rules, naivePaths(target), false); rule.Line > 0 {
			want[TrainAI] = want[TrainAI].Combine(map[bool]Preference{true: PreferenceYes, false: PreferenceNo}[allowed])
		}
		got, deciding := preferencesOf(robots, "x", target, "")
		if got != want {
			t.Fatalf("%q\nsays %v for %s, want %v", text, got, target, want)
		}
		var combined Preferences
		for _, line := range deciding {
			combined = combined.Combine(line.Preferences)
		}
		if combined != want {
			t.Fatalf("%q\nthe lines %+v yield %v for %s, want %v", text, deciding, combined, target, want)
		}
		if want != (Preferences{}) {
			different++
		}
	}
	if different < 5000 {
		t.Errorf("only %d files have preferences", different)
	}
}

// TestManyWildcardStatements tests statements with many wildcards, which decide together.
func TestManyWildcardStatements(t *testing.T) {
	for _, tc := range []struct{ lines, target, want string }{
		{"", "/x", ""},
		{"", "/1z", "train-ai=y"},
		{"/*x train-ai=n", "/ax", "train-ai=n"},
		{"/*x train-ai=y, search=n", "/ax", "train-ai=y, search=n"},
		{"/*x ai-use=y", "/x1z", "train-ai=y"},                                       // both match, /*1z is longer
		{"/*1*z ai-use=n", "/1z", "ai-use=n"},                                        // the longer decides alone
		{"/*x train-ai=n|/*y train-ai=y", "/yx", "train-ai=n"},                       // of the same length
		{"/*x train-ai=y|/*y search=y", "/yx", "train-ai=y, search=y"},               //
		{"/ax train-ai=n|/a*x ai-use=y", "/ax", "ai-use=y"},                          // a shorter literal
		{"/ax train-ai=n|/*x ai-use=y", "/ax", "train-ai=n, ai-use=y"},               // a literal of the same length
		{"/axy train-ai=n|/*x ai-use=y", "/axy", "train-ai=n"},                       // a longer literal
		{"train-ai=n|/*x ai-use=y", "/ax", "ai-use=y"},                               // a line without a path
		{"train-ai=n|/*x ai-use=y", "/b", "train-ai=n"},                              //
		{"/*x noise", "/ax", ""},                                                     // the longest has no preference
		{"/*x noise|/* train-ai=n", "/ax", ""},                                       //
		{"/*x train-ai=n", "/a%78", "train-ai=n"},                                    // in any form
		{"/*x train-ai=n|/*y$ ai-use=y", "/x/y", "ai-use=y"},                         // anchored
		{"/*x train-ai=y|/*x train-ai=n|/*x ai-use=y", "/x", "train-ai=n, ai-use=y"}, // the same path
	} {
		text := "User-agent: *\n"
		for i := range 8 {
			text += fmt.Sprintf("Content-Usage: /*%dz train-ai=y\n", i)
		}
		for line := range strings.SplitSeq(tc.lines, "|") {
			text += "Content-Usage: " + line + "\n"
		}
		robots := Parse([]byte(text))
		if got, _ := preferencesOf(robots, "x", tc.target, ""); got.String() != tc.want || got != naivePreferences(allStatements(robots, "x"), tc.target) {
			t.Errorf("%s: %s states %q, want %q", tc.lines, tc.target, got, tc.want)
		}
	}
}

// TestWildcardStatementsOfEscapedQuery tests statements about an escaped query with an unescaped
// path, among any number of other statements.
func TestWildcardStatementsOfEscapedQuery(t *testing.T) {
	text := "User-agent: *\nContent-Usage: /*?u=/a train-ai=y\n"
	for others := range 20 {
		robots := Parse([]byte(text + "Allow: /\n"))
		if got, _ := preferencesOf(robots, "x", "/x?u=%2Fa", ""); got.String() != "train-ai=y" {
			t.Errorf("with %d other statements: %q, want train-ai=y", others, got)
		}
		text += fmt.Sprintf("Content-Usage: /*b%dc train-ai=n\n", others)
	}
}

// TestNoPreferences checks selections without preferences.
func TestNoPreferences(t *testing.T) {
	for _, text := range []string{"", "User-agent: other\nContent-Usage: train-ai=n\nAllow: /\n"} {
		if p, lines := preferencesOf(Parse([]byte(text)), "bot", "/", "Google-Extended"); p != (Preferences{}) || lines != nil {
			t.Errorf("%q states %v by %v", text, p, lines)
		}
	}
}

// TestFormerLabels checks the labels of earlier drafts and the current labels.
func TestFormerLabels(t *testing.T) {
	for _, use := range AllUses() {
		if FormerLabelDraft(use.String()) != "" {
			t.Errorf("%v is a current label", use)
		}
	}
	if got := FormerLabelDraft("train-genai"); got != "draft-ietf-aipref-vocab-03" {
		t.Errorf("got %q", got)
	}
}

// FuzzContentUsage parses any line without a panic. Formatting and parsing the result again gives
// the same preferences.
func FuzzContentUsage(f *testing.F) {
	for _, value := range []string{"train-ai=n", "/a train-ai=y, search=n;q=1", "/", "/a\t", "train-ai=\"n\"", "a=(b c);d, ai-use=n", "train-ai=n,"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		path, dictionary := SplitUsagePath(value)
		if path != "" && path[0] != '/' {
			t.Errorf("%q is a path", path)
		}
		parsed, err := ParsePreferences(dictionary)
		if err != nil && parsed != (Preferences{}) {
			t.Errorf("ParsePreferences returns %v and the error %v", parsed, err)
		}
		if again, err := ParsePreferences(parsed.String()); err != nil || again != parsed {
			t.Errorf("parsing %v again yields %v: %v", parsed, again, err)
		}
		preferencesOf(Parse([]byte("User-agent: *\nContent-Usage: "+value+"\nContent-Signal: "+value)), "x", "/a/b?c", "")
	})
}

// BenchmarkPreferences computes the verdict and the preferences for a request.
func BenchmarkPreferences(b *testing.B) {
	const rules = "User-agent: *\nDisallow: /private/\nDisallow: /*?sort=\n"
	const target = "/products/1234/blue-shoes.html?page=2"
	var many strings.Builder
	for _, target := range generateTargets(1000, 7) {
		many.WriteString("Content-Usage: " + target + " train-ai=n\n")
	}
	for _, bench := range []struct{ name, lines string }{
		{"none", ""},
		{"whole", "Content-Usage: train-ai=n, search=y\n"},
		{"paths", "Content-Usage: train-ai=n\nContent-Usage: /blog/ train-ai=y\n"},
		{"wildcard", "Content-Usage: train-ai=n\nContent-Usage: /*.html train-ai=y\n"},
		{"1000", many.String()},
		{"group", "User-agent: " + TrainingToken + "\nDisallow: /\n"},
	} {
		robots := Parse([]byte(rules + bench.lines))
		group := robots.Select(true, "GPTBot")
		var prepared Target
		prepared.Set(target, false)
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				robots.Preferences(group, &prepared, "")
			}
		})
	}
}
