package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestApps has groups with names of apps, and groups with similar names.
func TestApps(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		line       int // of the finding; 0 for none
		says       string
	}{
		{"one of two names", "User-agent: GPTBot\nUser-agent: slack\nAllow: /\nDisallow: /a\n", 2, "Disallow: /a in line 4 blocks the users of the app; to block the robot, write Slackbot or Slack-ImgProxy, Slackbot-LinkExpanding"},
		{"a word of every day", "User-agent: Line\nDisallow: /\n", 1, "Linespider"},
		{"with a version", "User-agent: Perplexity/1.0\nDisallow: /\n", 1, "write PerplexityBot or Perplexity-User"},
		{"an editor", "User-agent: Code\nDisallow: /\n", 1, "an application that people use does"},
		{"in a list of crawlers", "User-agent: CCBot\nUser-agent: cursor\nUser-agent: GPTBot\nDisallow: /\n", 2, "write token:cursor in the configuration"},
		{"a browser of an assistant", "User-agent: Operator\nDisallow: /\n", 1, "remove the name"},
		{"with a version of the application", "User-agent: Trae/1.2\nDisallow: /\n", 1, "Trae"},
		{"an application that may fetch everything", "User-agent: Code\nAllow: /\n", 0, ""},
		{"it forbids nothing", "User-agent: Perplexity\nAllow: /\n", 0, ""},
		{"a robot has the name, too", "User-agent: WhatsApp\nDisallow: /\n", 0, ""},
		{"a company with many robots", "User-agent: Google\nDisallow: /\n", 0, ""},
		{"a company without an app", "User-agent: Semrush\nDisallow: /\n", 0, ""},
	} {
		report := Check("x", []byte(tc.file), Options{})
		at := slices.IndexFunc(report.Findings, func(f Finding) bool { return f.Code == AppName })
		switch {
		case tc.line == 0 && at >= 0:
			t.Errorf("%s: %v", tc.name, report.Findings[at])
		case tc.line == 0:
		case at < 0:
			t.Errorf("%s: nothing is found, but %v", tc.name, report.Findings)
		default:
			if f := report.Findings[at]; f.Line != tc.line || f.Column != 13 || !strings.Contains(f.Message, tc.says) {
				t.Errorf("%s: got %+v, want line %d and %q", tc.name, f, tc.line, tc.says)
			}
		}
	}
}

// TestAppsAreOfPeople checks that a group with each name applies to the app, and not to a browser.
func TestAppsAreOfPeople(t *testing.T) {
	registry := uaident.Default()
	if len(appRobots()) < 10 {
		t.Fatalf("only %d apps", len(appRobots()))
	}
	for name, robots := range appRobots() {
		overlay := registry.NewOverlay([]string{name})
		if client := registry.IdentifyWithOverlay(name+"/5 CFNetwork/1410.0.3 Darwin/22.6.0", overlay); !strings.EqualFold(client.Token, name) {
			t.Errorf("%s: its app is %q", name, client.Token)
		}
		for _, robot := range robots {
			if registry.Lookup(robot) == nil {
				t.Errorf("%s: nobody knows %s", name, robot)
			}
		}
		const browser = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0"
		if client := registry.IdentifyWithOverlay(browser, overlay); client.Class != uaident.Browser {
			t.Errorf("%s: a browser is %q by it", name, client.Token)
		}
	}
}
