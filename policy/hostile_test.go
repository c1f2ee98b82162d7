package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

// hostileFiles have the maximum size and unusual content.
var hostileFiles = map[string]string{
	"one line":          fill("x", MaxSize),
	"one rule":          "User-agent: *\nDisallow: /" + fill("x", MaxSize-26),
	"line feeds":        fill("\n", MaxSize),
	"carriage returns":  fill("\r", MaxSize),
	"NULs":              fill("\x00", MaxSize),
	"keys":              fill("a:\n", MaxSize),
	"colons":            fill(":", MaxSize),
	"spaces":            fill(" ", MaxSize),
	"extensions":        fill("host:\n", MaxSize),
	"names":             fill("user-agent:x\n", MaxSize),
	"groups":            fill("user-agent:x\nallow:/\n", MaxSize),
	"global groups":     fill("user-agent:*\nallow:/\n", MaxSize),
	"rules":             "user-agent:*\n" + fill("allow:/\n", MaxSize-13),
	"stars":             "user-agent:*\nallow:" + fill("*", MaxSize-19),
	"stars and letters": "user-agent:*\nallow:" + fill("*a", MaxSize-19),
	"patterns":          "user-agent:*\n" + fill("allow:/*a*b*c\ndisallow:*aa*ab*ba$\n", MaxSize-13),
	"escapes":           "user-agent:*\nallow:/" + fill("%2F", MaxSize-20),
	"nested":            nested(),
	"first words":       firstWords(),
}

// nested returns a group in which every rule is a prefix of the next rule.
func nested() string {
	var b strings.Builder
	b.WriteString("user-agent:*\n")
	for i := 1; b.Len() < MaxSize; i++ {
		b.WriteString("allow:/" + strings.Repeat("a", i) + "\n")
	}
	return b.String()
}

// firstWords returns a file with many crawlers that share the first word.
func firstWords() string {
	var b strings.Builder
	for i := 0; b.Len() < MaxSize; i++ {
		fmt.Fprintf(&b, "user-agent:bot number %d\n", i)
	}
	return b.String()
}

// TestHostile parses hostile and real files and judges targets. With quadratic run time it would
// not finish.
func TestHostile(t *testing.T) {
	files := maps.Clone(hostileFiles)
	for name, body := range corpus(t, 2<<20) {
		files[name] = string(body)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		r := Parse([]byte(files[name]))
		checkParse(t, []byte(files[name]))
		for _, target := range []string{"/", "/" + strings.Repeat("a", 8000), "/" + strings.Repeat("%2F.", 2000), "/?" + strings.Repeat("/%2f", 2000)} {
			for _, token := range []string{"x", "bot", "bot number 7", "Googlebot"} {
				v := r.Select(true, token).Judge(target)
				if v.Allowed == false && v.Rule.Line == 0 {
					t.Errorf("%s: %.20q is disallowed without a rule", name, target)
				}
			}
		}
	}
}

// TestSelectionsBounded tests very many crawlers with very many rules. The memory of
// compiled groups stays bounded.
func TestSelectionsBounded(t *testing.T) {
	const names = 500
	var b strings.Builder
	for i := range names {
		fmt.Fprintf(&b, "User-agent: bot%d\n", i)
	}
	b.WriteString("Crawl-delay: 1\nUser-agent: x\n" + generateRules(300, 40, 9))
	for i := range names {
		fmt.Fprintf(&b, "User-agent: bot%d\nDisallow: /own/%d\n", i, i)
	}
	r := Parse([]byte(b.String()))
	most := 0
	for i := range names {
		token := fmt.Sprintf("BOT%d", i)
		if v := r.Select(true, token).Judge(fmt.Sprintf("/own/%d/x", i)); v.Allowed || v.Group.Name != fmt.Sprintf("bot%d", i) {
			t.Fatalf("the path of %s is allowed: %+v", token, v)
		}
		numRules := 0
		counted := make(map[*matcher]bool)
		cached := maps.Clone(r.groupCache.Load().byToken)
		if cached == nil {
			cached = make(map[string]*compiledGroup)
		}
		maps.Copy(cached, r.groupCache.Load().recentByToken)
		for _, s := range cached {
			for _, m := range []*matcher{s.extensionsIgnored, s.extensionsSplit} {
				if !counted[m] {
					counted[m] = true
					numRules += len(m.literals.texts) + len(m.patterns.patterns)
				}
			}
		}
		most = max(most, numRules)
	}
	if limit := r.maxCacheWeight() + 2*r.RuleCount(); most > limit {
		t.Errorf("%d compiled rules are cached, want at most %d", most, limit)
	}
}

