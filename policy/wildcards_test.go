package policy

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestOverlappingPatterns compares the match of many patterns with the naive match of each.
// The parts of the patterns overlap, begin with each other or are missing from the target.
func TestOverlappingPatterns(t *testing.T) {
	seeds := uint64(300)
	if raceEnabled {
		seeds = 30
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 7))
		letters := []string{"ab", "abc", "aaaaaaab", "abcdefgh/"}[seed%4]
		text := func(most int) string {
			var b strings.Builder
			for range random.IntN(most) {
				b.WriteByte(letters[random.IntN(len(letters))])
			}
			return b.String()
		}
		var c ruleCompiler
		type rule struct {
			path  string
			allow bool
		}
		var rules []rule
		for range 2 + random.IntN(200) {
			path := "/" + text(3)
			for range 1 + random.IntN(4) {
				path += "*" + text(1+random.IntN(12))
			}
			if random.IntN(3) == 0 {
				path += "$"
			}
			rules = append(rules, rule{path, random.IntN(3) == 0})
			c.add(path, rules[len(rules)-1].allow, int32(len(rules)-1))
		}
		m := c.newMatcher()
		target := "/"
		for i := range 20 {
			if i%3 == 0 {
				target = "/" + text(1+random.IntN(60))
			} else { // change a part of the previous text
				from := 1 + random.IntN(len(target))
				target = target[:from] + text(5) + target[from+random.IntN(len(target)-from+1):]
			}
			var want, got bestMatches
			for i, x := range rules {
				if naiveMatch(x.path, target) {
					want.add(x.allow, int32(len(x.path)), int32(i), 0)
				}
			}
			s := newSearchBudget()
			m.addMatches(target, 0, &s, &got)
			s.release()
			if got.isAllowed() != want.isAllowed() || want.isAllowed() && got.allow != want.allow || !want.isAllowed() && got.disallow != want.disallow {
				t.Fatalf("seed %d, %q: got %+v, want %+v", seed, target, got, want)
			}
		}
	}
}

// TestLongParts tests parts of thousands of bytes. The target nearly contains them
// everywhere.
func TestLongParts(t *testing.T) {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range 84 {
		b.WriteString("Disallow: /*" + strings.Repeat("a", 4800+i) + "*c\n")
	}
	b.WriteString("Disallow: /*" + strings.Repeat("a", 4700) + "*a\n") // the shortest rule, and the only match
	v := Parse([]byte(b.String())).Select(true, "x").Judge("/" + strings.Repeat("a", 20_000))
	if v.Allowed || v.Rule.Line != 86 {
		t.Errorf("line %d decides, want 86", v.Rule.Line)
	}
}

// steps returns the work of a verdict in the lenient interpretation.
func (s *SelectedGroup) steps(target string) int {
	var prepared Target
	prepared.Set(target, false)
	work := newSearchBudget()
	defer work.release()
	s.lenient.decide(prepared.variants(), 0, &work, new(bestMatches))
	return maxSteps - work.stepsLeft
}

// TestMaxSteps judges by rules written to be expensive. A verdict is either correct or stopped. A
// stopped verdict allows, even if a rule outside the index disallows.
func TestMaxSteps(t *testing.T) {
	cases := hostileRules
	if raceEnabled {
		cases = cases[:2]
	}
	givenUp := 0
	for _, h := range cases {
		for _, more := range []string{"", "Disallow: /\n", "Disalow: /\n"} {
			r := Parse([]byte("User-agent: *\n" + more + strings.TrimPrefix(h.text, "User-agent: *\n")))
			s := r.Select(true, "x")
			v, steps := s.Judge(h.target), s.steps(h.target)
			if s.Allows(h.target, false) != v.Allowed {
				t.Errorf("%s with %q: Allows differs from Judge", h.name, more)
			}
			if most := maxSteps + len(h.target) + 1000; steps > most {
				t.Errorf("%s: %d steps, want %d at most", h.name, steps, most)
			}
			switch group := (Agent{"*", 1}); {
			case steps > maxSteps:
				givenUp++
				if want := (Verdict{Allowed: true, Group: group}); v != want {
					t.Errorf("%s with %q: the search was stopped with the verdict %+v, want %+v", h.name, more, v, want)
				}
			case more == "Disallow: /\n":
				if v.Allowed || v.Rule.Line != 2 {
					t.Errorf("%s: %+v, want disallowed by line 2", h.name, v)
				}
			default:
				if !v.Allowed || v.Rule.Line != 0 {
					t.Errorf("%s with %q: %+v, want no deciding rule", h.name, more, v)
				}
			}
		}
	}
	if givenUp < len(cases) {
		t.Errorf("only %d searches were stopped", givenUp)
	}
}

