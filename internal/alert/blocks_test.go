package alert

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

func googlebot(identity verify.State) Block {
	return Block{Site: "a.test", Crawler: "Googlebot", Identity: identity, Rule: "Disallow: /private/", Line: 2, Group: "*", Path: "/private/a"}
}

// TestSearchBlocked tells of verified engines at once, and of others when they come
// again and again.
func TestSearchBlocked(t *testing.T) {
	w := newWorld(t)
	w.answer("a.test", "enforce", 200, rules)
	w.RecordBlock(googlebot(verify.Claimed))
	w.pass(time.Hour)
	w.want("somebody by its name, once", "")
	w.RecordBlock(googlebot(verify.Verified))
	w.pass(time.Minute)
	a := w.only()
	if a.Severity != Critical || a.Remedy != searchRemedy || a.RemedySnippet != "only_log verified Googlebot" || a.Detail != `It is verified. Line 2, "Disallow: /private/" of User-agent: *, disallows /private/a. No group of the robots.txt names this crawler.` {
		t.Errorf("%+v", a)
	}
	for range 4 {
		w.RecordBlock(googlebot(verify.Claimed))
		w.pass(5 * time.Minute)
	}
	w.want("somebody by its name, for long", "open critical search_blocked, open warning search_blocked")
	w.pass(time.Hour)
	w.want("who has stopped", "open critical search_blocked, over warning search_blocked")
	w.pass(24 * time.Hour)
	w.want("a day later", "over critical search_blocked")
}

// TestSearchBlockedNoMore is over when the text is another one, or some time after a
// reload, which may let the engine pass.
func TestSearchBlockedNoMore(t *testing.T) {
	blocked := func(t *testing.T) *world {
		w := newWorld(t)
		w.answer("a.test", "enforce", 200, rules)
		w.leap(time.Minute)
		w.RecordBlock(googlebot(verify.Verified))
		w.leap(time.Minute)
		w.want("at first", "open critical search_blocked")
		return w
	}
	w := blocked(t)
	w.answer("a.test", "enforce", 200, others)
	w.leap(time.Minute)
	w.want("another text", "open info robots_changed, over critical search_blocked")

	w = blocked(t)
	w.firstLoad = w.time
	w.leap(59 * time.Minute)
	w.want("after a reload", "open critical search_blocked")
	w.leap(time.Minute)
	w.want("an hour after", "over critical search_blocked")
	w.RecordBlock(googlebot(verify.Verified))
	w.leap(time.Minute)
	w.want("blocked again", "open critical search_blocked")
}

// TestStaging says nothing of a site that has always been closed to all.
func TestStaging(t *testing.T) {
	w := newWorld(t)
	w.answer("a.test", "enforce", 200, closes)
	w.leap(time.Minute)
	w.RecordBlock(googlebot(verify.Verified))
	w.want("a staging site", "")
}

// TestBlocksBound keeps verified engines where somebody goes by many names.
func TestBlocksBound(t *testing.T) {
	w := newWorld(t)
	w.RecordBlock(googlebot(verify.Verified))
	for i := range 2 * maxBlocks {
		w.leap(2 * time.Second)
		x := googlebot(verify.Claimed)
		x.Rule = fmt.Sprintf("Disallow: /%d", i)
		w.RecordBlock(x)
	}
	if len(w.blocks.byKey) != maxBlocks {
		t.Errorf("%d are kept", len(w.blocks.byKey))
	}
	w.want("the verified one", "open critical search_blocked")
}

// TestSearchBlockedAgain after a while goes on with the alert that there is: who
// stops and comes again must not end and begin it each time.
func TestSearchBlockedAgain(t *testing.T) {
	for _, identity := range []verify.State{verify.Claimed, verify.Verified} {
		w := newWorld(t)
		w.answer("a.test", "enforce", 200, rules)
		for range 5 {
			w.RecordBlock(googlebot(identity))
			w.pass(5 * time.Minute)
		}
		before := w.only()
		w.pass(20 * time.Minute)
		w.RecordBlock(googlebot(identity))
		w.pass(time.Minute)
		if after := w.only(); after.State != Open || !after.Since.Equal(before.Since) {
			t.Errorf("%s: %s since %v, before %s since %v", identity, after.State, after.Since, before.State, before.Since)
		}
	}
}

