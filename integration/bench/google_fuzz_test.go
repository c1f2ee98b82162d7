package main

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jimsmart/grobotstxt"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// FuzzBesideGoogle compares our verdict with that of the Go port of Google's library.
// The verdicts have to be equal, unless the question contains a known difference.
func FuzzBesideGoogle(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 64 {
		f.Add(someBytes(random))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if q := compose(data); q.otherwise() == "" && q.differs() {
			t.Fatalf("Google's library gives a different verdict: %+q", q)
		}
	})
}

// TestBesideGoogle makes the same comparison with random questions, and checks that
// enough of them are comparable.
func TestBesideGoogle(t *testing.T) {
	const questions = 10_000
	random := rand.New(rand.NewPCG(3, 4))
	alike, forbidden := 0, 0
	for range questions {
		q := compose(someBytes(random))
		if q.otherwise() != "" {
			continue
		}
		alike++
		if q.differs() {
			t.Fatalf("Google's library gives a different verdict: %+q", q)
		}
		if !q.allowed() {
			forbidden++
		}
	}
	t.Logf("%d questions, %d with equal verdicts, of which %d disallow", questions, alike, forbidden)
	if alike < questions/3 || forbidden < alike/10 || forbidden > alike*9/10 {
		t.Error("too few comparable questions")
	}
}

// TestWhereGoogleReadsOtherwise checks that each known difference is necessary and
// narrow. For each difference it has a question with different verdicts, and a similar
// question with equal verdicts.
func TestWhereGoogleReadsOtherwise(t *testing.T) {
	shown := make(map[string]bool)
	for _, tc := range []struct {
		why           string
		differs, same question
	}{
		{"escapes", question{"User-agent: *\nDisallow: /a", "b", "/%61"}, question{"User-agent: *\nDisallow: /a", "b", "/a"}},
		{"counts as %24", question{"User-agent: *\nDisallow: /*aa\nAllow: /$a", "b", "/$aa"}, question{"User-agent: *\nDisallow: /*aa\nAllow: /*a", "b", "/*aa"}},
		{"serve as another", question{"User-agent: *\nDisallow: /a/b", "b", "/a//b"}, question{"User-agent: *\nDisallow: /a/b", "b", "/a/b"}},
		{"only begins as one", question{"User-agent: *\nDisallowAITraining: /", "b", "/"}, question{"User-agent: *\nDissallow /", "b", "/"}},
		{"beyond letters", question{"User-agent: b*\nDisallow: /", "b", "/"}, question{"User-agent: *\nDisallow: /\nUser-agent: A1/2 c\nAllow: /", "a1", "/"}},
		{"an extension between names", question{"User-agent: a\nCrawl-delay: 5\nUser-agent: b\nDisallow: /", "a", "/"}, question{"User-agent: a\nHost: a\nUser-agent: b\nDisallow: /", "a", "/"}},
	} {
		switch why := tc.differs.otherwise(); {
		case !strings.Contains(why, tc.why):
			t.Errorf("%+q is excluded because of %q, want %q", tc.differs, why, tc.why)
		case !tc.differs.differs():
			t.Errorf("%q: the verdicts on %+q are equal", tc.why, tc.differs)
		default:
			shown[why] = true
		}
		if why := tc.same.otherwise(); why != "" || tc.same.differs() {
			t.Errorf("%q: %+q is excluded because of %q; verdicts differ: %t", tc.why, tc.same, why, tc.same.differs())
		}
	}
	for _, d := range differences {
		if !shown[d.why] {
			t.Errorf("no question for the difference %q", d.why)
		}
	}
}

// question asks whether a crawler may fetch a target according to a robots.txt.
type question struct{ robots, name, target string }

// allowed returns our verdict by the forgiving interpretation, which is Google's.
func (q question) allowed() bool {
	return policy.Parse([]byte(q.robots)).SelectWithLenientKeys(true, q.name).Judge(q.target).Allowed
}

func (q question) differs() bool {
	google := q.target == "/robots.txt" || grobotstxt.AgentAllowed(q.robots, q.name, site+q.target)
	return google != q.allowed()
}

// otherwise returns the known difference that may change the verdict of Google's
// library, or "".
func (q question) otherwise() string {
	for _, d := range differences {
		if d.is(q) {
			return d.why
		}
	}
	return ""
}

// differences are the known differences. Each is a decision of package policy or of the
// port.
var differences = []struct {
	why string
	is  func(question) bool
}{
	{"escapes, and bytes that are written as such", func(q question) bool { return escapes.MatchString(q.robots + q.target) }},
	{"$ in a target, which counts as %24", func(q question) bool { return strings.Contains(q.target, "$") }},
	{"a target that some origins serve as another", func(q question) bool { return severalForms.MatchString(q.target) }},
	{"a key that only begins as one", func(q question) bool { return slices.ContainsFunc(q.records(), record.onlyBegins) }},
	{"a name that goes on beyond letters, digits, - and _", func(q question) bool {
		return slices.ContainsFunc(append(q.records(), record{"user-agent", q.name}), record.hasOddName)
	}},
	{"an extension between names", question.splits},
}

