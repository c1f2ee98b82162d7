package main

import (
	"testing"
	"time"
)

// TestCompare holds counters that are wrong against what was sent.
func TestCompare(t *testing.T) {
	sent := &traffic{counts: map[count]tally{
		{"A", "files.test", "bingbot"}:     {answered: 10, refused: 4, broken: 1},
		{"A", "strict.test", "SemrushBot"}: {answered: 3, slowed: 2},
		{"A", "files.test", ""}:            {answered: 99},
		{"A", inventedHost, "GPTBot"}:      {answered: 3, refused: 3},
		{"B", "files.test", "curl"}:        {answered: 5},
	}}
	const name = "caddy_robots_guard_requests_total"
	right := map[string]float64{
		name + `{action="none",class="search",crawler="bingbot",host="files.test"}`:    7, // with the broken one
		name + `{action="blocked",class="search",crawler="bingbot",host="files.test"}`: 4,
		name + `{action="blocked",class="ai",crawler="GPTBot",host="_other"}`:          3,
		name + `{action="none",class="seo",crawler="SemrushBot",host="strict.test"}`:   1,
		name + `{action="slowed",class="seo",crawler="SemrushBot",host="strict.test"}`: 2,
		"go_goroutines": 12,
	}
	if problems, counted := sent.held("A", right); len(problems) > 0 || counted != 17 {
		t.Errorf("%d counted, %v", counted, problems)
	}
	for metric, value := range map[string]float64{
		name + `{action="none",class="search",crawler="bingbot",host="files.test"}`:    8,
		name + `{action="blocked",class="search",crawler="bingbot",host="files.test"}`: 3,
		name + `{action="slowed",class="seo",crawler="SemrushBot",host="strict.test"}`: 1,
		name + `{action="none",class="browser",crawler="Firefox",host="files.test"}`:   1,
	} {
		wrong := map[string]float64{metric: value}
		for m, v := range right {
			if m != metric {
				wrong[m] = v
			}
		}
		if problems, _ := sent.held("A", wrong); len(problems) == 0 {
			t.Errorf("%s %v is no problem", metric, value)
		}
	}
	sent.counts[count{"A", "files.test", "curl"}] = tally{answered: 4, compared: 1}
	sent.forget(&instance{name: "A"})
	if len(sent.counts) != 1 || sent.lost != 3 {
		t.Errorf("%d lost, %v left", sent.lost, sent.counts)
	}
}

// TestFirst grants one request in a life.
func TestFirst(t *testing.T) {
	strict, in := &site{host: "strict.test", strict: true}, &instance{name: "A"}
	sent := &traffic{counts: make(map[count]tally)}
	semrush := named("SemrushBot")
	for i, row := range []struct {
		client client
		path   string
		want   bool
	}{
		{named("bingbot"), "/page", false},
		{semrush, "/robots.txt", false},
		{semrush, "/page", true},
		{semrush, "/page", false},
	} {
		if got := sent.isFirst(in, strict, row.client, row.path); got != row.want {
			t.Errorf("%d: %v", i, got)
		}
	}
	sent.forget(in)
	if !sent.isFirst(in, strict, semrush, "/page") {
		t.Error("not in another life")
	}
}

// TestPending grants a few requests where a text may be on its way, and no others.
func TestPending(t *testing.T) {
	in := &instance{name: "A", since: time.Now()}
	sent := &traffic{counts: make(map[count]tally)}
	changing := &site{host: "files.test", enforces: true, readers: true, every: time.Second}
	for _, fixed := range []*site{{enforces: true, readers: true}, {enforces: true, every: time.Second}, {readers: true, every: time.Second}} {
		if sent.isPending(in, fixed, named("bingbot"), "/private/x", "stale") {
			t.Errorf("%+v", fixed)
		}
	}
	if sent.isPending(in, changing, named("bingbot"), "/page", "stale") || sent.isPending(in, changing, named("Firefox"), "/private/x", "stale") {
		t.Error("what is never forbidden")
	}
	if sent.isPending(in, changing, named("bingbot"), "/private/x", "allowed") {
		t.Error("by another verdict")
	}
	for i := range 12 {
		if got := sent.isPending(in, changing, named("bingbot"), "/private/x", "stale"); got != (i < 9) {
			t.Errorf("%d: %v", i, got)
		}
	}
}
