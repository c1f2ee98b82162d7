package main

import (
	"slices"
	"testing"
	"time"
)

// TestExpected is what the oracle says while nothing changes.
func TestExpected(t *testing.T) {
	for _, row := range []struct {
		client, path string
		text         text
		state        state
		config       config
		monitors     bool
		strict       bool
		managed      bool
		asked        bool
		want         int
	}{
		{client: "Firefox", path: "/private/x", want: 200},
		{client: "curl", path: "/private/x", want: 200},
		{client: "Feedly", path: "/private/x", want: 200},
		{client: "bingbot", path: "/page", want: 200},
		{client: "bingbot", path: "/private/x", want: 403},
		{client: "bingbot", path: "/private/x", config: 8, want: 410},
		{client: "bingbot", path: "/private/x", monitors: true, want: 200},
		{client: "bingbot", path: "/new/x", want: 200},
		{client: "bingbot", path: "/new/x", text: 1, want: 403},
		{client: "unknown", path: "/private/x", want: 403},
		{client: "GPTBot", path: "/page", want: 403},
		{client: "GPTBot", path: "/robots.txt", want: 200},
		{client: "GPTBot", path: "/robots.txt", state: robots500, want: 500},
		{client: "Firefox", path: "/page", state: robots500, want: 200},
		{client: "bingbot", path: "/private/x", state: refuses, want: 403},
		{client: "bingbot", path: "/page", state: refuses, want: 502},
		{client: "Firefox", path: "/page", state: all500, want: 500},
		{client: "ClaudeBot", path: "/trained/x", want: 200},
		{client: "Googlebot", path: "/trained/x", strict: true, want: 200},
		{client: "SemrushBot", path: "/page", want: 200},
		{client: "SemrushBot", path: "/page", strict: true, want: 429},
		{client: "SemrushBot", path: "/private/x", strict: true, want: 403},
		{client: "SemrushBot", path: "/robots.txt", strict: true, want: 200},
		{client: "CCBot", path: "/page", want: 200},
		{client: "CCBot", path: "/page", managed: true, want: 403},
		{client: "Verix", path: "/private/x", want: 200},
		{client: "Verix", path: "/new/x", text: 1, want: 200},
		{client: "Verix", path: "/trained/x", want: 403},
		{client: "Verix", path: "/page", strict: true, want: 200},
		{client: "false Verix", path: "/page", want: 200},
		{client: "false Verix", path: "/private/x", want: 403},
		{client: "false Verix", path: "/trained/x", want: 403},
		{client: "false Verix", path: "/page", strict: true, want: 403},
		{client: "false Verix", path: "/robots.txt", strict: true, want: 200},
		{client: "bingbot", path: "/private/x", asked: true, want: 403},
		{client: "bingbot", path: "/page", asked: true, state: refuses, want: 200},
		{client: "bingbot", path: "/robots.txt", asked: true, state: robots500, want: 200},
	} {
		w, in := &world{names: newFact(names(0))}, &instance{config: newFact(row.config), fresh: newFact(false)}
		s := &site{enforces: !row.monitors, strict: row.strict, managed: row.managed, asked: row.asked, text: newFact(row.text), state: newFact(row.state)}
		if got := w.expected(in, s, named(row.client), row.path, w.now(in, s), row.config, nil); !slices.Equal(got, []int{row.want}) {
			t.Errorf("%+v: got %v", row, got)
		}
	}
}

// TestExpectedMeanwhile lets a robots.txt change while requests are under way:
// both answers are right then, and one before and after.
func TestExpectedMeanwhile(t *testing.T) {
	w, in := &world{names: newFact(names(0))}, &instance{config: newFact(config(0)), fresh: newFact(false)}
	s := &site{enforces: true, every: time.Second, text: newFact(text(0)), state: newFact(well)}
	private := func() []int { return w.expected(in, s, named("bingbot"), "/private/x", w.now(in, s), 0, nil) }
	asked := func(sent moment) []int { return w.expected(in, s, named("bingbot"), "/new/x", sent, 0, nil) }
	before := w.now(in, s)
	if got := asked(before); !slices.Equal(got, []int{200}) {
		t.Errorf("before: %v", got)
	}
	s.text.change(1, func() {
		if got := asked(w.now(in, s)); !slices.Equal(got, []int{200, 403}) {
			t.Errorf("meanwhile: %v", got)
		}
		if got := private(); !slices.Equal(got, []int{403}) {
			t.Errorf("what both forbid: %v", got)
		}
		s.readers = true // who may have read what the server has not
		if got := private(); !slices.Equal(got, []int{403, 200}) {
			t.Errorf("what both forbid, while somebody may know more: %v", got)
		}
	})
	if got := asked(before); !slices.Equal(got, []int{200, 403}) {
		t.Errorf("sent before, answered after: %v", got)
	}
	if got := asked(w.now(in, s)); !slices.Equal(got, []int{403}) {
		t.Errorf("after: %v", got)
	}
	in.fresh.change(true, func() {})
	if got := private(); !slices.Equal(got, []int{403, 200}) {
		t.Errorf("what both forbid, when it was just started: %v", got)
	}
	if got := w.expected(in, s, named("bingbot"), "/page", w.now(in, s), 0, nil); !slices.Equal(got, []int{200}) {
		t.Errorf("what none forbids, when it was just started: %v", got)
	}
}

// TestReadings holds a client to what it has read last, as far as others may know.
func TestReadings(t *testing.T) {
	w, in := &world{names: newFact(names(0))}, &instance{config: newFact(config(0)), fresh: newFact(false)}
	s := &site{enforces: true, readers: true, every: time.Second, text: newFact(text(3)), state: newFact(well)}
	all, who, now := make(readings), reader{"files.test", "bingbot"}, time.Now()
	asks := func(path string) []int {
		return w.expected(in, s, named("bingbot"), path, w.now(in, s), 0, all.of(who, now))
	}
	all.note(who, text(2).String(), now)
	all.note(who, "no robots.txt", now)
	if got := asks("/new/x"); !slices.Equal(got, []int{403, 200}) {
		t.Errorf("what it has read allows it: %v", got)
	}
	if got := asks("/private/x"); !slices.Equal(got, []int{403}) {
		t.Errorf("what both forbid: %v", got)
	}
	all.note(who, text(3).String(), now.Add(time.Second))
	if got := all.of(who, now.Add(2*time.Second)); !slices.Equal(got, []text{2, 3}) {
		t.Errorf("at once: %v", got)
	}
	if got := all.of(who, now.Add(2*lag)); !slices.Equal(got, []text{3}) {
		t.Errorf("later: %v", got)
	}
}
