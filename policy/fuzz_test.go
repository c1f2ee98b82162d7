package policy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// corpus returns real files of at most limit bytes by name. They are third-party material in a
// directory next to the checkout, which may be missing.
func corpus(tb testing.TB, limit int) map[string][]byte {
	f, err := os.Open(filepath.Join("..", "..", "shared", "cases", "corpus.tar.gz"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	files := make(map[string][]byte)
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			tb.Fatal(err)
		}
		if header.Typeflag != tar.TypeReg || header.Size > int64(limit) {
			continue
		}
		if files[header.Name], err = io.ReadAll(archive); err != nil {
			tb.Fatal(err)
		}
	}
}

// oddFiles exercise every branch of the parser.
var oddFiles = []string{
	"", "\n", "\xef\xbb\xbfUser-agent: *\nDisallow: /", "\xef\xbbUser-agent: *\r\nDisallow: /\r\n",
	"\xff\xfeU\x00", smallFile, "<html><body>404</body></html>", "User-agent *\nDisallow /a\nAllow",
	"User-agent: a\rUser-agent: b\r\rDisallow: /x\rAllow: /x/y$\r",
	"User-agent: a\nCrawl-delay: 1\nUser-agent: b\nDisallow: /*/x$\n\nUser-agent: *\nDisallow: *",
	"useragent:*\ndissallow:/a*b*c#d\nsite-map:x\nhost:y\nFoo: bar\n: z\n\x00Disallow: /",
	"useragent: a\nUser-agent: b\nDisalow: /a\nCrawl-delay 1\nUser-agent: *\nDisallow\v/\nAllow /a/b\ncrawldelay: 1\nuser agent: Googlebot\f\nDisallow: /\v\n",
	"User-agent: *bot\nUser-agent: a, b\nUser-agent:\nDisallow: a\nAllow: /$/%2a/%41/%zz/é\x80$",
	"User-agent: *\nAllow: /a/index.html\nDisallow: /a/\nDisallow: /wiki/*/edit\nAllow: /*?x=/",
}

func FuzzParse(f *testing.F) {
	for _, text := range oddFiles {
		f.Add([]byte(text))
	}
	for _, body := range corpus(f, 64<<10) {
		f.Add(body)
	}
	f.Fuzz(checkParse)
}

// checkParse checks the invariants of every file.
func checkParse(t *testing.T, body []byte) {
	r := Parse(body)
	if !strings.HasPrefix(string(body), r.Text()) || len(r.Text()) > MaxSize {
		t.Fatal("Text is not the beginning of the file")
	}
	lines := countLineEnds([]byte(r.Text())) + 1
	last := 0
	for i, g := range r.Groups() {
		if len(g.Agents) == 0 {
			t.Fatalf("group %d has no name", i)
		}
		for _, a := range g.Agents {
			if a.Line <= last || a.Line > lines {
				t.Fatalf("user-agent line %d after line %d of %d", a.Line, last, lines)
			}
			last = a.Line
		}
		for _, x := range g.Rules {
			if x.Line <= last || x.Line > lines {
				t.Fatalf("rule in line %d after line %d of %d", x.Line, last, lines)
			}
			last = x.Line
		}
	}
	for _, x := range r.Records() {
		if x.Line < 1 || x.Line > lines || x.Group < -1 || x.Group >= len(r.Groups()) {
			t.Fatalf("record %+v in a file of %d lines and %d groups", x, lines, len(r.Groups()))
		}
	}
	findings, _ := r.Findings()
	if len(findings) > maxFindings {
		t.Fatalf("%d findings are stored", len(findings))
	}
	for i, x := range findings {
		if !slices.Contains(Codes(), x.Code) || x.Message == "" || x.Line < 0 || x.Line > lines+1 || i > 0 && x.Line < findings[i-1].Line {
			t.Fatalf("finding %d: %+v", i, x)
		}
	}
	// 500 bytes for each line are an upper bound.
	if most := 4096 + 2*len(body) + 500*lines; r.Size() < len(r.Text()) || r.Size() > most+500*maxFindings {
		t.Fatalf("Size is %d for %d bytes in %d lines", r.Size(), len(body), lines)
	}
	again := Parse([]byte(r.Text()))
	if again.Text() != r.Text() || !slices.Equal(again.rules, r.rules) || !slices.Equal(again.agents, r.agents) {
		t.Fatal("parsing Text again yields different rules")
	}
}

func FuzzJudge(f *testing.F) {
	targets := []string{"/doc.pdf/x/..", "/a//..%2Fb/.", "x:a/b/.?c=/", "/", "/a", "/a/index.html", "/wiki/AC%2Fedit", "/x/../y?q=/%2f", "//a//b", "/a%5c..%5cb", "/%41*$", "/robots.txt?x", ""}
	for i, text := range oddFiles {
		for _, token := range []string{"a", "Googlebot", ""} {
			f.Add([]byte(text), token, targets[i%len(targets)])
		}
	}
	for _, row := range judgeRows {
		f.Add([]byte(row.robots), row.token, row.target)
	}
	for _, body := range corpus(f, 1<<10) {
		f.Add(body, "GPTBot", "/search/x?y=/a%2Fb")
	}
	f.Fuzz(func(t *testing.T, body []byte, token, target string) {
		if len(body) > 1<<10 || len(target) > 120 {
			return // the naive implementation is slow
		}
		r := Parse(body)
		compareWithNaive(t, r, token, target)
	})
}

