package rulelist

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// imported returns the text that the rules of a robots.txt make of nothing, by way of
// the list that is written.
func imported(t *testing.T, text string) (string, Imported) {
	t.Helper()
	in, err := FromRobots(uaident.Default(), policy.Parse([]byte(text)))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, in.Rules); err != nil {
		t.Fatal(err)
	}
	rules, err := parse("list", b.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	schedule, err := schedule(uaident.Default(), rules, in.Sitemaps, nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, _ := schedule.At(time.Now(), "")
	composed, err := plan.Compose(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	return string(composed), in
}

var (
	someNames = []string{"*", "GPTBot", "CCBot", "Googlebot", "Googlebot-Image", "bingbot", "Applebot", "Applebot-Extended", "FooBot", "Foo Bar", "foobot/2.1", "Sogou web spider", "SemrushBot"}
	somePaths = []string{"/", "/a", "/a/", "/a/b", "/b", "/*.pdf$", "/a*c", "/b?q", "/c/d/e", "*", "", "/*", "a", "**", "/$", "/%61", "/ü"}
	someTried = []string{"/", "/a", "/ab", "/a/", "/a/b", "/a/bc", "/abc", "/b", "/b?q=1", "/x.pdf", "/x.pdf?y", "/c", "/c/d/e/f", "/zzz", "/a/x.pdf", "/%C3%BC"}
)

// Rules of a robots.txt say to every crawler, at every path, what the file does.
func TestImportedRulesSayWhatTheFileDoes(t *testing.T) {
	registry := uaident.Default()
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	pairs := 0
	for pairs < 200_000 {
		var b strings.Builder
		for range r.IntN(6) {
			for range 1 + r.IntN(3) {
				fmt.Fprintf(&b, "User-agent: %s\n", pick(someNames))
			}
			for range r.IntN(5) {
				fmt.Fprintf(&b, "%s: %s\n", pick([]string{"Allow", "Disallow", "Disallow"}), pick(somePaths))
			}
			if r.IntN(4) == 0 {
				fmt.Fprintf(&b, "Crawl-delay: %d\n", 1+r.IntN(20))
			}
			b.WriteString(pick([]string{"", "Sitemap: https://a.test/s.xml\n", "Disallow: /end\n"}))
		}
		text := b.String()
		before := policy.Parse([]byte(text))
		if _, err := FromRobots(registry, before); err != nil && strings.Contains(err.Error(), "in two ways") {
			continue
		}
		composed, _ := imported(t, text)
		after := policy.Parse([]byte(composed))
		names := append(slices.DeleteFunc(slices.Clone(someNames[1:]), func(name string) bool { return strings.Contains(name, "/") }), "Nobody", "Foo", "Googlebot-News", "Sogou", "GoogleOther")
		for range 10 {
			names = append(names, registry.Crawlers()[r.IntN(len(registry.Crawlers()))].Token)
		}
		for _, name := range names {
			chain := []string{name}
			if c := registry.Lookup(name); c != nil {
				chain = chainOf(c)
			}
			old, new := before.Select(true, chain...), after.Select(true, chain...)
			if old.Delay().Every != new.Delay().Every {
				t.Fatalf("the delay of %s is %v, and was %v\n%s\ncomposed\n%s", name, new.Delay().Every, old.Delay().Every, text, composed)
			}
			for _, path := range someTried {
				if pairs++; old.Judge(path).Allowed != new.Judge(path).Allowed {
					t.Fatalf("%s may fetch %s: %t\n%s\ncomposed\n%s", name, path, new.Judge(path).Allowed, text, composed)
				}
			}
		}
	}
}

func TestImportRobots(t *testing.T) {
	_, in := imported(t, `# comment
User-agent: GPTBot
User-agent: NewBot/1.0
Disallow: /

User-agent: *
Disallow: /a
Allow: /a/b
Crawl-delay: 5
Request-rate: 1/5
Host: a.test
Sitemap: https://a.test/s.xml
`)
	var b bytes.Buffer
	if err := WriteCaddyfile(&b, &in); err != nil {
		t.Fatal(err)
	}
	const want = `robots_txt {
	base none
	rule import-1 {
		for GPTBot token:NewBot
		disallow
	}
	rule import-2-disallow {
		for *
		disallow /a
	}
	rule import-2-allow {
		for *
		allow /a/b
	}
	crawl_delay * 5
	sitemap https://a.test/s.xml
}
`
	if b.String() != want {
		t.Errorf("got %s", b.String())
	}
	if notes := strings.Join(in.Notes, "\n"); !strings.Contains(notes, "line 10, Request-rate: 1/5, is left out") || !strings.Contains(notes, "line 11, Host: a.test, is no rule; write it with line") {
		t.Errorf("notes: %s", notes)
	}
	_, in = imported(t, "User-agent: Foo Bar\nDisallow: /a\n\nUser-agent: Foo\nDisallow: /\n")
	if len(in.Notes) != 1 || !strings.Contains(in.Notes[0], `a group for "foo bar" names "foo", too`) {
		t.Errorf("two names that are alike: %q", in.Notes)
	}
	_, err := FromRobots(uaident.Default(), policy.Parse([]byte("User-agent: *\nDisalow: /a\nDisallow: /b\n")))
	if err == nil || !strings.Contains(err.Error(), "in two ways") {
		t.Errorf("a misspelt file: %v", err)
	}
}

// What others have written into their robots.txt means in a list and in a Caddyfile
// what it did there, and nothing else.
func TestImportHostile(t *testing.T) {
	t.Setenv("ZORK", "leaked")
	for _, path := range []string{"/x{$ZORK}y", "/{host}", "/{env.ZORK}", "/{http.request.host}", "/a`b\\", "/c`\"d\\\"e", `/"q"`, "/\u00a0x", "/x\u2028y", "/x\vy", "/\x85", "/%\x85%41", "/%{41", "/\u00fc", "/a b", "/*{$"} {
		text := "User-agent: *\nDisallow: " + path + "\n"
		composed, in := imported(t, text)
		want := onlyRule(t, text)
		if got := onlyRule(t, composed); got != want {
			t.Errorf("%q is %q by a list", path, got)
		}
		if got := inCaddyfile(t, &in, "disallow"); len(got) != 1 || strings.ContainsAny(got[0], "{}") || onlyRule(t, "User-agent: *\nDisallow: "+got[0]) != want {
			t.Errorf("%q is %q by a Caddyfile", path, got)
		}
	}
	for _, name := range []string{"{$ZORK}bot", "a`b\\", "x\"y`z\\\"q { respond hi", "a\u00a0b", "\x85bot"} {
		_, in := imported(t, "User-agent: "+name+"\nUser-agent: FooBot\nDisallow: /\n")
		if got := inCaddyfile(t, &in, "for"); fmt.Sprint(got) != "[token:FooBot]" || !strings.Contains(strings.Join(in.Notes, "\n"), fmt.Sprintf("%.80q can be no product token and is left out", name)) {
			t.Errorf("%q is %q by a Caddyfile, notes %q", name, got, in.Notes)
		}
		names, err := FromNames(uaident.Default(), fmt.Appendf(nil, `{"FooBot": {"operator": ""}, %s: {"operator": ""}}`, asJSON(t, name)))
		if got := inCaddyfile(t, &names, "for"); err != nil || fmt.Sprint(got) != "[token:FooBot]" {
			t.Errorf("%q is %q of a list of names, %v", name, got, err)
		}
	}
	_, in := imported(t, "Sitemap: <<a://b\nSitemap: https://a.test/{$ZORK}\nSitemap: https://a.test/a b\n")
	if got := inCaddyfile(t, &in, "sitemap"); fmt.Sprint(got) != "[<<a://b https://a.test/%7B$ZORK%7D https://a.test/a b]" {
		t.Errorf("the sitemaps are %q", got)
	}
}

// onlyRule returns the only rule of a robots.txt as it is compared.
func onlyRule(t *testing.T, text string) string {
	t.Helper()
	rules := policy.Parse([]byte(text)).Select(true).Rules()
	if len(rules) != 1 {
		t.Fatalf("%d rules in %q", len(rules), text)
	}
	return rules[0].Canonical()
}

func asJSON(t *testing.T, s string) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// inCaddyfile returns what Caddy reads behind a word in the lines that are written.
func inCaddyfile(t *testing.T, in *Imported, word string) (words []string) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteCaddyfile(&b, in); err != nil {
		t.Fatal(err)
	}
	blocks, err := caddyfile.Parse("Caddyfile", []byte("a.test {\n"+b.String()+"}\n"))
	if err != nil || len(blocks) != 1 || len(blocks[0].Segments) != 1 {
		t.Errorf("%v\n%s", err, b.String())
		return nil
	}
	line, found := 0, false
	for _, token := range blocks[0].Segments[0] {
		switch {
		case token.Line != line:
			line, found = token.Line, token.Text == word
		case found:
			words = append(words, token.Text)
		}
	}
	return words
}

func TestImportNames(t *testing.T) {
	in, err := FromNames(uaident.Default(), []byte(`{
		"gptbot": {"operator": "[OpenAI](https://openai.com)", "respect": "Yes", "function": "Scrapes data", "frequency": "", "description": ""},
		"GPTBot": {"operator": "the same"},
		"New Bot 1.0": {"operator": "Unclear at this time."},
		"new/bot": {"function": "?"},
		"Applebot": {"operator": "Apple", "function": "AI Search Crawlers"}
	}`))
	if err != nil || len(in.Rules) != 1 || strings.Join(in.Rules[0].For, ", ") != "GPTBot, token:New Bot 1.0, Applebot" || in.Whole {
		t.Fatalf("%+v, %v", in, err)
	}
	if notes := strings.Join(in.Notes, "\n"); !strings.Contains(notes, `"new/bot" can be no product token`) || !strings.Contains(notes, "Applebot is a search engine") {
		t.Errorf("notes: %s", notes)
	}
	var b bytes.Buffer
	if err := WriteCaddyfile(&b, &in); err != nil || !strings.Contains(b.String(), "\t\tfor GPTBot \"token:New Bot 1.0\" Applebot\n\t\tdisallow\n") || strings.Contains(b.String(), "base") {
		t.Errorf("got %s, %v", b.String(), err)
	}
	for text, want := range map[string]string{
		"{}":                       "it names no crawler",
		`{"rules": []}`:            "it is a list of rules already",
		`{"a": {"name": "x"}}`:     `"a" has neither operator nor function`,
		`{"a": 7}`:                 "it is no object of crawlers",
		`{"GPTBot": {"operator": `: "it is no object of crawlers",
	} {
		if _, err := FromNames(uaident.Default(), []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{"/a": "/a", "/a b": `"/a b"`, "": `""`, "<<a": `"<<a"`} {
		if got := quoted(word); got != want {
			t.Errorf("quoted(%s) is %s, want %s", word, got, want)
		}
	}
}
