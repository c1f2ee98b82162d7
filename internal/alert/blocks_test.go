package alert

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

func googlebot(identity verify.State) SearchBlock {
	return SearchBlock{BlockedSearchEngine: BlockedSearchEngine{Site: "a.test", Crawler: "Googlebot", Identity: identity}, Rule: "Disallow: /private/", Line: 2, Group: "*", Path: "/private/a"}
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
	if a.Severity != Critical || a.Remedy != searchRemedy || a.RemedySnippet != "only_log verified Googlebot" || a.Detail != `It is verified. Line 2, "Disallow: /private/" in the group User-agent: *, disallows /private/a. No group of the robots.txt names this crawler.` {
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
	loaded := w.time
	w.ledgerLoads[&loaded] = true
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
	for i := range 2 * MaxBlocks {
		w.leap(2 * time.Second)
		x := googlebot(verify.Claimed)
		x.Rule = fmt.Sprintf("Disallow: /%d", i)
		w.RecordBlock(x)
	}
	if len(w.blocks.byKey) != MaxBlocks {
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

// TestSearchBlockedInAReload blocks a search engine once more while the previous configuration ends. Only a
// later block is a block by the new configuration.
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
		loaded := w.time
		w.ledgerLoads[&loaded] = true
		w.leap(after)
		w.RecordBlock(googlebot(verify.Verified))
		w.leap(30 * time.Minute)
		w.want(after.String(), "open critical search_blocked")
		w.leap(31 * time.Minute)
		w.want(after.String(), want)
	}
}

// TestSearchBlockedAtAFailedReload keeps an alert open after a configuration that never ran, and ends the
// alert an hour after a configuration that runs.
func TestSearchBlockedAtAFailedReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.answer("a.test", "enforce", 200, rules)
		w.leap(time.Minute)
		w.RecordBlock(googlebot(verify.Verified))
		w.leap(time.Minute)
		failed, end := context.WithCancel(t.Context())
		w.Watch(failed)
		end()
		synctest.Wait()
		w.leap(2 * time.Hour)
		w.want("after a failed load", "open critical search_blocked")
		running, end := context.WithCancel(t.Context())
		w.Watch(running)
		synctest.Wait()
		w.leap(2 * time.Hour)
		w.want("after another load", "over critical search_blocked")
		end()
	})
}

// TestBlockedSearchEngines returns the last block by site, crawler and identity, for the metric.
func TestBlockedSearchEngines(t *testing.T) {
	w := newWorld(t)
	w.RecordBlock(googlebot(verify.Verified))
	w.RecordBlock(googlebot(verify.Claimed))
	w.time = w.time.Add(time.Minute)
	other := googlebot(verify.Verified)
	other.Rule = "Disallow: /other/"
	w.RecordBlock(other)
	want := map[BlockedSearchEngine]time.Time{googlebot(verify.Verified).BlockedSearchEngine: w.time, googlebot(verify.Claimed).BlockedSearchEngine: start}
	if got := w.BlockedSearchEngines(); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	w.pass(2 * time.Hour)
	if got := w.BlockedSearchEngines(); len(got) != 1 {
		t.Errorf("two hours later: %v", got)
	}
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
		x := blockRecord{SearchBlock: googlebot(tc.identity)}
		x.Crawler = tc.crawler
		if a := x.newAlert(); a.Title != tc.title || a.Remedy != searchRemedy || a.RemedySnippet != tc.line || strings.Contains(a.Detail, judge.OtherName) {
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
