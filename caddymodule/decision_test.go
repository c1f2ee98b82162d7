package caddymodule

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/command"
	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// decidedRobots is the robots.txt of all decisions.
const decidedRobots = `User-agent: *
Disallow: /private/
Disallow: /.well-known/written
Disalow: /typo/

User-agent: Googlebot
Disallow: /google/

User-agent: AdsBot-Google
Disallow: /ads/

User-agent: curl
Disallow: /named/

User-agent: CCBot
Disallow: /
`

// decisions are requests with the expected decisions, by the options of robots_guard enforce.
var decisions = []struct {
	name      string
	options   string
	userAgent string
	identity  verify.State
	method    string // GET if ""
	target    string
	verdict   judge.Verdict
	action    judge.Action
	rule      string // the rule that decides
}{
	{"the * group", "", "GPTBot/1.3", verify.Claimed, "", "/private/x", judge.Disallowed, judge.Blocked, "Disallow: /private/"},
	{"another spelling", "", "GPTBot/1.3", verify.Claimed, "", "/%70rivate//x", judge.Disallowed, judge.Blocked, "Disallow: /private/"},
	{"an absolute URL", "", "GPTBot/1.3", verify.Claimed, "", "http://example.com/private/x", judge.Disallowed, judge.Blocked, "Disallow: /private/"},
	{"what no rule matches", "", "GPTBot/1.3", verify.Claimed, "", "/public", judge.Allowed, judge.NoAction, ""},
	{"a group of its own", "", googlebot, verify.Claimed, "", "/private/x", judge.Allowed, judge.NoAction, ""},
	{"its rule", "", googlebot, verify.Claimed, "", "/google/x", judge.Disallowed, judge.Blocked, "Disallow: /google/"},
	{"a misspelt key", "", "bingbot/2.0", verify.Claimed, "", "/typo/", judge.Allowed, judge.NoAction, ""},
	{"a misspelt key for a crawler of Google", "", "Googlebot-News/1.0", verify.Claimed, "", "/google/", judge.Disallowed, judge.Blocked, "Disallow: /google/"},
	{"an ads crawler", "", "AdsBot-Google (+http://www.google.com/adsbot.html)", verify.Claimed, "", "/private/", judge.Allowed, judge.NoAction, ""},
	{"robots.txt", "", "CCBot/2.0", verify.Claimed, "", "/robots.txt", judge.Allowed, judge.NoAction, ""},
	{"robots.txt with a query", "", "CCBot/2.0", verify.Claimed, "", "/robots.txt?x", judge.Allowed, judge.NoAction, ""},
	{"an ACME challenge", "", "CCBot/2.0", verify.Claimed, "", "/.well-known/acme-challenge/token", judge.Exempt, judge.NoAction, ""},
	{"a POST to an ACME challenge", "", "CCBot/2.0", verify.Claimed, "POST", "/.well-known/acme-challenge/token", judge.Disallowed, judge.Blocked, "Disallow: /"},
	{"a well-known URI", "", "GPTBot/1.3", verify.Claimed, "", "/.well-known/security.txt", judge.Exempt, judge.NoAction, ""},
	{"a well-known URI with a rule", "", "GPTBot/1.3", verify.Claimed, "", "/.well-known/written", judge.Disallowed, judge.Blocked, "Disallow: /.well-known/written"},
	{"a well-known URI with a named group", "", "CCBot/2.0", verify.Claimed, "", "/.well-known/security.txt", judge.Disallowed, judge.Blocked, "Disallow: /"},
	{"a library", "", "python-requests/2.32", verify.Claimed, "", "/private/", judge.Exempt, judge.NoAction, ""},
	{"a library with a group", "", "curl/8.7.1", verify.Claimed, "", "/named/", judge.Disallowed, judge.Blocked, "Disallow: /named/"},
	{"a library in wildcard", "wildcard library", "python-requests/2.32", verify.Claimed, "", "/private/", judge.Disallowed, judge.Blocked, "Disallow: /private/"},
	{"a browser", "", firefox, verify.Claimed, "", "/private/", judge.Exempt, judge.NoAction, ""},
	{"a POST of an unknown robot", "", "FooBot/1.0", verify.Claimed, "POST", "/private/", judge.Exempt, judge.NoAction, ""},
	{"a POST of a registered crawler", "", "GPTBot/1.3", verify.Claimed, "POST", "/private/", judge.Disallowed, judge.Blocked, "Disallow: /private/"},
	{"an exempt crawler", "exempt GPTBot", "GPTBot/1.3", verify.Claimed, "", "/private/", judge.Exempt, judge.NoAction, ""},
	{"exempt verified, a verified client", "exempt verified Googlebot", googlebot, verify.Verified, "", "/google/", judge.Exempt, judge.NoAction, ""},
	{"exempt verified, a claimed client", "exempt verified Googlebot", googlebot, verify.Claimed, "", "/google/", judge.Disallowed, judge.Blocked, "Disallow: /google/"},
	{"only_log", "only_log ai_training", "GPTBot/1.3", verify.Claimed, "", "/private/", judge.Disallowed, judge.Logged, "Disallow: /private/"},
	{"enforce with the class", "enforce ai_training", "GPTBot/1.3", verify.Claimed, "", "/private/", judge.Disallowed, judge.Blocked, "Disallow: /private/"},
	{"enforce with the token", "enforce seo gptbot", "GPTBot/1.3", verify.Claimed, "", "/private/", judge.Disallowed, judge.Blocked, "Disallow: /private/"},
	{"enforce with another class", "enforce search", "GPTBot/1.3", verify.Claimed, "", "/private/", judge.Disallowed, judge.Logged, "Disallow: /private/"},
	{"enforce with the class and only_log with the token", "enforce ai_training\nonly_log GPTBot", "GPTBot/1.3", verify.Claimed, "", "/private/", judge.Disallowed, judge.Logged, "Disallow: /private/"},
	{"spoofed, enforce with another class", "enforce ai_training", googlebot, verify.Spoofed, "", "/private/x", judge.Disallowed, judge.Logged, "Disallow: /private/"},
	{"spoofed, enforce with the class", "enforce search", googlebot, verify.Spoofed, "", "/private/x", judge.Disallowed, judge.Blocked, "Disallow: /private/"},
	{"spoofed block, enforce with another class", "enforce ai_training\nspoofed block", googlebot, verify.Spoofed, "", "/private/x", judge.Disallowed, judge.Blocked, "Disallow: /private/"},
	{"merge_slashes off", "merge_slashes off", "GPTBot/1.3", verify.Claimed, "", "//private/", judge.Allowed, judge.NoAction, ""},
	{"a URL without a slash", "", "CCBot/2.0", verify.Claimed, "", "x:private/x", judge.Disallowed, judge.Blocked, "Disallow: /"},
	{"a URL without a slash that ends in /robots.txt", "", "CCBot/2.0", verify.Claimed, "", "x:y://a.test/robots.txt", judge.Disallowed, judge.Blocked, "Disallow: /"},
	{"a URL without a slash that ends like an ACME challenge", "", "CCBot/2.0", verify.Claimed, "", "x:y://a.test/.well-known/acme-challenge/x", judge.Disallowed, judge.Blocked, "Disallow: /"},
	{"spoofed, disallowed for all", "", googlebot, verify.Spoofed, "", "/private/x", judge.Disallowed, judge.Blocked, "Disallow: /private/"},
	{"spoofed, allowed for all", "", googlebot, verify.Spoofed, "", "/public", judge.Allowed, judge.NoAction, ""},
	{"spoofed block", "spoofed block", googlebot, verify.Spoofed, "", "/public", judge.Allowed, judge.Blocked, ""},
	{"spoofed block, robots.txt", "spoofed block", googlebot, verify.Spoofed, "", "/robots.txt", judge.Allowed, judge.NoAction, ""},
	{"spoofed block, an ACME challenge", "spoofed block", googlebot, verify.Spoofed, "", "/.well-known/acme-challenge/x", judge.Exempt, judge.NoAction, ""},
	{"spoofed, in exempt", "exempt Googlebot", googlebot, verify.Spoofed, "", "/google/", judge.Disallowed, judge.Blocked, "Disallow: /google/"},
	{"spoofed log", "spoofed log", googlebot, verify.Spoofed, "", "/private/x", judge.Disallowed, judge.Logged, "Disallow: /private/"},
	{"an unknown identity", "", googlebot, verify.Unknown, "", "/google/", judge.Disallowed, judge.Blocked, "Disallow: /google/"},
}

