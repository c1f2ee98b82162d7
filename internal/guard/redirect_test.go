package guard

import (
	"context"
	"net/http"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestRedirectTargetsInTrialsAndPathVerdicts redirects a robots.txt to a URL that its rules disallow.
// Trials and path verdicts allow this URL like the judgement does.
func TestRedirectTargetsInTrialsAndPathVerdicts(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /static/\n"
	for name, tc := range map[string]struct {
		redirects []string // of the site's robots.txt
		byOther   string   // redirect target of another site's robots.txt
		want      judge.Verdict
	}{
		"the site's own":       {redirects: []string{"/static/robots.txt"}, want: judge.Allowed},
		"of another site":      {byOther: "http://example.com/static/robots.txt", want: judge.Allowed},
		"to another URL":       {redirects: []string{"/static/other.txt"}, want: judge.Disallowed},
		"no redirect":          {want: judge.Disallowed},
		"at another authority": {redirects: []string{"http://other.test/static/robots.txt"}, want: judge.Disallowed},
	} {
		t.Run(name, func(t *testing.T) {
			for trial, differs := range map[string]bool{rules: false, "User-agent: *\nDisallow: /\n": false, "": tc.want == judge.Disallowed} {
				g := testGuard(t, options{Enforce: true, Shadow: serving(trial)}, &scriptedSource{answer: func(context.Context) policy.FetchResult {
					return policy.FetchResult{Status: http.StatusOK, Body: []byte(rules), RedirectTargets: tc.redirects}
				}})
				<-fetchDone(g, pathRequest("/"))
				g.readTried()
				if tc.byOther != "" {
					other := site.NewSite(policy.Key{Site: "other.test", Host: "other.test"})
					g.recordRedirectTargets(&other, []string{tc.byOther})
				}
				r := pathRequest("/static/robots.txt")
				r.Header.Set("User-Agent", "GPTBot/1.3")
				if j := g.Judge(r); j.Verdict != tc.want {
					t.Errorf("the judgement is %s, want %s", j.Verdict, tc.want)
				}
				want := report.VerdictDifferences{Requests: 1}
				if differs {
					want.NewlyAllowed = 1
				}
				if got := onlyTrial(t, g).VerdictDifferences; got != want {
					t.Errorf("the trial of %q counted %+v, want %+v", trial, got, want)
				}
				if got := g.PathVerdict(r, Everybody); (got == PathDisallowed) != (tc.want == judge.Disallowed) {
					t.Errorf("the path verdict is %s", got)
				}
			}
		})
	}
}
