package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestOddTokens expects the same notes in every command: no client sends the token, or a similar
// token exists.
func TestOddTokens(t *testing.T) {
	dir := t.TempDir()
	robots, cases := filepath.Join(dir, "robots.txt"), filepath.Join(dir, "cases.txt")
	if err := os.WriteFile(robots, []byte("User-agent: GPTBot\nDisallow: /\n\nUser-agent: Google-Extended\nDisallow: /\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]string{
		"Google-Extended":   "no client sends the name Google-Extended",
		"applebot-extended": "no client sends the name Applebot-Extended",
		"GTPBot":            "no known crawler is called GTPBot; did you mean GPTBot?",
		"GPTBot":            "",
		"Zxqvbnmw":          "",
	} {
		if err := os.WriteFile(cases, []byte(token+" / allow\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		about := judge.TokenHint(uaident.Default(), token)
		if !strings.HasPrefix(about, want) || (about == "") != (want == "") {
			t.Fatalf("of %s it is said: %q", token, about)
		}
		for _, args := range [][]string{
			{"explain", "--brief", "--robots", robots, "--token", token, "/x", "/y"},
			{"explain", "--brief", "--robots", robots, "--token", token, "--json", "/x"},
			{"explain", "--brief", "--robots", robots, "--user-agent", token + "/1.0", "/x"},
			{"explain", "--robots", robots, "--token", token, "/x"},
			{"explain", "--robots", robots, "--token", token, "--json", "/x"},
			{"explain", "--robots", robots, "--user-agent", token + "/1.0", "/x"},
			{"test", "--robots", robots, cases},
			{"test", "--robots", robots, "--json", cases},
		} {
			isAgent := strings.Contains(strings.Join(args, " "), "--user-agent")
			output, _ := execute(t.Context(), Config{}, args...)
			times := 1
			if about == "" || isAgent && token == "GTPBot" { // clients may use any name
				times = 0
			}
			if got := strings.Count(output, ", so a server cannot block requests by it; its group says") + strings.Count(output, "no known crawler"); got != times {
				t.Errorf("%q says %d times what is odd, want %d:\n%s", args, got, times, output)
			}
			if times == 1 && !strings.Contains(output, about) {
				t.Errorf("%q does not say %q:\n%s", args, about, output)
			}
		}
	}
}

// TestExplainToken explains the verdict of check for a token, and the effect of the settings on its
// crawler.
func TestExplainToken(t *testing.T) {
	robots := privateRobots(t)
	besideCaddyfile(t)
	exempt, err := judge.ParseClientSet(uaident.Default(), []string{"curl"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	site := Site{Settings: judge.Settings{Enforce: true, OnlyLog: exempt}}
	for _, tc := range []struct {
		token, url, verdict, action string
	}{
		{"GPTBot", "/private/", "disallowed", "blocked"},
		{"GPTBot", "/", "allowed", "none"},
		{"curl", "/private/", "disallowed", "logged"},
		{"NewBot", "/private/", "disallowed", "blocked"},
		{"*", "/private/", "disallowed", "blocked"},
	} {
		output, _ := execute(t.Context(), configured(site), "explain", "--config", "Caddyfile", "--robots", robots, "--token", tc.token, "--json", tc.url)
		var e struct {
			Token, Verdict string
			Handler        struct{ Action string }
		}
		if err := json.Unmarshal([]byte(output), &e); err != nil {
			t.Fatalf("%v in %s", err, output)
		}
		if e.Token != tc.token || e.Verdict != tc.verdict || e.Handler.Action != tc.action {
			t.Errorf("%s %s: %+v, want %s, %s", tc.token, tc.url, e, tc.verdict, tc.action)
		}
		checked, _ := execute(t.Context(), Config{}, "explain", "--brief", "--robots", robots, "--token", tc.token, "--json", tc.url)
		if !strings.Contains(checked, `"verdict":"`+tc.verdict+`"`) {
			t.Errorf("%s %s: explain says %s, check %s", tc.token, tc.url, tc.verdict, checked)
		}
	}
}