// TestDecision expects the same decision from the server, the matchers and all commands.
func TestDecision(t *testing.T) {
	for _, tc := range decisions {
		t.Run(tc.name, func(t *testing.T) {
			directory := t.TempDir()
			robots, config := filepath.Join(directory, "robots.txt"), filepath.Join(directory, "Caddyfile")
			write := func(name, text string) string {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				return name
			}
			write(robots, decidedRobots)
			mode := modeEnforce
			if strings.HasPrefix(tc.options, modeEnforce+" ") {
				mode, tc.options, _ = strings.Cut(tc.options, "\n")
			}
			directive := "robots_guard " + mode + " {\n" + tc.options + "\n}\n"
			write(config, ":80 {\n"+directive+"respond ok\n}\n")
			method := tc.method
			if method == "" {
				method = http.MethodGet
			}
			u, err := url.ParseRequestURI(tc.target)
			if err != nil {
				t.Fatal(err)
			}
			absolute := tc.target
			if strings.HasPrefix(tc.target, "/") {
				absolute = "https://example.com" + tc.target
			}
			same := func(who, verdict, rule string) {
				t.Helper()
				if verdict != tc.verdict.String() || rule != tc.rule {
					t.Errorf("%s: %s by %q, want %s by %q", who, verdict, rule, tc.verdict, tc.rule)
				}
			}

			// The server and the matchers
			var h Handler
			if err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser(directive)); err != nil {
				t.Fatal(err)
			}
			r, g := decidedRequest(t, h, tc.identity, method, tc.target, u, tc.userAgent)
			g.Judge(get("bingbot/2.0", "/")) // fetches the file, because a library does not wait
			j := g.Judge(r)
			if j == nil {
				j = &guard.Judgement{Result: judge.Result{Verdict: judge.Exempt}} // not judged
			} else {
				g.Announce(r, j)
				if j.Verification != tc.identity {
					t.Errorf("the server takes it for %s, want %s", j.Verification, tc.identity)
				}
			}
			same("server", j.Verdict.String(), j.RobotsVerdict.Rule.String())
			if j.Action != tc.action {
				t.Errorf("server: %s, want %s", j.Action, tc.action)
			}
			if got, _ := (MatchDisallowed{}).MatchWithError(r); got != (tc.verdict == judge.Disallowed) {
				t.Errorf("robots_disallowed is %t", got)
			}

			// explain, with the configuration
			output, _ := runRobotsGuard(t, "", "explain", "--json", "--robots", robots, "--config", config, "--user-agent", tc.userAgent,
				"--identity", tc.identity.String(), "--method", method, absolute)
			var e struct {
				Verdict, Rule string
				Allowed       bool
				Handler       struct{ Action string }
			}
			decodeJSON(t, output, &e)
			same("explain", e.Verdict, e.Rule)
			if e.Handler.Action != tc.action.String() {
				t.Errorf("explain: %s, want %s", e.Handler.Action, tc.action)
			}

			// audit believes all names. Such targets do not occur in a log.
			if tc.identity == verify.Claimed && strings.Contains(tc.target, "/") && !strings.HasPrefix(tc.target, "x:") {
				line, err := json.Marshal(map[string]any{"request_method": method, "request_uri": tc.target, "http_user_agent": tc.userAgent})
				if err != nil {
					t.Fatal(err)
				}
				log := write(filepath.Join(directory, "access.log"), string(line)+"\n")
				output, _ = runRobotsGuard(t, "", "audit", "--json", "--robots", robots, "--config", config, log)
				var report struct {
					Disallowed, Exempt int
					Classes            []struct {
						WouldBlock int `json:"would_block"`
					}
				}
				decodeJSON(t, output, &report)
				block := 0
				for _, class := range report.Classes {
					block += class.WouldBlock
				}
				if (report.Disallowed == 1) != (tc.verdict == judge.Disallowed) || (block == 1) != (tc.action == judge.Blocked) {
					t.Errorf("audit: %d disallowed, %d would be blocked", report.Disallowed, block)
				}
			}
			if tc.options != "" {
				return // the commands below have no configuration
			}
			output, code := runRobotsGuard(t, "", "explain", "--brief", "--json", "--robots", robots, "--user-agent", tc.userAgent,
				"--identity", tc.identity.String(), "--method", method, absolute)
			var c struct {
				Verdict, Rule string
				Allowed       bool
			}
			decodeJSON(t, output, &c)
			same("explain --brief", c.Verdict, c.Rule)
			if forbidden := tc.verdict == judge.Disallowed; c.Allowed == forbidden || (code == command.ExitFindings) != forbidden {
				t.Errorf("check: allowed %t, exit status %d", c.Allowed, code)
			}
			if method != http.MethodGet || tc.identity != verify.Claimed || u.Opaque != "" {
				return // the command test rejects it
			}
			expected := "allow"
			if tc.verdict == judge.Disallowed {
				expected = "disallow"
			}
			line, err := json.Marshal(map[string]string{"user_agent": tc.userAgent, "url": absolute, "expect": expected})
			if err != nil {
				t.Fatal(err)
			}
			if output, code := runRobotsGuard(t, "", "test", "--robots", robots, write(filepath.Join(directory, "cases.jsonl"), string(line)+"\n")); code != command.ExitOK {
				t.Errorf("test: exit status %d\n%s", code, output)
			}
		})
	}
}

