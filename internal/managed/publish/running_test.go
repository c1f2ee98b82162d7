package publish

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// flaky is a source with its own clock that can fail.
type flaky struct {
	now  time.Time
	text string
}

func (f *flaky) Prepare(*http.Request, policy.Key) (site.FetchFunc, bool) {
	return func(context.Context, *policy.Version) policy.FetchResult {
		if f.text == "" {
			return policy.FetchResult{Status: 503}
		}
		return policy.FetchResult{Status: 200, Body: []byte(f.text)}
	}, true
}

// TestRunning checks the report of a host: the served file, the rule of each line, and the next
// changes. Hosts without requests are included.
func TestRunning(t *testing.T) { synctest.Test(t, runs) }

func runs(t *testing.T) {
	now := epoch
	begin := now.Add(time.Hour)
	sale := during(disallow("*", "/sale"), "sale", begin, now.Add(2*time.Hour))
	sale.Reason, sale.At = "load", "Caddyfile:7"
	over := during(disallow("CCBot"), "over", time.Time{}, now.Add(-time.Hour))
	p := newPublisher(newSchedule(t, disallow("GPTBot", "/x"), managed.Rule{ContentUsage: "train-ai=n"}, sale, over), new(bases), func() time.Time { return now })
	p.SiteHosts = []string{"a.test", "*.b.test"}
	var r RunningPublishers
	remove := r.Add(p)
	p.Page(asks(serverFor("a.test"), "a.test"))
	sites := r.Sites(now)
	if len(sites) != 2 || sites[0].Host != "*.b.test" || sites[0].Version != "" || sites[1].Host != "a.test" || sites[1].RulesInForce != 2 || !sites[1].NextChange.Equal(begin) {
		t.Fatalf("got %+v", sites)
	}
	d, ok := r.Site("a.test", now)
	if !ok || !strings.Contains(d.Text, "version "+d.Version) || d.Base.Kind != "upstream" || d.Base.Status != 200 || d.Refused != nil {
		t.Errorf("got %+v", d)
	}
	made := make(map[string]int)
	for _, line := range d.Lines {
		made[strings.Join(line.Rules, "+")+": "+line.Text]++
	}
	if len(made) != 2 || made["disallow GPTBot: Disallow: /x"] != 1 || made["content_usage: Content-Usage: train-ai=n"] != 2 {
		t.Errorf("lines are made by %v of\n%s", made, d.Text)
	}
	states := []string{report.RuleInForce, report.RuleInForce, report.RuleToCome, report.RuleOver}
	for i, rule := range d.Rules {
		if rule.State != states[i] {
			t.Errorf("%s is %s", rule.Name, rule.State)
		}
	}
	if rule := d.Rules[2]; rule.Reason != "load" || rule.Position != "Caddyfile:7" || rule.Effect != "Disallow: /sale" {
		t.Errorf("got %+v", rule)
	}
	if len(d.ScheduledChanges) != 2 || !slices.Equal(d.ScheduledChanges[0].Begins, []string{"rule sale"}) || !slices.Contains(d.ScheduledChanges[0].Added, "Disallow: /sale") ||
		len(d.ScheduledChanges[0].Removed) > 0 || !slices.Equal(d.ScheduledChanges[1].Ends, []string{"rule sale"}) || !slices.Contains(d.ScheduledChanges[1].Removed, "Disallow: /sale") {
		t.Errorf("got turns %+v", d.ScheduledChanges)
	}
	if next := r.NextChange(now); !next.Equal(begin) {
		t.Errorf("the next change is at %v", next)
	}
	synctest.Wait() // background fetches read the clock
	now = begin
	if d, _ := r.Site("a.test", now); !strings.Contains(d.Text, "/sale") || !d.Since.Equal(begin) {
		t.Errorf("in the sale: %v %q", d.Since, d.Text)
	}
	remove()
	if _, ok := r.Site("a.test", now); ok || len(r.Sites(now)) > 0 || !r.NextChange(now).IsZero() {
		t.Error("one that ended is still shown")
	}
}

// TestRunningWildcard reports the rules and the staging setting of a wildcard, and not
// those of a host below it that a rule or the staging hosts name.
func TestRunningWildcard(t *testing.T) {
	now := epoch
	at := during(disallow("GPTBot", "/{host}"), "wildcard", time.Time{}, time.Time{}, "*.b.test")
	own := during(disallow("CCBot", "/own"), "own", time.Time{}, time.Time{}, "www.b.test")
	s := scheduleOf(t, managed.Spec{Rules: []managed.Rule{at, own}, StagingHosts: []string{"www.c.test"}})
	p := newPublisher(s, nil, func() time.Time { return now })
	p.SiteHosts = []string{"*.b.test", "*.c.test"}
	var r RunningPublishers
	defer r.Add(p)()
	d, _ := r.Site("*.b.test", now)
	if !strings.Contains(d.Text, "Disallow: /www.b.test") || strings.Contains(d.Text, "/own") || d.RulesInForce != 1 {
		t.Errorf("*.b.test has %d rules and the file\n%s", d.RulesInForce, d.Text)
	}
	if d, _ := r.Site("*.c.test", now); d.Staging {
		t.Error("*.c.test is reported as staging because www.c.test is")
	}
}

// TestRunningTellsOfTrouble reports a failed base and a refused file with their reasons.
func TestRunningTellsOfTrouble(t *testing.T) { synctest.Test(t, tellOfTrouble) }

func tellOfTrouble(t *testing.T) {
	source := new(flaky)
	source.text = "User-agent: *\nDisallow: /a\n"
	p := newPublisher(newSchedule(t, allow("bingbot", "/private/b")), source, func() time.Time { return source.now })
	p.Gate, source.now = managed.GateWarnings, epoch
	var r RunningPublishers
	r.Add(p)
	read := func() report.ManagedSite {
		p.Page(asks(serverFor("a.test"), "a.test"))
		synctest.Wait() // fetched in the background
		d, _ := r.Site("a.test", source.now)
		return d.ManagedSite
	}
	if s := read(); s.Refused != nil || s.Base.Failure != "" || s.Version == "" {
		t.Fatalf("got %+v", s)
	}
	source.now, source.text = epoch.Add(time.Hour), "User-agent: *\nDisallow: /private\n"
	if s := read(); s.Refused == nil || !strings.Contains(s.Refused.Reason, "fetch /private/b") || !s.Refused.Since.Equal(source.now) || s.Version == "" {
		t.Errorf("got %+v, %+v", s, s.Refused)
	}
	source.now, source.text = epoch.Add(2*time.Hour), ""
	if s := read(); !strings.Contains(s.Base.Failure, "503") || !s.Base.FailingSince.Equal(source.now) || s.Version == "" {
		t.Errorf("got %+v", s)
	}
}