// TestHostileRules adds a rule to fewer hostile rules. The rule matches in one case and
// does not match in the other.
func TestHostileRules(t *testing.T) {
	for _, h := range hostileRules {
		r := Parse([]byte(h.text[:strings.LastIndexByte(h.text[:8000], '\n')+1]))
		s := r.Select(true, "x")
		if steps := s.steps(h.target); steps > maxSteps {
			t.Fatalf("%s: %d steps", h.name, steps)
		}
		if v := s.Judge(h.target); v.Rule.Line != 0 {
			t.Errorf("%s: line %d, %s, decides", h.name, v.Rule.Line, v.Rule)
		}
		path := s.Rules()[r.RuleCount()/2].Path
		path = path[:strings.LastIndexByte(path, '*')]
		longer := Parse([]byte(strings.Replace(r.Text(), "\n", "\nDisallow: "+path+"\n", 1)))
		if matches := naiveMatch(path, h.target); matches == longer.Select(true, "x").Judge(h.target).Allowed {
			t.Errorf("%s: Disallow: %s matches: %t, and the verdict differs", h.name, path, matches)
		}
	}
}

// TestMaxStepsOfPreferences checks that there is no preference if the search stops.
func TestMaxStepsOfPreferences(t *testing.T) {
	h := hostileRules[0]
	text := strings.ReplaceAll(h.text, "Allow:", "Content-Usage:")
	text = strings.ReplaceAll(text, "!\n", "! train-ai=n\n")
	r := Parse([]byte(text[:strings.LastIndexByte(text[:MaxSize-100], '\n')+1] + "Content-Usage: /*a train-ai=n\n"))
	if p, _ := preferencesOf(r, "x", "/a", ""); p == (Preferences{}) {
		t.Error("/a has no preference")
	}
	if p, _ := preferencesOf(r, "x", h.target, ""); p != (Preferences{}) {
		t.Errorf("the target has %v, want no preferences", p)
	}
}

// TestStepsOfOrdinaryFiles judges long targets by large ordinary files and by real ones. Each
// verdict needs less than a quarter of the steps that it may take, also with the worst multipliers.
func TestStepsOfOrdinaryFiles(t *testing.T) {
	defer func(m uint32) { gramMultiplier = m }(gramMultiplier)
	for _, m := range []uint32{gramMultiplier, 1, 3, 1<<31 + 1} {
		gramMultiplier = m
		most := mostSteps(t)
		if most > maxSteps/4 {
			t.Errorf("multiplier %#x: %d steps", m, most)
		}
		t.Logf("multiplier %#x: %d steps at most, of %d", m, most, maxSteps)
	}
}

// mostSteps returns the most steps of a verdict by an ordinary file.
func mostSteps(t *testing.T) (most int) {
	files := map[string][]byte{"small": []byte(smallFile), "large": largeFile}
	for i := range uint64(3) {
		files[fmt.Sprintf("generated %d", i)] = []byte("User-agent: *\n" + generateRules(10_000, 90, i))
	}
	for name, body := range corpus(t, MaxSize) {
		files[name] = body
	}
	targets := []string{
		"/" + fill("a/b-12./", 8000), "/" + fill("%c3/%2f//", 8000), "/shop%2fx//y?" + fill("/%3fpage=2%2F&", 7988),
		"/shop" + strings.Join(generateTargets(400, 6), "")[:7995], "/a/../" + fill("b%2f../index.html?a=b&c=/d.js&", 8000),
	}
	for _, body := range files {
		r := Parse(body)
		for _, token := range []string{"Googlebot", "Unnamed-Bot"} {
			s := r.Select(true, token)
			if s == nil {
				continue
			}
			for _, target := range targets {
				most = max(most, s.steps(target))
			}
		}
	}
	return most
}
