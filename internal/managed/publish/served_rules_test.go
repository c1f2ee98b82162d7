package publish

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
)

// TestServeAnotherSchedule serves a new schedule immediately and drops the cached pages.
func TestServeAnotherSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPublisher(newSchedule(t, disallow("GPTBot", "/a")), new(bases), time.Now)
		server := serverFor("a.test", "b.test")
		before, _ := p.Page(asks(server, "a.test"))
		time.Sleep(time.Hour)
		from := time.Now().Add(time.Hour)
		first := p.ServedSchedule()
		next := newSchedule(t, disallow("GPTBot", "/b"), during(disallow("GPTBot", "/later"), "later", from, time.Time{}))
		p.serve(next, nil, "")
		if p.ServedSchedule() != next {
			t.Error("the schedule before is still served")
		}
		page, until := p.Page(asks(server, "a.test"))
		if !strings.Contains(page.text, "Disallow: /b") || strings.Contains(page.text, "Disallow: /a\n") || !until.Equal(from) || !page.modified.Equal(before.modified.Add(time.Hour)) {
			t.Errorf("%q of %v until %v", page.text, page.modified, until)
		}
		for _, s := range p.pageCaches {
			for _, key := range s.pages.Keys() {
				if key.period == first.FindPeriod("a.test", time.Now()) {
					t.Error("a page of the schedule before is kept")
				}
			}
		}
	})
}

// TestServeWhatTheGateStops serves the previous file if the gate refuses the new one.
func TestServeWhatTheGateStops(t *testing.T) {
	p := newPublisher(newSchedule(t, disallow("GPTBot", "/a")), nil, time.Now)
	p.Gate = managed.GateWarnings
	r := asks(serverFor("a.test"), "a.test")
	before, _ := p.Page(r)
	p.serve(newSchedule(t, disallow("GPTBot", "/x"), allow("GPTBot", "/x*")), nil, "")
	if after, _ := p.Page(r); after != before {
		t.Errorf("served is %q", after.text)
	}
}

// BenchmarkServeAnother replaces the schedule of 10,000 hosts with their own bases and rules. It
// reports the slowest request during the replacement.
func BenchmarkServeAnother(b *testing.B) {
	schedules := [2]*managed.Schedule{}
	for i := range schedules {
		rules := []managed.Rule{disallow("ai_training")}
		for j, host := range manyHosts {
			rules = append(rules, during(disallow("GPTBot", fmt.Sprintf("/own/%d/%d", i, j)), fmt.Sprint("r", j), time.Time{}, time.Time{}, host))
		}
		schedules[i] = newSchedule(b, rules...)
	}
	server := serverFor(manyHosts...)
	p := newPublisher(schedules[0], new(bases), time.Now)
	for _, host := range manyHosts {
		p.Page(asks(server, host))
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan time.Duration)
	go func() { ended <- slowestRequest(ctx, p, server) }()
	for i := 0; b.Loop(); i++ {
		p.serve(schedules[(i+1)%2], nil, "")
	}
	cancel()
	b.ReportMetric(float64((<-ended).Microseconds()), "µs-slowest")
	b.StopTimer()
	if page, _ := p.Page(asks(server, "h77.test")); !strings.Contains(page.text, "/77\n") {
		b.Errorf("served is %q", page.text)
	}
}

// TestTrialIsTold announces a trial for the hosts of the trial.
func TestTrialIsTold(t *testing.T) {
	first, next := newSchedule(t, disallow("GPTBot", "/a")), newSchedule(t, disallow("GPTBot", "/b"))
	p := newPublisher(first, nil, time.Now)
	p.SiteHosts = []string{"a.test", "b.test"}
	var r RunningPublishers
	defer r.Add(p)()
	now := time.Now()
	p.Now = func() time.Time { return now }
	for _, canary := range []string{"", "b.test"} {
		p.serve(first, next, canary)
		for _, s := range r.Sites(now) {
			tried := s.Host == canary
			if (s.Trial != nil) != tried || tried && (s.Trial.Change != "1" || !s.Trial.Until.Equal(now.Add(time.Hour))) {
				t.Errorf("%s: the trial is %+v", s.Host, s.Trial)
			}
		}
	}
}

// TestRefusedTextLeavesTheOneBefore serves the previous file if the gate refuses a file, at a turn
// and for a new base. Without a previous file, the next handler answers.
func TestRefusedTextLeavesTheOneBefore(t *testing.T) {
	now := epoch.Add(-time.Hour)
	rules := []managed.Rule{disallow("GPTBot"), during(allow("bingbot", "/a.test/0"), "press", epoch, time.Time{})}
	p := newPublisher(newSchedule(t, rules...), new(bases), func() time.Time { return now })
	p.Gate = managed.GateWarnings
	server := serverFor("a.test", "b.test")
	before, until := p.Page(asks(server, "a.test"))
	if before == nil || !strings.Contains(before.text, "User-agent: GPTBot") || !until.Equal(epoch) {
		t.Fatalf("got %v until %v", before, until)
	}
	now = epoch
	if page, _ := p.Page(asks(server, "a.test")); page != before {
		t.Errorf("the text before does not stay: %v", page)
	}
	late, _ := p.Page(asks(server, "b.test"))
	if late == nil || !strings.Contains(late.text, "rule press") {
		t.Errorf("b.test has a text that nothing is wrong with: %v", late)
	}
	again := newPublisher(p.ServedSchedule(), new(bases), func() time.Time { return now })
	again.Gate = p.Gate
	if page, _ := again.Page(asks(server, "a.test")); page == nil || page.text != before.text {
		t.Errorf("after a restart the text before the turn does not stay: %v", page)
	}
	always := newPublisher(newSchedule(t, allow("bingbot", "/a.test/0")), new(bases), func() time.Time { return now })
	always.Gate = p.Gate
	if page, _ := always.Page(asks(server, "a.test")); page != nil {
		t.Errorf("a text that was never right is served: %q", page.text)
	}
}
