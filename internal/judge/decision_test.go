package judge

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestDecision is the decision by each of its reasons, and what is done about it.
func TestDecision(t *testing.T) {
	const (
		gptbot   = "GPTBot/1.3"
		google   = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
		unknown  = "ZorklyBot/1.0 (+https://zorkly.example/bot)"
		wget     = "Wget/1.21"
		firefox  = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
		file     = "User-agent: *\nDisallow: /\nAllow: /open/\nDisalow: /open/typo\n\nUser-agent: GPTBot\nDisallow: /gpt\n"
		noGroups = "User-agent: Bytespider\nDisallow: /\n"
	)
	enforce := Settings{Enforce: true}
	named := func(words ...string) ClientSet {
		clients, err := ParseClientSet(uaident.Default(), words, nil)
		if err != nil {
			t.Fatal(err)
		}
		return clients
	}
	verified, err := ParseClientSet(uaident.Default(), nil, []string{"Googlebot"})
	if err != nil {
		t.Fatal(err)
	}
	some, err := ParseSelector(uaident.Default(), []string{"GPTBot"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name     string
		settings Settings
		request  Request // its client by agent
		agent    string
		rules    Rules // the file if there is none
		verdict  Verdict
		action   Action
		reason   Reason
	}{
		{name: "by the * group", settings: enforce, agent: google, request: Request{Target: "/x"}, verdict: Disallowed, action: Blocked, reason: ReasonRule},
		{name: "what a longer rule opens, where / is closed", settings: enforce, agent: google, request: Request{Target: "/open/x"}, verdict: Allowed, reason: ReasonRule},
		{name: "a misspelt key", settings: enforce, agent: unknown, request: Request{Target: "/open/typo"}, verdict: Allowed, reason: ReasonAmbiguous},
		{name: "no rule of its group matches", settings: enforce, agent: gptbot, request: Request{Target: "/x"}, verdict: Allowed, reason: ReasonNoRule},
		{name: "by its group", settings: enforce, agent: gptbot, request: Request{Target: "/gpt"}, verdict: Disallowed, action: Blocked, reason: ReasonRule},
		{name: "no group applies to the crawler", settings: enforce, agent: gptbot, request: Request{Target: "/x"}, rules: Rules{Robots: policy.Parse([]byte(noGroups))}, verdict: Allowed, reason: ReasonNoGroup},
		{name: "a library", settings: enforce, agent: wget, request: Request{Target: "/x"}, verdict: Exempt, reason: ReasonClass},
		{name: "a library under a false name", settings: enforce, agent: wget, request: Request{Target: "/x", Verification: verify.Spoofed}, verdict: Disallowed, action: Blocked, reason: ReasonRule},
		{name: "a class that the owner judges", settings: Settings{Enforce: true, WildcardClasses: newClasses(uaident.Library)}, agent: wget, request: Request{Target: "/x"}, verdict: Disallowed, action: Blocked, reason: ReasonRule},
		{name: "a crawler that is documented to ignore it, of a class that the owner judges", settings: Settings{Enforce: true, WildcardClasses: newClasses(uaident.Ads)}, agent: "AdsBot-Google (+http://www.google.com/adsbot.html)", request: Request{Target: "/x"}, verdict: Exempt, reason: ReasonClass},
		{name: "one of a class that the owner does not judge", settings: Settings{Enforce: true, WildcardClasses: newClasses(uaident.SEO)}, agent: unknown, request: Request{Target: "/x"}, verdict: Exempt, reason: ReasonClass},
		{name: "a name alone, whatever its class", settings: enforce, request: Request{Token: "Wget", Target: "/x"}, verdict: Disallowed, action: Blocked, reason: ReasonRule},
		{name: "a browser", settings: enforce, agent: firefox, request: Request{Target: "/x"}, verdict: Exempt, reason: ReasonBrowser},
		{name: "a browser's name for a name alone", settings: enforce, agent: firefox, request: Request{Token: "Firefox", Target: "/x"}, verdict: Disallowed, action: Blocked, reason: ReasonRule},
		{name: "another method of a crawler that is known", settings: enforce, agent: google, request: Request{Target: "/x", Method: "POST"}, verdict: Disallowed, action: Blocked, reason: ReasonRule},
		{name: "another method of one that is not", settings: enforce, agent: unknown, request: Request{Target: "/x", Method: "POST"}, verdict: Exempt, reason: ReasonMethod},
		{name: "for programs", settings: enforce, agent: unknown, request: Request{Target: "/.well-known/x"}, verdict: Exempt, reason: ReasonWellKnown},
		{name: "for programs, by a library", settings: enforce, agent: wget, request: Request{Target: "/.well-known/x"}, verdict: Exempt, reason: ReasonClass},
		{name: "a token of a validator", settings: enforce, agent: google, request: Request{Target: "/.well-known/acme-challenge/x"}, verdict: Exempt, reason: ReasonACMEChallenge},
		{name: "the robots.txt", settings: enforce, agent: google, request: Request{Target: "/robots.txt?x"}, verdict: Allowed, reason: ReasonRobotsTxt},
		{name: "the robots.txt in escapes", settings: enforce, agent: google, request: Request{Target: "/%72obots.txt"}, verdict: Allowed, reason: ReasonRobotsTxt},
		{name: "the robots.txt as a URL", settings: enforce, agent: google, request: Request{Target: "https://a.test/robots.txt"}, verdict: Allowed, reason: ReasonRobotsTxt},
		{name: "a URL without a path", settings: enforce, agent: google, request: Request{Target: "https://a.test"}, verdict: Disallowed, action: Blocked, reason: ReasonRule},
		{name: "a URL without a path, but a query", settings: enforce, agent: google, request: Request{Target: "https://a.test?/robots.txt"}, verdict: Disallowed, action: Blocked, reason: ReasonRule},
		{name: "a URL without a slash behind its scheme, which some serve as / whatever stands there", settings: enforce, agent: google, request: Request{Target: "x:open/x"}, verdict: Disallowed, action: Blocked, reason: ReasonRule},
		{name: "the same where / is open", settings: enforce, agent: gptbot, request: Request{Target: "x:open/x"}, verdict: Allowed, reason: ReasonNoRule},
		{name: "a URL of what is open, where / is closed", settings: enforce, agent: google, request: Request{Target: "https://a.test/open/x"}, verdict: Allowed, reason: ReasonRule},
		{name: "a URL without a host of what is open", settings: enforce, agent: google, request: Request{Target: "https:///open/x"}, verdict: Allowed, reason: ReasonRule},
		{name: "no URL at all", settings: enforce, agent: gptbot, request: Request{Target: "open/x"}, verdict: Allowed, reason: ReasonNoRule},
		{name: "no escapes", settings: enforce, agent: google, request: Request{Target: "/%zz/robots.txt"}, verdict: Disallowed, action: Blocked, reason: ReasonRule},
		{name: "where that redirects to", settings: enforce, agent: google, request: Request{Target: "/r.txt?a"}, rules: via("/r.txt?a", file), verdict: Allowed, reason: ReasonRobotsTxt},
		{name: "another query there", settings: enforce, agent: google, request: Request{Target: "/r.txt?b"}, rules: via("/r.txt?a", file), verdict: Disallowed, action: Blocked, reason: ReasonRule},
		{name: "a URL elsewhere to which that redirects", settings: enforce, agent: google, request: Request{Target: "https://b.test/r.txt"}, rules: via("https://b.test/r.txt", file), verdict: Disallowed, action: Blocked, reason: ReasonRule},
		{name: "the rules are unknown", settings: enforce, agent: google, request: Request{Target: "/x"}, rules: Rules{RedirectTargets: []string{"/r.txt"}}, verdict: Unknown, reason: ReasonNoRobotsTxt},
		{name: "and the site is closed", settings: enforce, agent: google, request: Request{Target: "/x"}, rules: Rules{DisallowAll: true}, verdict: Unknown, action: Blocked, reason: ReasonSiteClosed},
		{name: "but not for a library", settings: enforce, agent: wget, request: Request{Target: "/x"}, rules: Rules{DisallowAll: true}, verdict: Unknown, reason: ReasonNoRobotsTxt},
		{name: "nor for programs", settings: enforce, agent: google, request: Request{Target: "/.well-known/x"}, rules: Rules{DisallowAll: true}, verdict: Unknown, reason: ReasonNoRobotsTxt},
		{name: "but for a library under a false name", settings: enforce, agent: wget, request: Request{Target: "/x", Verification: verify.Spoofed}, rules: Rules{DisallowAll: true}, verdict: Unknown, action: Blocked, reason: ReasonSiteClosed},
		{name: "and for a name alone", settings: enforce, request: Request{Token: "Wget", Target: "/x"}, rules: Rules{DisallowAll: true}, verdict: Unknown, action: Blocked, reason: ReasonSiteClosed},
		{name: "what a library sends under a false name", settings: enforce, agent: wget, request: Request{Target: "/x", Method: "POST", Verification: verify.Spoofed}, verdict: Exempt, reason: ReasonMethod},
		{name: "in monitor mode", agent: google, request: Request{Target: "/x"}, verdict: Disallowed, action: Logged, reason: ReasonRule},
		{name: "a false name that is blocked, for what the rules allow", settings: Settings{Enforce: true, SpoofedHandling: BlockSpoofed}, agent: google, request: Request{Target: "/open/x", Verification: verify.Spoofed}, verdict: Allowed, action: Blocked, reason: ReasonRule},
		{name: "a true one then", settings: Settings{Enforce: true, SpoofedHandling: BlockSpoofed}, agent: google, request: Request{Target: "/open/x", Verification: verify.Verified}, verdict: Allowed, reason: ReasonRule},
		{name: "a name alone then", settings: Settings{Enforce: true, SpoofedHandling: BlockSpoofed}, request: Request{Token: "Googlebot", Target: "/open/x", Verification: verify.Spoofed}, verdict: Allowed, reason: ReasonRule},
		{name: "a false name that is only logged", settings: Settings{Enforce: true, SpoofedHandling: LogSpoofed}, agent: google, request: Request{Target: "/x", Verification: verify.Spoofed}, verdict: Disallowed, action: Logged, reason: ReasonRule},
		{name: "exempt", settings: Settings{Enforce: true, Exempt: named("Googlebot")}, agent: google, request: Request{Target: "/x"}, verdict: Exempt, reason: ReasonExempt},
		{name: "exempt if verified, and claimed", settings: Settings{Enforce: true, Exempt: verified}, agent: google, request: Request{Target: "/x"}, verdict: Disallowed, action: Blocked, reason: ReasonRule},
		{name: "exempt if verified, and verified", settings: Settings{Enforce: true, Exempt: verified}, agent: google, request: Request{Target: "/x", Verification: verify.Verified}, verdict: Exempt, reason: ReasonExempt},
		{name: "exempt, by a name with a client", settings: Settings{Enforce: true, Exempt: named("Googlebot")}, agent: google, request: Request{Token: "Googlebot", Target: "/x"}, verdict: Exempt, reason: ReasonExempt},
		{name: "only logged", settings: Settings{Enforce: true, OnlyLog: named("Googlebot")}, agent: google, request: Request{Target: "/x"}, verdict: Disallowed, action: Logged, reason: ReasonRule},
		{name: "enforced for others", settings: Settings{Enforce: true, EnforceOnly: some}, agent: google, request: Request{Target: "/x"}, verdict: Disallowed, action: Logged, reason: ReasonRule},
		{name: "enforced for it", settings: Settings{Enforce: true, EnforceOnly: some}, agent: gptbot, request: Request{Target: "/gpt"}, verdict: Disallowed, action: Blocked, reason: ReasonRule},
		{name: "enforced for others, of a name alone", settings: Settings{Enforce: true, EnforceOnly: some}, request: Request{Token: "*", Target: "/x"}, verdict: Disallowed, action: Blocked, reason: ReasonRule},
		{name: "enforced for others, a false name that is blocked", settings: Settings{Enforce: true, EnforceOnly: some, SpoofedHandling: BlockSpoofed}, agent: google, request: Request{Target: "/open/x", Verification: verify.Spoofed}, verdict: Allowed, action: Blocked, reason: ReasonRule},
		{name: "enforced for others, a false name that is judged", settings: Settings{Enforce: true, EnforceOnly: some}, agent: google, request: Request{Target: "/x", Verification: verify.Spoofed}, verdict: Disallowed, action: Logged, reason: ReasonRule},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.agent != "" {
				tc.request.Client = uaident.Identify(tc.agent)
			}
			if tc.rules.Robots == nil && tc.verdict != Unknown {
				tc.rules.Robots = policy.Parse([]byte(file))
			}
			var scratch Scratch
			var r Result
			tc.settings.Judge(&tc.request, tc.rules, &scratch, &r)
			if r.Verdict != tc.verdict || r.Action != tc.action || r.Reason != tc.reason {
				t.Errorf("%s, %s (%s), want %s, %s (%s)", r.Verdict, r.Action, r.Reason, tc.verdict, tc.action, tc.reason)
			}
		})
	}
}

// via returns the rules of a file that is redirected to somewhere.
func via(where, file string) Rules {
	return Rules{Robots: policy.Parse([]byte(file)), RedirectTargets: []string{where}}
}
