package report

import (
	"errors"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func TestNotProtecting(t *testing.T) {
	freshness := policy.FreshnessPolicy{Default: 10 * time.Minute, Max: policy.MaxAge}
	const index = "<!DOCTYPE html>\n<html><div id=app></div></html>\n"
	seen := make(map[ProtectionProblemCause]bool)
	for _, tc := range []struct {
		name, source string
		status       int
		text         string
		cause        ProtectionProblemCause
		detail       string
	}{
		{"a rule", "server", 200, "User-agent: *\nDisallow: /x\n", "", ""},
		{"a page with a rule in it", "server", 200, "<pre>\nUser-agent: *\nDisallow: /x\n</pre>\n", "", ""},
		{"401", "server", 401, "", RefusedToGuard, "the answer is status 401"},
		{"403 with rules", "server", 403, "User-agent: *\nDisallow: /x\n", RefusedToGuard, "the answer is status 403"},
		{"404", "server", 404, "", NoFile, "the answer is status 404"},
		{"410", "url", 410, "", NoFile, "the answer is status 410"},
		{"no such file", "file", 404, "", NoFile, "the file does not exist"},
		{"a redirect that leads nowhere", "server", 302, "", Redirected, "the answer is status 302"},
		{"an app's index page", "server", 200, index, WebPage, "the answer is a web page"},
		{"UTF-16", "server", 200, "\xff\xfeU\x00s\x00", UTF16, "the file is UTF-16"},
		{"nothing", "server", 200, "", Blank, "the file is empty or has only comments"},
		{"204", "server", 204, "", Blank, "the file is empty or has only comments"},
		{"a comment", "file", 200, "\ufeff# nothing yet\n\n", Blank, "the file is empty or has only comments"},
		{"everything is allowed", "server", 200, "User-agent: *\nDisallow:\n", NoRules, "no rule disallows anything"},
		{"only a sitemap", "server", 200, "Sitemap: https://example.com/s.xml\n", NoRules, "no rule disallows anything"},
		{"an error in words", "server", 200, "404 page not found\n", NoRules, "no rule disallows anything"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			read := policy.State{}.AfterFetch(policy.FetchResult{Status: tc.status, Body: []byte(tc.text)}, now, freshness, 0)
			got := FindProtectionProblem(&read, tc.source)
			if got == nil {
				if tc.cause != "" {
					t.Errorf("it protects, want %s", tc.cause)
				}
				return
			}
			seen[got.Cause] = true
			if got.Cause != tc.cause || got.Detail != tc.detail || got.Remedy == "" {
				t.Errorf("got %+v, want %s, %s", got, tc.cause, tc.detail)
			}
			live := SiteState{State: &read, Source: tc.source}
			if h := new(Source).robotsHealth(live); h.ProtectionProblem != nil || h.State == Unprotected {
				t.Errorf("in monitor: %+v", h)
			}
			live.Enforces = true
			if h := new(Source).robotsHealth(live); h.State != Unprotected || *h.ProtectionProblem != *got {
				t.Errorf("in enforce: %+v", h)
			}
			failing := read.AfterFetch(policy.FetchResult{Err: errors.New("reset")}, now, freshness, 0)
			live.State = &failing
			if h := new(Source).robotsHealth(live); h.State != LastGood || h.ProtectionProblem == nil {
				t.Errorf("while it fails: %+v", h)
			}
		})
	}
	if len(seen) != len(remedies) {
		t.Errorf("%d of %d causes were seen", len(seen), len(remedies))
	}
	never := policy.State{}.AfterFetch(policy.FetchResult{Status: 503}, now, freshness, 0)
	if FindProtectionProblem(nil, "server") != nil || FindProtectionProblem(&never, "server") != nil {
		t.Error("what was never read is something else")
	}
}
