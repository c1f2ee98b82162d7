package judge

import (
	"net/http"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestRequests judges requests by a file that closes the site to everybody, and
// names two clients.
func TestRequests(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nDisallow: /\nDisallow: /.well-known/written\n\nUser-agent: CCBot\nUser-agent: curl\nDisallow: /.well-known/\nDisallow: /form\n\nUser-agent: Applebot\nDisallow: /form\n"))
	for _, tc := range []struct {
		name, userAgent, method, target string
		spoofed, allowed                bool
	}{
		{"a crawler reads a page", "GPTBot/1.2", "GET", "/form", false, false},
		{"or asks for its head", "GPTBot/1.2", "HEAD", "/form", false, false},
		{"a log without methods", "GPTBot/1.2", "", "/form", false, false},
		{"a known crawler may not send what it may not read", "GPTBot/1.2", "POST", "/form", false, false},
		{"who only looks like a crawler may", "FooBot/1.2", "POST", "/form", false, true},
		{"but not read it", "FooBot/1.2", "GET", "/form", false, false},
		{"a webhook delivers", "Stripe/1.0 (+https://stripe.com/docs/webhooks)", "POST", "/form", false, true},
		{"a robot's name behind one that is spared", "UptimeRobot/2.0 GPTBot/1.2", "GET", "/form", false, false},
		{"a group that names the client judges all methods", "curl/8.7.1", "POST", "/form", false, false},
		{"what is well known is for programs", "GPTBot/1.2", "GET", "/.well-known/security.txt", false, true},
		{"in absolute form", "GPTBot/1.2", "GET", "http://a.test/.well-known/security.txt", false, true},
		{"a rule that is written out applies", "Bytespider", "GET", "/.well-known/written", false, false},
		{"also to a false name with a group of its own", "Applebot/0.1", "GET", "/.well-known/written", true, false},
		{"but not to a true one", "Applebot/0.1", "GET", "/.well-known/written", false, true},
		{"also with a query", "Bytespider", "GET", "/.well-known/written?x", false, false},
		{"a query is not a path", "GPTBot/1.2", "GET", "/private/x?u=http://h/.well-known/a", false, false},
		{"nor is one behind a scheme without a slash", "GPTBot/1.2", "GET", "x:private/x.txt?u=http://h/.well-known/a", false, false},
		{"nor one behind an authority", "GPTBot/1.2", "GET", "http://a.test?/.well-known/x", false, false},
		{"nor one behind no authority at all, where some read a host", "GPTBot/1.2", "GET", "http:///.well-known/x", false, false},
		{"nor a fragment", "GPTBot/1.2", "GET", "http://a.test#/.well-known/x", false, false},
		{"nor a URL in a URL", "GPTBot/1.2", "GET", "x:y://a.test/.well-known/x", false, false},
		{"also for who has a false name", "Googlebot/2.1", "GET", "/.well-known/security.txt", true, true},
		{"who gains nothing else by it", "Stripe/1.0", "GET", "/form", true, false},
		{"unless a group names the client", "CCBot/2.0", "GET", "/.well-known/security.txt", false, false},
		{"with a query", "GPTBot/1.2", "GET", "/.well-known/webfinger?resource=acct:a@b.test", false, true},
		{"as a URL", "GPTBot/1.2", "GET", "https://example.com/.well-known/x", false, true},
		{"no other path", "GPTBot/1.2", "GET", "/.well-known", false, false},
		{"nor in other case", "GPTBot/1.2", "GET", "/.Well-Known/x", false, false},
		{"nor out of it again", "GPTBot/1.2", "GET", "/.well-known/../form", false, false},
		{"nor in escapes", "GPTBot/1.2", "GET", "/.well-known/%2e%2e/form", false, false},
		{"nor in twice escaped ones", "GPTBot/1.2", "GET", "/.well-known/%252e%252e/form", false, false},
		{"nor by backslashes", "GPTBot/1.2", "GET", `/.well-known\..\form`, false, false},
		{"nor by parameters of a segment", "GPTBot/1.2", "GET", "/.well-known/..;/form", false, false},
		{"nor with dots that stay", "GPTBot/1.2", "GET", "/.well-known/./x", false, false},
		{"nor in a query", "GPTBot/1.2", "GET", "/form?/.well-known/", false, false},
		{"nor in what looks like a scheme", "GPTBot/1.2", "GET", "/x://h/.well-known/x", false, false},
		{"nor without a path", "GPTBot/1.2", "GET", "https://example.com", false, false},
	} {
		client := uaident.Identify(tc.userAgent)
		request := Request{Client: client, Method: tc.method, Target: tc.target}
		if tc.spoofed {
			request.Verification = verify.Spoofed
		}
		var scratch Scratch
		var got Result
		new(Settings).Judge(&request, Rules{Robots: robots}, &scratch, &got)
		if allowed := got.Verdict != Disallowed; allowed != tc.allowed {
			t.Errorf("%s: %s %s by %s: allowed %t", tc.name, tc.method, tc.target, tc.userAgent, allowed)
		}
	}
}

// TestSparedInWords has a reason for whatever is spared, which explanations
// print.
func TestSparedInWords(t *testing.T) {
	for _, s := range []WildcardExemption{MethodExemption, WellKnownExemption} {
		if s.String() == "" {
			t.Errorf("%d has no words", s)
		}
	}
	// A library that the owner has judged is not a crawler of the registry.
	if s := (&Request{Client: uaident.Identify("curl/8.7.1"), Method: http.MethodPost}).WildcardExemption(); s != MethodExemption {
		t.Error(s)
	}
}
