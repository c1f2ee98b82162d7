package guard

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestCandidate checks that a guard evaluates requests for the candidate's hosts with
// the candidate as well, while its trial runs. A shadow robots.txt of the configuration
// takes precedence.
func TestCandidate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := testGuard(t, options{Enforce: true}, serving(textInForce))
		text := triedText
		candidate := func(has bool) (end func()) {
			return g.state.StartTrial(&shadow.File{
				Source: "change 1", Has: func(host string) bool { return has && host == "example.com" },
				Fetch:     func(string) policy.FetchResult { return policy.FetchResult{Status: http.StatusOK, Body: []byte(text)} },
				Freshness: policy.FreshnessPolicy{Min: time.Minute, Max: time.Minute, Default: time.Minute},
			})
		}
		// Both requests of a visit are compared, or the second one alone.
		oneOrTwo := func(counts [shadow.NumDifferences]uint64, only shadow.Difference) bool {
			n := counts[only]
			counts[only] = 0
			return (n == 1 || n == 2) && counts == [shadow.NumDifferences]uint64{}
		}
		visit := func() (counts [shadow.NumDifferences]uint64) {
			t.Helper()
			for range 2 { // the first request causes a fetch, and may be evaluated before it
				if j := g.Judge(requestBy("bingbot/2.0", "/shop/1")); j.Verdict.String() != "allowed" {
					t.Errorf("the verdict is %s", j.Verdict)
				}
				synctest.Wait()
			}
			for _, trial := range g.state.trials.effects.Snapshot() {
				for _, row := range trial.Rows {
					for d, n := range row.CountByDifference {
						counts[d] += n
					}
				}
			}
			return counts
		}
		<-fetchDone(g, requestBy("bingbot/2.0", "/"))
		if visit() != [shadow.NumDifferences]uint64{} {
			t.Error("something is found without a candidate")
		}
		elsewhere := candidate(false)
		if visit() != [shadow.NumDifferences]uint64{} {
			t.Error("something is found at another host")
		}
		elsewhere()
		end := candidate(true)
		if got := visit(); !oneOrTwo(got, shadow.NewlyForbidden) {
			t.Errorf("found is %v", got)
		}
		if found := g.state.Reports(time.Now()); len(found.Trials) != 1 || found.Trials[0].Source != "change 1" {
			t.Errorf("reported is %+v", found.Trials)
		}
		text = textInForce // the base has changed
		time.Sleep(2 * time.Minute)
		if got := visit(); !oneOrTwo(got, shadow.Same) {
			t.Errorf("after another text: found is %v", got)
		}
		end()
		synctest.Wait()
		if got := visit(); got != [shadow.NumDifferences]uint64{} || len(g.state.Reports(time.Now()).Shadow(report.Filter{}).Trials) > 0 {
			t.Errorf("after the end: found is %v", got)
		}
	})
}

// TestCandidateAtItsHosts checks that a host that serves the candidate already compares
// it with the previous robots.txt.
func TestCandidateAtItsHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := testGuard(t, options{}, serving(triedText))
		yes := func(string) bool { return true }
		end := g.state.StartTrial(&shadow.File{
			Source: "change 1", Has: yes, IsPublished: yes,
			Fetch: func(string) policy.FetchResult {
				return policy.FetchResult{Status: http.StatusOK, Body: []byte(textInForce)}
			},
			Freshness: policy.FreshnessPolicy{Min: time.Minute, Max: time.Minute, Default: time.Minute},
		})
		<-fetchDone(g, requestBy("bingbot/2.0", "/"))
		for range 2 { // the first request causes a fetch, and may be evaluated before it
			g.Judge(requestBy("bingbot/2.0", "/shop/1"))
			synctest.Wait()
		}
		found := g.state.trials.effects.Snapshot()
		if len(found) != 1 || len(found[0].Rows) != 1 || found[0].Rows[0].CountByDifference[shadow.NewlyForbidden] == 0 {
			t.Fatalf("found is %+v", found)
		}
		page := found[0].Rows[0].Pages[shadow.NewlyForbidden-1][0].Key
		if page.LineOnTrial.Rule.Path != "/shop/" || page.LineInForce.Rule.Path == "/shop/" {
			t.Errorf("it was %+v and is %+v", page.LineInForce, page.LineOnTrial)
		}
		end()
	})
}
