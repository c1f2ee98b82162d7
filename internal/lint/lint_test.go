package lint

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestPositions checks the positions of findings and the quoted parts of messages.
func TestPositions(t *testing.T) {
	for _, tc := range []struct {
		name, file   string
		code         policy.Code
		line, column int
		says         string
	}{
		{"after white space", "User-agent: a\r\n  Disallow:\t x\r\n", policy.RuleWithoutSlash, 2, 14, `"x"`},
		{"after letters of two bytes", "User-agent: a\rDisallow: /ä$b\r", policy.DollarBeforeEnd, 2, 13, "$"},
		{"of a key", "User-agent: a\nDisallow: /x\n\t Priority: 1\n", policy.UnknownKey, 3, 3, "Priority"},
		{"of a NUL", "User-agent: a\nDisallow: /x\x00y\n", policy.ContainsNUL, 2, 13, "NUL"},
		{"behind a byte order mark", "\xef\xbb\xbfUser-agent: Gogolebot\nDisallow: /x\n", MisspeltCrawlerName, 1, 14, "Googlebot"},
		{"of a comment", "User-agent: a\nDisallow: /a/#b\n", CommentInPath, 2, 14, `"/a/"`},
		{"of a rule with many bytes", "User-agent: a\nDisallow: /" + strings.Repeat("ж", 600) + "\n", AboveYandexLimits, 0, 0, ""},
		{"of a rule with many characters", "User-agent: a\nDisallow: /" + strings.Repeat("ж", 1024) + "\n", AboveYandexLimits, 2, 11, "1024"},
		{"of a second key after letters of two bytes", "User-agent: a\nDisallow /ä Disallow: /b\n", JoinedLines, 2, 13, `"Disallow"`},
		{"of a comment before a NUL", "User-agent: a\nDisallow: /a#b\x00cc\n", CommentInPath, 2, 13, `"/a"`},
		{"of a name", "User-agent: a\nUser-agent: Googel\nDisallow: /a/\n", MisspeltCrawlerName, 0, 0, ""},
		{"of the second of two rules", "User-agent: a\nDisallow: /a\nDisallow:   /a\n", DuplicateRule, 3, 13, "line 2"},
		{"of rules in merged groups", "User-agent: a\nDisallow: /a\n\nUser-agent: b\nDisallow: /c\n\nUser-agent: A\nAllow: /a\n", EqualAllowAndDisallow, 8, 8, "line 2"},
		{"of the first of many", "User-agent: a\n" + strings.Repeat("Disallow: /a\n", 9), DuplicateRule, 3, 11, "(likewise in lines 4, 5, 6, 7, 8 and 2 more)"},
		{"a company's name", "User-agent: OpenAI\nDisallow: /\n", MisspeltCrawlerName, 1, 13, "did you mean GPTBot?"},
		{"letters swapped", "User-agent: PerplexityBto\nDisallow: /\n", MisspeltCrawlerName, 1, 13, "PerplexityBot"},
		{"two letters swapped in a short name", "User-agent: Appelbot\nDisallow: /\n", MisspeltCrawlerName, 1, 13, "Applebot"},
		{"letters swapped in a name of six", "User-agent: GTPBot\nDisallow: /\n", MisspeltCrawlerName, 1, 13, "did you mean GPTBot?"},
		{"of seven", "User-agent: Bignbot\nDisallow: /\n", MisspeltCrawlerName, 1, 13, "did you mean bingbot?"},
		{"of five", "User-agent: CCBto/2.0\nDisallow: /\n", MisspeltCrawlerName, 1, 13, "did you mean CCBot?"},
		{"a product's name", "User-agent: ChatGPT\nDisallow: /\n", MisspeltCrawlerName, 1, 13, "did you mean ChatGPT-User?"},
		{"a version", "User-agent: AcmeBot/1.0\nDisallow: /\n", NameWithVersion, 1, 13, `write "AcmeBot"`},
		{"a version behind a known name", "User-agent: bingbot/2.0\nDisallow: /private/\n", NameWithVersion, 1, 13, `write "bingbot"`},
		{"a version that Google reads over", "User-agent: Googlebot/2.1\nDisallow: /private/\n", NameWithVersion, 0, 0, ""},
		{"all search engines", "User-agent: *\nDisallow: /\n", SearchEnginesDisallowed, 2, 1, "Googlebot, bingbot, YandexBot and 11 more search engines"},
		{"all but those that are named", "User-agent: Googlebot\nUser-agent: bingbot\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n", SearchEnginesDisallowed, 6, 1, "YandexBot, Baiduspider, DuckDuckBot and 8 more"},
		{"one that is named", "User-agent: Baiduspider\nDisallow: /\n", NamedSearchEnginesDisallowed, 2, 1, "the file disallows the whole site for Baiduspider by name"},
		{"one that is named is not shut out", "User-agent: Baiduspider\nDisallow: /\n", SearchEnginesDisallowed, 0, 0, ""},
		{"one that is named by its alias", "User-agent: msnbot\nDisallow: /\n", NamedSearchEnginesDisallowed, 2, 1, "the file disallows the whole site for bingbot"},
		{"one that obeys another's group", "User-agent: Googlebot\nDisallow: /\n", SearchEnginesDisallowed, 2, 1, "disallows the whole site for Applebot; if this is not a staging site"},
		{"two that are left", "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nUser-agent: bingbot\nUser-agent: YandexBot\nUser-agent: Baiduspider\nUser-agent: DuckDuckBot\nUser-agent: Slurp\nUser-agent: Yeti\nUser-agent: Sogou\nUser-agent: SeznamBot\nUser-agent: PetalBot\nUser-agent: Qwantbot\nDisallow: /a\n", SearchEnginesDisallowed, 2, 1, "Mail.RU_Bot and MojeekBot;"},
		{"a name in two words", "User-agent: Google Bot\nDisallow: /\n", MisspeltCrawlerName, 1, 13, "Googlebot"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			report := Check("x", []byte(tc.file), Options{})
			at := slices.IndexFunc(report.Findings, func(f Finding) bool { return f.Code == tc.code })
			if tc.line == 0 {
				if at >= 0 {
					t.Errorf("found %+v", report.Findings[at])
				}
				return
			}
			if at < 0 {
				t.Fatalf("not among %+v", report.Findings)
			}
			if f := report.Findings[at]; f.Line != tc.line || f.Column != tc.column || !strings.Contains(f.Message, tc.says) {
				t.Errorf("%+v, want %d:%d with %s", f, tc.line, tc.column, tc.says)
			}
		})
	}
}