// decidedRequest returns a request as Caddy passes it to the guard of a handler. The client has the
// given identity.
func decidedRequest(t *testing.T, h Handler, identity verify.State, method, target string, u *url.URL, userAgent string) (*http.Request, *guard.Guard) {
	t.Helper()
	client := "192.0.2.1"
	var app *App
	switch identity {
	case verify.Claimed:
	case verify.Unknown: // only reverse DNS can verify, and no DNS server responds
		app = &App{Verify: &Verify{Ranges: rangesOff, Resolver: "127.0.0.1:1"}}
	default:
		list := filepath.Join(t.TempDir(), "google.txt")
		if err := os.WriteFile(list, []byte("198.51.100.0/24"), 0o600); err != nil {
			t.Fatal(err)
		}
		app = &App{Verify: &Verify{Ranges: rangesConfigured, NoRDNS: true}, Crawlers: []Crawler{{Token: "Googlebot", Ranges: []CrawlerRanges{{File: list}}}}}
		if identity == verify.Verified {
			client = "198.51.100.1"
		}
	}
	g := provisionedGuard(t, servingFile(t, h, decidedRobots), app)
	r := httptest.NewRequest(method, "/", nil)
	r.RequestURI, r.URL = target, u
	r.Header.Set("User-Agent", userAgent)
	r.RemoteAddr = client + ":4711"
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), httptest.NewRecorder(), new(caddyhttp.Server))
	return r, g
}
