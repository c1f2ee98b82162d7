package main

import (
	"testing"
	"time"
)

// TestCompare holds counters that are wrong against what was sent.
func TestCompare(t *testing.T) {
	sent := &traffic{counts: map[count]tally{
		{"A", "files.test", "bingbot", "claimed"}:     {answered: 10, refused: 4, broken: 1},
		{"A", "strict.test", "SemrushBot", "claimed"}: {answered: 3, slowed: 2},
		{"A", "files.test", "", ""}:                   {answered: 99},
		{"A", inventedHost, "GPTBot", "claimed"}:      {answered: 3, refused: 3},
		{"A", "slow.test", "Verix", "verified"}:       {answered: 5, slowed: 2},
		{"A", "slow.test", "_spoofed", "spoofed"}:     {answered: 2, refused: 1},
		{"B", "files.test", "curl", "claimed"}:        {answered: 5},
	}}
	const name = "caddy_robots_guard_requests_total"
	right := map[string]float64{
		name + `{action="none",class="search",crawler="bingbot",host="files.test",identity="claimed"}`:    7, // with the broken one
		name + `{action="blocked",class="search",crawler="bingbot",host="files.test",identity="claimed"}`: 4,
		name + `{action="blocked",class="ai",crawler="GPTBot",host="_other",identity="claimed"}`:          3,
		name + `{action="none",class="seo",crawler="SemrushBot",host="strict.test",identity="claimed"}`:   1,
		name + `{action="slowed",class="seo",crawler="SemrushBot",host="strict.test",identity="claimed"}`: 2,
		name + `{action="none",class="research",crawler="Verix",host="slow.test",identity="verified"}`:    3,
		name + `{action="slowed",class="research",crawler="Verix",host="slow.test",identity="verified"}`:  2,
		name + `{action="none",class="other",crawler="_spoofed",host="slow.test",identity="spoofed"}`:     1,
		name + `{action="blocked",class="other",crawler="_spoofed",host="slow.test",identity="spoofed"}`:  1,
		"go_goroutines": 12,
	}
	if problems, counted := sent.held("A", right); len(problems) > 0 || counted != 24 {
		t.Errorf("%d counted, %v", counted, problems)
	}
	for metric, value := range map[string]float64{
		name + `{action="none",class="search",crawler="bingbot",host="files.test",identity="claimed"}`:    8,
		name + `{action="blocked",class="search",crawler="bingbot",host="files.test",identity="claimed"}`: 3,
		name + `{action="slowed",class="seo",crawler="SemrushBot",host="strict.test",identity="claimed"}`: 1,
		name + `{action="none",class="research",crawler="Verix",host="slow.test",identity="claimed"}`:     1,
		name + `{action="none",class="research",crawler="Verix",host="slow.test",identity="verified"}`:    2,
		name + `{action="none",class="browser",crawler="Firefox",host="files.test",identity="claimed"}`:   1,
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
	sent.counts[count{"A", "files.test", "curl", "claimed"}] = tally{answered: 4, compared: 1}
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
	for _, one := range []string{"bingbot", "false Verix"} { // of two networks
		for i := range 12 {
			if got := sent.isPending(in, changing, named(one), "/private/x", "stale"); got != (i < 9) {
				t.Errorf("%s %d: %v", one, i, got)
			}
		}
	}
	asked := &site{host: "asked.test", enforces: true, readers: true, asked: true, every: time.Second}
	for range 12 {
		if !sent.isPending(in, asked, named("bingbot"), "/private/x", "stale") {
			t.Error("who may have read a newer text than the one who is asked")
		}
	}
	if sent.isPending(in, asked, named("Googlebot"), "/private/x", "stale") || sent.isPending(in, asked, named("bingbot"), "/private/x", "") {
		t.Error("who has read none, or without a verdict")
	}
}

// TestQuestions asks as another proxy does, and tells addresses where there is one to tell.
func TestQuestions(t *testing.T) {
	for _, row := range []struct {
		site   *site
		client string
		want   map[string]string // "" for a field that is not there
	}{
		{&site{host: "files.test"}, "bingbot", map[string]string{"X-Forwarded-For": "", "X-Forwarded-Uri": ""}},
		{&site{host: "files.test"}, "Verix", map[string]string{"X-Forwarded-For": listed, "X-Forwarded-Uri": ""}},
		{&site{host: "asked.test", asked: true}, "bingbot", map[string]string{"X-Forwarded-For": others, "X-Forwarded-Method": "GET", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "asked.test", "X-Forwarded-Uri": "/page"}},
		{&site{host: "asked.test", asked: true}, "false Verix", map[string]string{"X-Forwarded-For": unlisted, "X-Forwarded-Host": "asked.test"}},
	} {
		r, err := row.site.request(named(row.client), row.site.host, "/page")
		if err != nil {
			t.Fatal(err)
		}
		if asks := r.URL.Host == deciderHost; asks != row.site.asked || r.UserAgent() != named(row.client).userAgent {
			t.Errorf("%s: %s as %s", row.client, r.URL, r.UserAgent())
		}
		for field, want := range row.want {
			if got := r.Header.Get(field); got != want {
				t.Errorf("%s: %s is %q", row.client, field, got)
			}
		}
	}
}
