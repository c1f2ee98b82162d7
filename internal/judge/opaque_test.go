package judge

import (
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestOpaqueIsNoRobotsTxt judges targets without a path, in which the name of a
// path that is never judged stands behind a second scheme.
func TestOpaqueIsNoRobotsTxt(t *testing.T) {
	robots := policy.Parse([]byte("User-agent: *\nDisallow: /\n"))
	for _, target := range []string{
		"x:y://a.test/robots.txt", "x:y://a.test/%72obots.txt", "x:a?u=http://h/robots.txt",
		"x:y://a.test/.well-known/acme-challenge/token", "x:a?u=http://h/.well-known/acme-challenge/token",
	} {
		var scratch Scratch
		var r Result
		new(Settings).Judge(&Request{Client: uaident.Identify("GPTBot/1.2"), Method: "GET", Target: target}, Rules{Robots: robots}, &scratch, &r)
		if r.Verdict != Disallowed {
			t.Errorf("%s: %s (%s)", target, r.Verdict, r.Reason)
		}
	}
}