// TestNothingFound has correct files, some with unusual lines.
func TestNothingFound(t *testing.T) {
	for _, file := range []string{
		"User-agent: *\nDisallow:\n",
		"User-agent: *\nDisallow: /private/\nAllow: /private/press/\n\nSitemap: https://example.com/sitemap.xml\n",
		"User-agent: *\nAllow: /\nDisallow: /search\n",
		"User-agent: *\nDisallow: /a # comment\nDisallow: /b #\nDisallow: #all\n",
		"User-agent: *\nDisallow: /a b/c\n",
		"User-agent: *\nCrawl-delay: 0.5\nDisallow: /x\n",
		"User-agent: bingbot\nCrawl-delay: 5\nDisallow: /x\n",
		"User-agent: GPTBot\nUser-agent: CCBot\nUser-agent: Google-CloudVertexBot\nDisallow: /\n",
		"User-agent: Yeti\nDisallow: /\n\nUser-agent: NaverBot\nDisallow: /\n",
		"User-agent: Googlebot/2.1\nUser-agent: Sogou web spider\nUser-agent: MJ12bot*\nDisallow: /x\n",
		"User-agent: YourBot\nUser-agent: acmescraper\nUser-agent: Roverbot\nDisallow: /x\n",
		"User-agent: *\nDisallow: /dir/\nAllow: /dir/a/\nDisallow: /dir/a/b/\n",
		"User-agent: *\nDisallow: /*.pdf$\nDisallow: /docs/*.pdf$\nAllow: /docs/*\n",
		"User-agent: *\nDisallow: /reports/\nAllow: /reports/$\nAllow: /reports/index.html\n",
	} {
		for _, f := range Check("x", []byte(file), Options{}).Findings {
			if f.Severity > policy.Info {
				t.Errorf("%q: %+v", file, f)
			}
		}
	}
}