// TestManyNames selects the groups of very many crawlers that the file names. Cached groups remain,
// and the cost of another crawler does not grow.
func TestManyNames(t *testing.T) {
	const names = 10*maxRecentTokens + 10
	var b strings.Builder
	b.WriteString("User-agent: *\nDisallow: /all\n\n")
	for i := range names {
		fmt.Fprintf(&b, "User-agent: bot%dx\n", i)
	}
	b.WriteString("Disallow: /x\n")
	r := Parse([]byte(b.String()))
	wildcardGroup, groups := r.Select(true), make([]*SelectedGroup, names)
	for i := range names {
		if groups[i] = r.Select(true, fmt.Sprintf("bot%dx", i)); groups[i].Judge("/x").Allowed {
			t.Fatalf("/x is allowed for bot%dx", i)
		}
		x := r.groupCache.Load()
		if n := len(x.recentByToken); n >= maxRecentTokens || n+len(x.byToken) != i+1 || len(x.byToken)%maxRecentTokens != 0 {
			t.Fatalf("after %d crawlers, %d groups are copied for the next crawler, with %d shared groups", i+1, n, len(x.byToken))
		}
	}
	for i := range names {
		if r.Select(true, fmt.Sprintf("BOT%dx", i)) != groups[i] {
			t.Fatalf("bot%dx is compiled twice", i)
		}
	}
	if r.Select(true) != wildcardGroup {
		t.Error("the * group is compiled twice")
	}
}

// TestCompiledGroupsAreCached caches two large groups together, and the groups of many crawlers up to the
// bound.
func TestCompiledGroupsAreCached(t *testing.T) {
	text := ""
	for _, name := range []string{"a", "b", "c"} {
		text += "User-agent: " + name + "\n"
		for i := range 3000 {
			text += fmt.Sprintf("Disallow: /%s%d\n", name, i)
		}
	}
	r := Parse([]byte(text))
	a := r.Select(true, "a")
	if r.Select(true, "b"); r.Select(true, "c") == nil || r.Select(true, "a") != a {
		t.Error("a group is compiled twice")
	}

	words := strings.Fields(strings.Repeat("a b c d e f g h i j k l m n o p q r s t u v w x y z ", 2))
	r = Parse([]byte(strings.Repeat("User-agent: "+strings.Join(words, " ")+"\n", 2000) + "Disallow: /\n"))
	for i := range words {
		if r.Select(true, strings.Join(words[:i+1], " ")).Judge("/").Allowed {
			t.Fatalf("everything is allowed for %q", words[:i+1])
		}
		numLines := 0
		for _, c := range r.groupCache.Load().recentByToken {
			numLines += len(c.agents)
		}
		if numLines > r.maxCacheWeight()+len(r.agents) {
			t.Fatalf("the cached groups have %d lines, want at most %d", numLines, r.maxCacheWeight()+len(r.agents))
		}
	}
}

// TestSharedMatcher checks that crawlers with the same groups share the compiled rules.
func TestSharedMatcher(t *testing.T) {
	r := Parse([]byte("User-agent: a\nUser-agent: b\nDisallow: /x\nUser-agent: c\nDisallow: /y\n"))
	a, b, c := r.Select(false, "a"), r.Select(false, "b"), r.Select(false, "c")
	if a.strict.matcher != b.strict.matcher || a.strict.matcher == c.strict.matcher {
		t.Error("a and b must share their compiled rules, and c must not")
	}
	if a != r.Select(false, "A") {
		t.Error("a is compiled twice")
	}
}