var (
	escapes      = regexp.MustCompile(`[^ -~\t\r\n]|[%"<>\\^{}|\x60\[\]]`)
	severalForms = regexp.MustCompile(`//|/\.|\?.*[/?]`)
	plainName    = regexp.MustCompile(`^([A-Za-z0-9_-]*([ \t/].*)?|\*([ \t].*)?)$`)
	lineEnd      = regexp.MustCompile(`\r\n?|\n`)
	twoWords     = regexp.MustCompile(`^([^ \t]+)[ \t]+([^ \t]+)$`)
)

// record is a key and a value of a line. The key is in lower case.
type record struct{ key, value string }

// records returns the records of the file by the forgiving interpretation.
func (q question) records() (all []record) {
	for _, line := range lineEnd.Split(q.robots, -1) {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, ":")
		if words := twoWords.FindStringSubmatch(line); !ok && words != nil {
			key, value, ok = words[1], words[2], true
		}
		if ok {
			all = append(all, record{strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value)})
		}
	}
	return all
}

var (
	agentSpellings = []string{"user-agent", "useragent", "user agent"}
	ruleSpellings  = []string{"allow", "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"}
	spellings      = slices.Concat(agentSpellings, ruleSpellings)
	extensions     = []string{"crawl-delay", "content-usage"} // those that compose generates
)

func (r record) isAgent() bool { return slices.Contains(agentSpellings, r.key) }

func (r record) hasOddName() bool { return r.isAgent() && !plainName.MatchString(r.value) }

func (r record) onlyBegins() bool {
	return !slices.Contains(spellings, r.key) &&
		slices.ContainsFunc(spellings, func(key string) bool { return strings.HasPrefix(r.key, key) })
}

// splits reports whether a list of user-agent lines contains a record that ends the
// list only in the strict interpretation.
func (q question) splits() bool {
	names := false
	for _, r := range q.records() {
		switch {
		case r.isAgent():
			names = true
		case slices.Contains(ruleSpellings, r.key):
			names = false
		case names && slices.Contains(extensions, r.key):
			return true
		}
	}
	return false
}

// Parts of generated questions. The lists with odd in their names hold parts that
// parsers may interpret differently.
var (
	askers                   = []string{"a", "b", "ab", "a-b", "A_B", "Googlebot", "Googlebot-Image"}
	agentNames, oddNames     = []string{"*", "a", "b", "AB", "a-b", "a_b", "googlebot", "Googlebot-Image", "* "}, []string{"* a", "*b", "a/1.0", "a b", "a1", "b*", ""}
	agentKeys, oddAgentKeys  = []string{"User-agent", "user-agent", "USER-AGENT", "useragent", "user agent"}, []string{"User-agents", "User_agent"}
	ruleKeys, oddRuleKeys    = []string{"Disallow", "Allow", "disallow", "ALLOW", "Disalow", "dissallow", "Disallow"}, []string{"Allowed", "DisallowAITraining", "Dis-allow"}
	colons, oddColons        = []string{": ", ":", " : ", ":\t"}, []string{" ", "  ", "=", "::"}
	ruleParts, oddRuleParts  = []string{"a", "b", "/", "*", "a", "b", "/", "*", "$", ".", "?", "=", "index.html", "-"}, []string{"%2F", "%61", "é", " ", "[", "//", "/../"}
	targetParts, oddTargets  = []string{"a", "b", "/a", "/b", "/", "a", "b", ".", "?a", "=", "/index.html", "-"}, []string{"%2F", "%61", "é", "*", "$", "//", "/.", "?"}
	otherLines, oddLines     = []string{"", "# a", "Sitemap: /s.xml", "Foo: bar", "Host: a", "x"}, []string{"Crawl-delay: 5", "Content-Usage: train-ai=n", "Disallow: /a /b", "\xef\xbb\xbf"}
	lineRests, lineEndings   = []string{"", "", "", " ", "\t", " # b", "#c"}, []string{"\n", "\r\n", "\r"}
	ruleBegins, oddRuleStart = []string{"/", "/", "/", "/*"}, []string{"*", "", "a", "?", "$"}
)

// compose returns the question that data encodes.
func compose(data []byte) (q question) {
	next := func(n int) int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b) % n
	}
	one := func(of, odd []string) string {
		if next(100) == 99 {
			of = odd
		}
		return of[next(len(of))]
	}
	path := func(of, odd []string) string {
		var b strings.Builder
		for range next(4) {
			b.WriteString(one(of, odd))
		}
		return b.String()
	}
	q.name, q.target = one(askers, askers), "/"+strings.TrimPrefix(path(targetParts, oddTargets), "/")
	end := one(lineEndings, lineEndings)
	var file strings.Builder
	for range 2 + next(12) {
		switch kind := next(16); {
		case kind < 4:
			file.WriteString(one(agentKeys, oddAgentKeys) + one(colons, oddColons) + one(agentNames, oddNames))
		case kind < 12:
			file.WriteString(one(ruleKeys, oddRuleKeys) + one(colons, oddColons) + one(ruleBegins, oddRuleStart) + path(ruleParts, oddRuleParts))
		default:
			file.WriteString(one(otherLines, oddLines))
		}
		file.WriteString(one(lineRests, lineRests) + end)
	}
	q.robots = file.String()
	return q
}

// someBytes returns enough random data for a question.
func someBytes(random *rand.Rand) []byte {
	data := make([]byte, 200)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}
