package managed

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Another schedule is served at once, and the pages of the one before are forgotten.
func TestServeAnotherSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPublisher(newSchedule(t, disallow("GPTBot", "/a")), new(bases), time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		server := site("a.test", "b.test")
		before, _ := p.Page(asks(server, "a.test"))
		time.Sleep(time.Hour)
		from := time.Now().Add(time.Hour)
		first := p.Serving()
		next := newSchedule(t, disallow("GPTBot", "/b"), during(disallow("GPTBot", "/later"), "later", from, time.Time{}))
		p.Serve(ctx, next, Trial{})
		if p.Serving() != next {
			t.Error("the schedule before is still served")
		}
		page, until := p.Page(asks(server, "a.test"))
		if !strings.Contains(page.text, "Disallow: /b") || strings.Contains(page.text, "Disallow: /a\n") || !until.Equal(from) || !page.modified.Equal(before.modified.Add(time.Hour)) {
			t.Errorf("%q of %v until %v", page.text, page.modified, until)
		}
		p.mu.Lock()
		for _, s := range p.shelves {
			for _, key := range s.pages.Keys() {
				if key.table.schedule == first {
					t.Error("a page of the schedule before is kept")
				}
			}
		}
		p.mu.Unlock()
		cancel()
		p.Serve(ctx, first, Trial{})
		if p.Serving() != next {
			t.Error("a publisher that has ended serves another schedule")
		}
	})
}

// Where the gate refuses a text of another schedule, the text before stays.
func TestServeWhatTheGateStops(t *testing.T) {
	p := newPublisher(newSchedule(t, disallow("GPTBot", "/a")), nil, time.Now)
	p.Gate.Warnings = true
	r := asks(site("a.test"), "a.test")
	before, _ := p.Page(r)
	p.Serve(t.Context(), newSchedule(t, disallow("GPTBot", "/x"), allow("GPTBot", "/x*")), Trial{})
	if after, _ := p.Page(r); after != before {
		t.Errorf("served is %q", after.text)
	}
}

// BenchmarkServeAnother puts another schedule in place at 10,000 hosts, each with a
// base and a rule of its own, and tells of the slowest request meanwhile.
func BenchmarkServeAnother(b *testing.B) {
	schedules := [2]*Schedule{}
	for i := range schedules {
		rules := []Rule{disallow("ai_training")}
		for j, host := range manyHosts {
			rules = append(rules, during(disallow("GPTBot", fmt.Sprintf("/own/%d/%d", i, j)), fmt.Sprint("r", j), time.Time{}, time.Time{}, host))
		}
		schedules[i] = newSchedule(b, rules...)
	}
	server := site(manyHosts...)
	p := newPublisher(schedules[0], new(bases), time.Now)
	for _, host := range manyHosts {
		p.Page(asks(server, host))
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan time.Duration)
	go func() { ended <- slowestRequest(ctx, p, server) }()
	for i := 0; b.Loop(); i++ {
		p.Serve(b.Context(), schedules[(i+1)%2], Trial{})
	}
	cancel()
	b.ReportMetric(float64((<-ended).Microseconds()), "µs-slowest")
	b.StopTimer()
	if page, _ := p.Page(asks(server, "h77.test")); !strings.Contains(page.text, "/77\n") {
		b.Errorf("served is %q", page.text)
	}
}

// What is tried is told of the hosts that it is about.
func TestTrialIsTold(t *testing.T) {
	first, next := newSchedule(t, disallow("GPTBot", "/a")), newSchedule(t, disallow("GPTBot", "/b"))
	p := newPublisher(first, nil, time.Now)
	p.Hosts = []string{"a.test", "b.test"}
	var r Running
	defer r.Add(p)()
	until := time.Now().Add(time.Hour)
	for _, trial := range []Trial{{}, {Schedule: next, Hosts: []string{"b.test"}, ID: "1", Until: until}} {
		p.Serve(t.Context(), first, trial)
		for _, s := range r.Sites(time.Now()) {
			tried := s.Host == "b.test" && trial.Schedule != nil
			if (s.Trial != nil) != tried || tried && (s.Trial.Change != "1" || !s.Trial.Until.Equal(until)) {
				t.Errorf("%s: the trial is %+v", s.Host, s.Trial)
			}
		}
	}
}
