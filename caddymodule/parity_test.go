package caddymodule

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/explain"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// parityFiles returns robots.txt files by name. Some are synthetic. Real files come from a
// directory next to the checkout, if present: one in five, or all with LONG_TESTS.
func parityFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{
		"mixed": `User-agent: *
Disallow: /private/

User-agent: Googlebot
Disallow: /google/

User-agent: AdsBot-Google
Disallow: /ads/

User-agent: curl
User-agent: facebookexternalhit
User-agent: acmescraper
Disallow: /named/
`,
		"empty":     "",
		"ambiguous": "User-agent: bingbot\nCrawl-delay: 1\nUser-agent: GPTBot\nDisallow: /a\nAllow: /a/b$\n",
		"encoded":   "User-agent: *\nDisallow: /%7ea/\nDisallow: /ä\nDisallow: /*?x=*&y$\nAllow: /%2Fz\nDisallow: /z//\n",
		"html":      "<!DOCTYPE html>\n<p>User-agent: *</p>\n",
		"messy":     "\xef\xbb\xbfUSER-AGENT: Googlebot/2.1 # c\r\rDissallow /x\rUser agent: acmescraper\rDisallow: *y\x00z\r",
	}
	f, err := os.Open(filepath.Join("..", "..", "shared", "cases", "corpus.tar.gz"))
	if err != nil {
		return files
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	n, every := 0, 5
	if os.Getenv("LONG_TESTS") != "" {
		every = 1
	}
	for in := tar.NewReader(unzipped); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if n++; n%every != 0 {
			continue
		}
		body, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(body)
	}
}

// parityAgents are clients of different classes.
var parityAgents = []string{
	"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot-Image/1.0",
	"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "GPTBot/1.3", "CCBot/2.0",
	"AdsBot-Google (+http://www.google.com/adsbot.html)", "Mozilla/5.0 (compatible; FooBot/1.0)", "curl/8.7.1",
	"acmescraper/0.1", "Twitterbot/1.0", firefox, "", "UptimeRobot/2.0 GPTBot/1.2", "Acme-Webhooks/1.0",
}

// parityMethods are the methods of the requests.
var parityMethods = []string{http.MethodGet, http.MethodPost}

// parityTargets returns targets that the rules of a file match or nearly match.
func parityTargets(robots *policy.Robots) []string {
	targets := []string{"/", "/a-page", "/robots.txt", "/a//b/../c?d=/e%3Ff", "/.well-known/acme-challenge/x", "http://h/x",
		"/.well-known/webfinger?x", "/.well-known/../a-page", "/.well-known/%2e%2e/a-page"}
	for _, g := range robots.Groups() {
		for _, r := range g.Rules {
			if r.Path == "" || len(r.Path) > 2000 {
				continue
			}
			path := strings.ReplaceAll(strings.TrimSuffix(r.Path, "$"), "*", "x")
			if path == "" || path[0] != '/' {
				path = "/" + path
			}
			targets = append(targets, path, path+"/x", strings.ReplaceAll(path, "/", "//"))
			if len(targets) > 27 {
				return targets
			}
		}
	}
	return targets
}

// TestOneEngine expects the same verdicts, rules and actions from the server and the commands.
func TestOneEngine(t *testing.T) {
	settings := Handler{
		Mode: modeEnforce, Exempt: []string{"CCBot"}, OnlyLog: []string{"search"},
		FetchTimeout: caddy.Duration(time.Minute), FetchWait: caddy.Duration(time.Minute),
	}
	plain := Handler{FetchTimeout: settings.FetchTimeout, FetchWait: settings.FetchWait}
	compared, disallowed := 0, 0
	for name, text := range parityFiles(t) {
		robots := policy.Parse([]byte(text))
		targets := parityTargets(robots)
		for _, h := range []Handler{settings, plain} {
			online := provisionedGuard(t, servingFile(t, h, text), nil)
			h.setDefaults()
			offline := siteOfHandler(t, &h)
			online.Judge(get("bingbot/2.0", "/")) // fetches the file
			for _, target := range targets {
				u, err := url.ParseRequestURI(target)
				if err != nil {
					continue // no server accepts it
				}
				for i := range 2 * len(parityAgents) {
					userAgent, method := parityAgents[i/2], parityMethods[i%2]
					r := get(userAgent, "/")
					r.Method, r.RequestURI, r.URL = method, target, u
					j := online.Judge(r)
					e := offline.Explain(explain.RobotsFile{Robots: robots}, explain.Request{UserAgent: userAgent, URL: target, Method: method})
					compared++
					switch {
					case j == nil && (e.Verdict != judge.Exempt.String() || e.Handler.Action != judge.NoAction.String()):
						t.Errorf("%s, %q, %s: not judged online, %s offline", name, userAgent, target, e.Verdict)
					case j == nil:
					case j.Verdict.String() != e.Verdict || j.Action.String() != e.Handler.Action ||
						j.RobotsVerdict.Rule.String() != e.Rule || j.RobotsVerdict.Rule.Line != e.Line || j.RobotsVerdict.Ambiguous != e.Ambiguous:
						t.Errorf("%s, %q, %s: online %s, %s by %q; offline %s, %s by %q", name, userAgent, target,
							j.Verdict, j.Action, j.RobotsVerdict.Rule, e.Verdict, e.Handler.Action, e.Rule)
					case j.Verdict == judge.Disallowed:
						disallowed++
					}
					if h.Mode == modeEnforce || method != http.MethodGet {
						continue // the command below has no configuration and no methods
					}
					allowed := j == nil || j.RobotsVerdict.Allowed || j.Verdict != judge.Disallowed
					if got := (&explain.Case{UserAgent: userAgent, URL: target}).Judge(robots, uaident.Default().NewOverlay(robots.GroupNames())); got.Actual != explain.FormatAccess(allowed) {
						t.Errorf("%s, %q, %s: allowed online %t, by test %s", name, userAgent, target, allowed, got.Actual)
					}
					if t.Failed() {
						return
					}
				}
			}
		}
	}
	t.Logf("%d requests, %d disallowed", compared, disallowed)
	if compared < 1000 || disallowed < 100 {
		t.Errorf("only %d requests were compared, %d of them disallowed", compared, disallowed)
	}
}