// compareWithNaive judges with the compiled and the naive matcher.
func compareWithNaive(t *testing.T, r *Robots, token, target string) {
	t.Helper()
	for _, lenient := range []bool{false, true} {
		s := r.Select(true, token)
		if lenient {
			s = r.SelectWithLenientKeys(true, token)
		}
		got, want := s.Judge(target), naiveJudge(r, token, target, lenient)
		if got.Allowed != want.Allowed || got.Rule != want.Rule || got.Ambiguous != want.Ambiguous {
			t.Fatalf("%q for %q, lenient %t, by\n%s\n got allowed %t by %v (line %d), ambiguous %t\nwant allowed %t by %v (line %d), ambiguous %t", target, token, lenient, r.Text(),
				got.Allowed, got.Rule, got.Rule.Line, got.Ambiguous, want.Allowed, want.Rule, want.Rule.Line, want.Ambiguous)
		}
		if s.Allows(target, false) != want.Allowed {
			t.Fatalf("Allows differs from Judge: %q for %q by\n%s", target, token, r.Text())
		}
		isGroups := slices.ContainsFunc(naiveGroups(r.Text(), true, false), func(g Group) bool { return g.has(got) }) ||
			slices.ContainsFunc(naiveGroups(r.Text(), lenient, true), func(g Group) bool { return g.has(got) })
		if !isGroups && (got.Rule.Line != 0 || got.Group != (Agent{})) {
			t.Fatalf("%q for %q: %v is not in the group of %+v", target, token, got.Rule, got.Group)
		}
	}
}

// has reports whether a verdict may come from the group.
func (g Group) has(v Verdict) bool {
	return slices.Contains(g.Agents, v.Group) && (v.Rule.Line == 0 || slices.Contains(g.Rules, v.Rule))
}

func FuzzTarget(f *testing.F) {
	for _, s := range []string{"x:a/b", "x:", "h:80/a", "a:b://c/d?e", "/a//..%2Fb//.", "/a/b//..", "/%2e?/", "", "/", "*", "/a?b", "http://h", "http://h?q", "h/a#b", "//a/./..//%2e%2E/x?/%2f?%3F", "/a%5C..%5c%2f.%2F", "/%", "/%4", "/%zz%2541", "/é\x00 $*"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, s string, keepSlashes bool) {
		var target Target
		target.Set(s, keepSlashes)
		if target.count < 1 || target.count > maxPaths*maxQueries {
			t.Fatalf("%q has %d forms", s, target.count)
		}
		var texts []string
		for _, x := range target.variants() {
			texts = append(texts, x.text)
		}
		for i, text := range texts {
			path, _, _ := strings.Cut(text, "?")
			switch {
			case !strings.HasPrefix(text, "/"):
				t.Errorf("form %d of %q is %q and not a path", i, s, text)
			case string(appendCanonical(nil, text, false)) != text:
				t.Errorf("form %d of %q is %q which is not canonical", i, s, text)
			case hasDotSegment(path) && target.variants()[i].normalization&DotSegmentsResolved != 0:
				t.Errorf("form %d of %q is %q, resolved but with a dot segment", i, s, text)
			case len(text) > 3*len(s)+2:
				t.Errorf("form %d of %q has %d bytes", i, s, len(text))
			case slices.Contains(texts[:i], text):
				t.Errorf("form %d of %q is the duplicate %q", i, s, text)
			}
		}
		if !keepSlashes {
			var naive []string
			for _, path := range naivePaths(s) {
				for _, form := range path.all {
					naive = append(naive, form.text)
				}
			}
			for _, text := range naive {
				if !slices.Contains(texts, text) {
					t.Errorf("forms of %q are %q; %q is missing", s, texts, text)
				}
			}
			for _, text := range texts {
				if !slices.Contains(naive, text) {
					t.Errorf("forms of %q are %q; %q is unexpected", s, texts, text)
				}
			}
		}
	})
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{"", "/a", "/%41%2f%2F%zz%", "/*$", "/$*", "/%24%2A$", "/%%41", "/%2%35", "/é\xff\x00#[]"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, isRule bool) {
		once := appendCanonical(nil, s, isRule)
		if twice := appendCanonical(nil, string(once), isRule); !bytes.Equal(once, twice) {
			t.Errorf("%q becomes %q and then %q", s, once, twice)
		}
		if want := naiveCanonical(s, isRule); string(once) != want {
			t.Errorf("%q becomes %q, want %q", s, once, want)
		}
		if isRule && isCanonicalRule(s) && string(once) != s {
			t.Errorf("isCanonical is true for %q, but the canonical form is %q", s, once)
		}
		if len(once) > 3*len(s) {
			t.Errorf("%q grew to %d bytes", s, len(once))
		}
	})
}