// TestNeverWins compares the finding never-wins with a simple reference. Without such a rule, the
// verdict on every short path must be the same.
func TestNeverWins(t *testing.T) {
	paths := words("/", "ab/", 5)
	patterns := []string{"/", "/*", "/a", "/a*", "/a/", "/*a", "/a$", "/*/b", "/a/b", "/*$", "/b", "/a*b", "/ab"}
	checked := 0
	for i, p := range patterns {
		for j, q := range patterns {
			r := patterns[(i*7+j*3)%len(patterns)]
			lines := []string{"User-agent: *", "Disallow: " + p, "Allow: " + q, "Disallow: " + r}
			text := strings.Join(lines, "\n") + "\n"
			for _, f := range Check("x", []byte(text), Options{}).Findings {
				if f.Code != RuleWithoutEffect && f.Code != CoveredRule && f.Code != DuplicateRule {
					continue
				}
				checked++
				without := slices.Clone(lines)
				without[f.Line-1] = ""
				before, after := policy.Parse([]byte(text)).Select(true), policy.Parse([]byte(strings.Join(without, "\n"))).Select(true)
				for _, path := range paths {
					if before.Judge(path).Allowed != after.Judge(path).Allowed {
						t.Fatalf("%q: %s matters for %s, but %s", text, lines[f.Line-1], path, f.Message)
					}
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d findings", checked)
	}
}

// words returns all strings that begin with start and continue with up to n letters.
func words(start, letters string, n int) []string {
	all := []string{start}
	for from, length := 0, 0; length < n; length++ {
		to := len(all)
		for _, w := range all[from:to] {
			for _, c := range letters {
				all = append(all, w+string(c))
			}
		}
		from = to
	}
	return all
}

func TestReadings(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		path       string // the first path on which crawlers disagree; empty for none
		allowed    string // by Googlebot, Bingbot, YandexBot, GPTBot, RFC 9309 and a strict parser
		by         bool
	}{
		{"all agree", "User-agent: *\nDisallow: /x\n", "", "", false},
		{"a group of one's own", "User-agent: GPTBot\nDisallow: /\n", "/", "+++-++", false},
		{"a group of two names", "User-agent: Yandex\nUser-agent: msnbot\nDisallow: /\n", "/", "+--+++", false},
		{"a misspelt key", "User-agent: *\nDissallow: /x\n", "/x", "-+++++", true},
		{"no colon", "User-agent: *\nDisallow /x\n", "/x", "-+++++", true},
		{"Crawl-delay among the names", "User-agent: a\nCrawl-delay: 1\nUser-agent: *\nDisallow: /x\n", "", "", false},
		{"Crawl-delay behind *", "User-agent: *\nCrawl-delay: 1\nUser-agent: a\nDisallow: /x\n", "/x", "-----+", true},
		{"Crawl-delay behind * and a misspelt key", "User-agent: *\nCrawl-delay: 1\nUser-agent: a\nDisalow: /x\n", "/x", "-+++++", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := Check("x", []byte(tc.file), Options{}).Comparison
			if tc.path == "" {
				if len(r.Paths) > 0 {
					t.Errorf("%+v", r.Paths)
				}
				return
			}
			if len(r.Paths) == 0 {
				t.Fatal("all read it alike")
			}
			var allowed strings.Builder
			for _, a := range r.Paths[0].Allowed {
				if a {
					allowed.WriteByte('+')
				} else {
					allowed.WriteByte('-')
				}
			}
			if p := r.Paths[0]; p.Path != tc.path || allowed.String() != tc.allowed || p.ParsersDiffer != tc.by {
				t.Errorf("%+v, want %s %s", p, tc.path, tc.allowed)
			}
		})
	}
	delays := Check("x", []byte("User-agent: bingbot\nDisallow: /x\n\nUser-agent: *\nCrawl-delay: 3\nDisallow: /y\n"), Options{}).Comparison
	var got []string
	for _, c := range delays.Crawlers {
		got = append(got, c.CrawlDelay)
	}
	if want := []string{"3 (ignored)", "3 (obeyed)", "3 (ignored)", "3 (undocumented)", "3 (undefined)", "3 (undefined)"}; !slices.Equal(got, want) {
		t.Errorf("Crawl-delay %q, want %q", got, want)
	}
}

// TestRealFiles checks that real files have few findings. The real files are optional and not part
// of the repository.
func TestRealFiles(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "cases", "corpus.tar.gz"))
	if err != nil {
		t.Skip("the real files do not stand beside this checkout")
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files, with := 0, make(map[policy.Code]int)
	for in := tar.NewReader(unzipped); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		body, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files++
		seen := make(map[policy.Code]bool)
		for _, found := range Check(header.Name, body, Options{}).Findings {
			if !seen[found.Code] {
				seen[found.Code] = true
				with[found.Code]++
			}
		}
	}
	most := map[policy.Severity]int{policy.Error: 10, policy.Warning: 20, policy.Info: 50} // percent of files
	for code, n := range with {
		t.Logf("%-20s %-8s in %d of %d files", code, severities[code], n, files)
		if 100*n > most[severities[code]]*files {
			t.Errorf("%s, a finding of severity %s, arises in %d of %d files", code, severities[code], n, files)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*$\nAllow: /index.html\nSitemap: x\n"))
	f.Add([]byte("\xef\xbb\xbfUser-agent: Gogle\r\rCrawl-delay: x\x00\nUser-agent: *\nAllow /\nContent-Signal: a"))
	f.Fuzz(func(t *testing.T, body []byte) {
		report := Check("x", body, Options{Site: "https://example.com", Pages: len(body)})
		lines := splitLines(policy.Parse(body).Text())
		for _, finding := range report.Findings {
			if finding.Line < 0 || finding.Line > max(lines.len(), 1) || finding.Line > 0 && finding.Column < 1 {
				t.Fatalf("%+v in a file of %d lines", finding, lines.len())
			}
			if !slices.Contains(codes(), finding.Code) {
				t.Fatalf("an unknown code %s", finding.Code)
			}
		}
		files := new(FileReports)
		files.Add(report)
		files.WriteText(io.Discard)
		files.WriteGitHub(io.Discard)
	})
}