// TestBlockedAgain has an engine be blocked again within a second, which is noted without
// waiting for others that are, and later, when another example takes the place of the first.
func TestBlockedAgain(t *testing.T) {
	var b searchBlocks
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	first := googlebot(verify.Verified)
	b.record(first, at)
	want := func(last time.Time, path string) {
		t.Helper()
		for _, known := range b.byKey {
			if !known.last().Equal(last) || known.Path != path || !known.start.Equal(at) {
				t.Errorf("noted is %v with %s, want %v with %s", known.last(), known.Path, last, path)
			}
		}
		if len(b.byKey) != 1 {
			t.Errorf("%d engines are noted, want one", len(b.byKey))
		}
	}
	want(at, first.Path)
	second := first
	second.Path = "/private/b"
	b.mu.RLock()
	done := make(chan struct{})
	go func() {
		b.record(second, at.Add(999*time.Millisecond))
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("it waits for others that are blocked")
	}
	b.mu.RUnlock()
	<-done
	want(at.Add(999*time.Millisecond), first.Path)
	b.record(second, at.Add(1999*time.Millisecond))
	want(at.Add(1999*time.Millisecond), second.Path)
	b.record(first, at.Add(2500*time.Millisecond)) // an example is for a second
	want(at.Add(2500*time.Millisecond), second.Path)
	b.record(first, at.Add(3100*time.Millisecond)) // though it was noted within one
	want(at.Add(3100*time.Millisecond), first.Path)
	b.record(second, at.Add(1500*time.Millisecond)) // by a clock that was set back
	want(at.Add(1500*time.Millisecond), second.Path)
}

// TestSearchBlockedInAReload takes a block for one of the configuration before that comes
// while the next one takes over, and none that comes later.
func TestSearchBlockedInAReload(t *testing.T) {
	for after, want := range map[time.Duration]string{
		0:                "over critical search_blocked",
		10 * time.Second: "over critical search_blocked",
		time.Minute:      "open critical search_blocked",
	} {
		w := newWorld(t)
		w.answer("a.test", "enforce", 200, rules)
		w.leap(time.Minute)
		w.RecordBlock(googlebot(verify.Verified))
		w.firstLoad = w.time
		w.leap(after)
		w.RecordBlock(googlebot(verify.Verified))
		w.leap(30 * time.Minute)
		w.want(after.String(), "open critical search_blocked")
		w.leap(31 * time.Minute)
		w.want(after.String(), want)
	}
}

// TestSearchBlockedAtAFailedReload is told of on, where a configuration was loaded of which
// another part could not be started, and ends an hour after one that runs.
func TestSearchBlockedAtAFailedReload(t *testing.T) {
	w := newWorld(t)
	w.answer("a.test", "enforce", 200, rules)
	w.leap(time.Minute)
	w.RecordBlock(googlebot(verify.Verified))
	w.leap(time.Minute)
	load := func() (end func()) {
		ctx, end := context.WithCancel(t.Context())
		told := make(chan bool, 100)
		w.Watch(ctx, func(List) { told <- true })
		<-told
		return end
	}
	load()()
	for n := 1; n > 0; time.Sleep(time.Millisecond) { // until it has ended
		w.mu.Lock()
		n = len(w.watchers)
		w.mu.Unlock()
	}
	w.leap(2 * time.Hour)
	w.want("after a load that failed", "open critical search_blocked")
	defer load()()
	w.leap(2 * time.Hour)
	w.want("after another", "over critical search_blocked")
}

// TestSearchCure checks the texts for each kind of client, and that the page and the
// Prometheus rules say the same.
func TestSearchCure(t *testing.T) {
	for _, tc := range []struct {
		crawler     string
		identity    verify.State
		title, line string
	}{
		{"Googlebot", verify.Verified, "Googlebot is blocked at a.test", "only_log verified Googlebot"},
		{"Googlebot", verify.Claimed, "A client that claims to be Googlebot is blocked at a.test", "only_log Googlebot"},
		{"Big Bot", verify.Verified, "Big Bot is blocked at a.test", `only_log verified "Big Bot"`},
		{judge.OtherName, verify.Verified, "A search engine is blocked at a.test", "only_log verified search"},
		{judge.OtherName, verify.Unknown, "A client that claims to be a search engine is blocked at a.test", "only_log search"},
	} {
		x := blockRecord{Block: googlebot(tc.identity)}
		x.Crawler = tc.crawler
		if a := x.alert(Warning); a.Title != tc.title || a.Remedy != searchRemedy || a.RemedySnippet != tc.line || strings.Contains(a.Detail, judge.OtherName) {
			t.Errorf("%s, %s: %+v", tc.crawler, tc.identity, a)
		}
	}
	cure := strings.TrimSuffix(searchRemedy, ".")
	const crawler = `{{ if eq $labels.crawler "_other" }}search{{ else }}{{ $labels.crawler }}{{ end }}`
	for file, texts := range map[string][]string{
		"../dashboard/assets/todo.js": {cure, "only_log ${"},
		"../../examples/dashboards/prometheus/alerts.yml": {
			cure + ": only_log verified " + crawler, cure + ": only_log " + crawler,
		},
	} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if !strings.Contains(string(content), text) {
				t.Errorf("%s does not say %q", file, text)
			}
		}
	}
}
