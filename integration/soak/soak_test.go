package main

import (
	"encoding/xml"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func named(name string) client {
	return clients[slices.IndexFunc(clients, func(c client) bool { return c.name == name })]
}

// TestExpected is what the oracle says while nothing changes.
func TestExpected(t *testing.T) {
	for _, row := range []struct {
		client, path string
		text         text
		state        state
		config       config
		monitors     bool
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
	} {
		w := &world{config: newFact(row.config)}
		s := &site{enforces: !row.monitors, text: newFact(row.text), state: newFact(row.state)}
		if got := w.expected(s, named(row.client), row.path, w.now(s)); !slices.Equal(got, []int{row.want}) {
			t.Errorf("%+v: got %v", row, got)
		}
	}
}

// TestExpectedMeanwhile lets a robots.txt change while requests are under way:
// both answers are right then, and one before and after.
func TestExpectedMeanwhile(t *testing.T) {
	w := &world{config: newFact(config(0))}
	s := &site{enforces: true, text: newFact(text(0)), state: newFact(well)}
	private := func() []int { return w.expected(s, named("bingbot"), "/private/x", w.now(s)) }
	asked := func(sent moment) []int { return w.expected(s, named("bingbot"), "/new/x", sent) }
	before := w.now(s)
	if got := asked(before); !slices.Equal(got, []int{200}) {
		t.Errorf("before: %v", got)
	}
	s.text.change(1, func() {
		if got := asked(w.now(s)); !slices.Equal(got, []int{200, 403}) {
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
	if got := asked(w.now(s)); !slices.Equal(got, []int{403}) {
		t.Errorf("after: %v", got)
	}
}

// TestCompare holds counters that are wrong against what was sent.
func TestCompare(t *testing.T) {
	sent := &traffic{counts: map[count]tally{
		{"files.test", "bingbot"}: {answered: 10, refused: 4, broken: 1},
		{"files.test", ""}:        {answered: 99},
		{inventedHost, "GPTBot"}:  {answered: 3, refused: 3},
	}}
	const name = "caddy_robots_guard_requests_total"
	right := map[string]float64{
		name + `{action="none",class="search",crawler="bingbot",host="files.test"}`:    7, // with the broken one
		name + `{action="blocked",class="search",crawler="bingbot",host="files.test"}`: 4,
		name + `{action="blocked",class="ai",crawler="GPTBot",host="_other"}`:          3,
		"go_goroutines": 12,
	}
	if problems, counted := sent.compare(right); len(problems) > 0 || counted != 14 {
		t.Errorf("%d counted, %v", counted, problems)
	}
	for metric, value := range map[string]float64{
		name + `{action="none",class="search",crawler="bingbot",host="files.test"}`:    8,
		name + `{action="blocked",class="search",crawler="bingbot",host="files.test"}`: 3,
		name + `{action="none",class="browser",crawler="Firefox",host="files.test"}`:   1,
	} {
		wrong := map[string]float64{metric: value}
		for m, v := range right {
			if m != metric {
				wrong[m] = v
			}
		}
		if problems, _ := sent.compare(wrong); len(problems) == 0 {
			t.Errorf("%s %v is no problem", metric, value)
		}
	}
}

// TestGrown tells a leak from noise.
func TestGrown(t *testing.T) {
	var steady, leaking []sample
	for i := range 100 {
		noise := 20 * math.Sin(float64(i))
		steady = append(steady, sample{time.Duration(i) * time.Second, 50 + noise, 40 + noise, 10e6 + 1e5*noise})
		leaking = append(leaking, sample{time.Duration(i) * time.Second, 50 + noise, 40 + noise + float64(i), 10e6})
	}
	if problems := grown(steady); len(problems) > 0 {
		t.Error(problems)
	}
	if problems := grown(leaking); len(problems) != 1 || !strings.HasPrefix(problems[0], "open files") {
		t.Error(problems)
	}
}

// TestPlot draws a picture that is XML and has no figure that is none.
func TestPlot(t *testing.T) {
	for _, samples := range [][]sample{nil, {{time.Minute, 50, 40, 1e7}, {2 * time.Minute, 55, 40, 1.1e7}}} {
		picture := plot(samples)
		d := xml.NewDecoder(strings.NewReader(picture))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(picture, "NaN") || strings.Contains(picture, "Inf") {
			t.Error(picture)
		}
	}
}

// TestSoak runs it for a moment.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server; run without -short")
	}
	r, err := soak(t.Context(), 12*time.Second, 100)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r)
	if len(r.problems) > 0 {
		t.Errorf("%d problems", len(r.problems))
	}
	if r.reloads == 0 || r.texts == 0 || r.sent == 0 || r.counted == 0 {
		t.Error("nothing happened")
	}
}