// siteOfHandler returns the settings of a handler for explanations.
func siteOfHandler(t *testing.T, h *Handler) *explain.Site {
	t.Helper()
	settings, err := h.settings(uaident.Default())
	if err != nil {
		t.Fatal(err)
	}
	return &explain.Site{Registry: uaident.Default(), Settings: settings, HasGuard: true}
}

// TestExplain checks the explanation of a verdict.
func TestExplain(t *testing.T) {
	h := Handler{Mode: modeEnforce, OnlyLog: []string{"search"}, ExemptVerified: []string{"GPTBot"}, Spoofed: spoofedBlock}
	site := siteOfHandler(t, &h)
	robots := policy.Parse([]byte("User-agent: *\nDisallow: /private/\n\nUser-agent: Googlebot\nDisallow: /\nAllow: /open\n"))
	for _, tc := range []struct {
		name, userAgent, target string
		identity                verify.State
		verdict, action         string
		says                    []string // parts of the explanation
	}{
		{"blocked", "GPTBot/1.3", "/%70rivate//x", verify.Claimed, "disallowed", "blocked", []string{
			`"GPTBot": a name in the registry`, "GPTBot: the file has no group with this name", "the * group in line 1 applies, with 1 rule",
			"compared as /private//x (canonical)", "compared as /private/x (slashes)", "9 bytes: Disallow: /private/ in line 2",
			"mode enforce: action blocked"}},
		{"a fallback", "Googlebot-Image/1.0", "/x", verify.Claimed, "disallowed", "logged", []string{
			"Googlebot-Image: the file has no group with this name", "Googlebot: the file has a group with this name", "only_log or spoofed prevents the block"}},
		{"the longest rule", "Googlebot/2.1", "/open/x", verify.Claimed, "allowed", "none", []string{
			"5 bytes: Allow: /open in line 6", "1 byte: Disallow: / in line 5", "the longest rule decides"}},
		{"a library", "curl/8.7.1", "/private/", verify.Claimed, "exempt", "none", []string{"does not apply to the class library"}},
		{"a browser", firefox, "/private/", verify.Claimed, "exempt", "none", []string{"only words that browsers send"}},
		{"robots.txt", "GPTBot/1.3", "/robots.txt", verify.Claimed, "allowed", "none", []string{"always allowed"}},
		{"verified", "GPTBot/1.3", "/private/", verify.Verified, "exempt", "none", []string{"its assumed identity is verified", "the configuration exempts the crawler"}},
		{"a false name", "Googlebot/2.1", "/open", verify.Spoofed, "allowed", "blocked", []string{"a false name"}},
		{"control characters", "x\x1b[2JBot/1.0", "/private/\x1b[2J", verify.Claimed, "disallowed", "blocked", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := site.Explain(explain.RobotsFile{Name: "robots.txt", Robots: robots}, explain.Request{UserAgent: tc.userAgent, URL: tc.target, Identity: tc.identity})
			if e.Verdict != tc.verdict || e.Handler.Action != tc.action {
				t.Errorf("%s, %s; want %s, %s", e.Verdict, e.Handler.Action, tc.verdict, tc.action)
			}
			var text strings.Builder
			e.WriteText(&text)
			for _, piece := range tc.says {
				if !strings.Contains(text.String(), piece) {
					t.Errorf("no %q in\n%s", piece, text.String())
				}
			}
			if strings.Contains(text.String(), "\x1b") {
				t.Error("the request writes to the terminal")
			}
		})
	}
}

// TestExplainUnknown checks the explanation without a known robots.txt.
func TestExplainUnknown(t *testing.T) {
	site := siteOfHandler(t, &Handler{})
	e := site.Explain(explain.RobotsFile{Name: "x"}, explain.Request{UserAgent: "GPTBot/1.3", URL: "/"})
	if e.Verdict != "unknown" || !e.Allowed || e.Handler.Action != "none" {
		t.Errorf("%+v", e)
	}
	site.Settings.Enforce = true
	e = site.Explain(explain.RobotsFile{Name: "x", DisallowAll: true}, explain.Request{UserAgent: "GPTBot/1.3", URL: "/"})
	if e.Verdict != "unknown" || e.Allowed || e.Handler.Action != "blocked" {
		t.Errorf("a closed site: %+v, %+v", e, e.Handler)
	}
	e = site.Explain(explain.RobotsFile{Name: "x", DisallowAll: true}, explain.Request{UserAgent: "curl/8.7.1", URL: "/"})
	if e.Handler.Action != "none" {
		t.Errorf("a library on a closed site: %+v", e.Handler)
	}
}
