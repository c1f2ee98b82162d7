package managed

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/publication"
)

// A request for a robots.txt allocates nothing, whatever is tried, and whoever asks.
func TestPageAllocatesNothing(t *testing.T) {
	change := publication.Change{ID: "0123456789abcdef"}
	all, tried := newSchedule(t, disallow("GPTBot")), newSchedule(t, disallow("ClaudeBot"))
	p := newPublisher(all, new(bases), time.Now)
	p.Keep(new(Keeper))
	r := asks(site("a.test"), "a.test")
	r = r.WithContext(origin.WithOperator(r.Context(), "A company that has a long name, Inc."))
	for _, trial := range []Trial{
		{},
		{Schedule: tried, Hosts: []string{"a.test"}},
		{Schedule: tried, ServedTo: func(o string) bool { return change.IsServed(o, false, 99) }},
		{Schedule: tried, ServedTo: func(o string) bool { return change.IsServed(o, false, 0) }},
	} {
		p.Serve(t.Context(), all, trial)
		p.Page(r)
		if n := testing.AllocsPerRun(100, func() {
			if page, _ := p.Page(r); page == nil {
				t.Fatal("no page")
			}
		}); n > 0 {
			t.Errorf("%+v: %v allocations", trial, n)
		}
	}
}