// TestConcurrent selects and judges in many goroutines.
func TestConcurrent(t *testing.T) {
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, "User-agent: bot%d\nUser-agent: all\nDisallow: /%d/\nDisallow: /*/x%d\n", i, i, i)
	}
	r := Parse([]byte(b.String()))
	var wait sync.WaitGroup
	for worker := range 16 {
		wait.Go(func() {
			for i := range 400 {
				n := (i*7 + worker) % 50
				for _, token := range []string{fmt.Sprintf("bot%d", n), "all"} {
					s := r.Select(true, token)
					v := s.Judge(fmt.Sprintf("/%d%%2F%%C3%%a9", n))
					if v.Allowed || v.Rule.Path != fmt.Sprintf("/%d/", n) {
						t.Errorf("%s: %+v", token, v)
						return
					}
				}
			}
		})
	}
	wait.Wait()
}

// TestPrefix truncates files anywhere, as the size limit does. The truncated file never disallows a
// target that its whole lines allow.
func TestPrefix(t *testing.T) {
	files := corpus(t, 64<<10)
	if files == nil {
		files = make(map[string][]byte)
	}
	files["small"] = []byte(smallFile)
	targets := append(generateTargets(20, 6), "/", "/a", "/search", "/wp-admin/x", "/x.pdf")
	for name, body := range files {
		for i := range 8 {
			// A comment shifts the file so that the limit is here.
			cut := len(body) * i / 8
			padded := append([]byte("#"+strings.Repeat("x", max(0, MaxSize-cut-2))+"\n"), body...)
			if cut > MaxSize-2 || len(padded) <= MaxSize {
				continue
			}
			read := Parse(padded)
			end := MaxSize
			if !isLineEnd(padded[end-1]) && !isLineEnd(padded[end]) {
				for !isLineEnd(padded[end-1]) {
					end--
				}
			}
			whole := Parse(padded[:end])
			if read.Text() != string(padded[:end]) {
				t.Fatalf("%s cut at %d: %d bytes were parsed, want %d", name, cut, len(read.Text()), end)
			}
			for _, target := range targets {
				got, want := read.Select(true, "Googlebot").Judge(target), whole.Select(true, "Googlebot").Judge(target)
				if want.Allowed && !got.Allowed {
					t.Fatalf("%s cut at %d disallows %q by %v", name, cut, target, got.Rule)
				}
			}
		}
	}
}

// TestAllocations checks that a verdict does not allocate.
func TestAllocations(t *testing.T) {
	small := Parse([]byte(smallFile))
	large := Parse([]byte("User-agent: *\n" + generateRules(10000, 40, 4)))
	contested := Parse([]byte("User-agent: Googlebot\nCrawl-delay: 1\nUser-agent: b\nDisallow: /*/x\n"))
	for name, r := range map[string]*Robots{"small": small, "large": large, "contested": contested} {
		for _, target := range []string{
			"/", "/search?q=x", "/products/a-1234/x.html", "/%7Euser/caf%c3%a9", "/a%2Fb//c/../d?u=http://x/%3F", "http://h/a",
			"/" + fill("a/b-12.", 8000), "/" + fill("%c3/", 8000), "/shop%2fx//y?" + fill("/%3fpage=2%2F&", 7988),
		} {
			for _, token := range []string{"Googlebot", "Unnamed-Bot"} {
				judge := func() { r.Select(true, "Googlebot-Image", token).Judge(target) }
				judge()
				if n := testing.AllocsPerRun(100, judge); n > 0 && !raceEnabled {
					t.Errorf("%s file, %.30q for %s: %v allocations", name, target, token, n)
				}
			}
		}
	}
	if rules := Parse(largeFile).RuleCount(); testing.AllocsPerRun(3, func() { Parse(largeFile) }) > float64(rules)/20 {
		t.Error("parsing allocates more than once for 20 rules")
	}
}
