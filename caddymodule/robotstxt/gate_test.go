package robotstxt

import (
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestFindingsNameLines checks that a finding has the Caddyfile line of its rule, even without an ID.
func TestFindingsNameLines(t *testing.T) {
	for line, base := range map[string]string{
		"crawl_delay SemrushBot 3600":                 "",
		"disallow GPTBot {\n/a\n}":                    "User-agent: *\nAllow: /a\n",
		"allow GPTBot {\n/a\n}":                       "User-agent: *\nDisallow: /\n",
		"content_usage train-ai=y":                    "User-agent: *\nContent-Signal: ai-train=no\nDisallow:\n",
		"content_signal ai-train=yes":                 "User-agent: *\nContent-Usage: train-ai=n\nDisallow:\n",
		"rule press {\nfor GPTBot\nallow /private\n}": "User-agent: *\nDisallow: /private\n",
	} {
		h := new(Handler)
		if err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser("robots_txt {\ndisallow CCBot\n" + line + "\n}")); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		report, _, err := h.CheckRules(uaident.Default(), nil, []byte(base))
		if err != nil || len(report.Findings) == 0 {
			t.Errorf("%s: found nothing: %v", line, err)
		}
		for _, f := range report.Findings {
			if f.Position != "Testfile:3" {
				t.Errorf("%s: %s is at %q", line, &f, f.Position)
			}
		}
	}
}
