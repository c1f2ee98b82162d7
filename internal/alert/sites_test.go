package alert

import (
	"strings"
	"testing"
	"time"
)

const (
	rules  = "User-agent: *\nDisallow: /private/\n"
	others = "User-agent: *\nDisallow: /drafts/\n"
	closes = "User-agent: *\nDisallow: /\n"
	page   = "<!DOCTYPE html>\n<title>an app</title>\n"
)

// TestSites follows the robots.txt of a site from one answer to the next.
func TestSites(t *testing.T) {
	type step struct {
		status int
		text   string
		after  time.Duration
		want   string
	}
	for name, tc := range map[string]struct {
		mode  string
		steps []step
	}{
		"all is well": {"enforce", []step{{200, rules, time.Hour, ""}, {200, rules, time.Hour, ""}}},
		"gone in enforce, for as long as that is so": {"enforce", []step{
			{200, rules, time.Hour, ""}, {404, "", 0, "open critical robots_gone"}, {404, "", 30 * 24 * time.Hour, "open critical robots_gone"},
			{200, rules, time.Minute, "open info robots_changed, over critical robots_gone"},
		}},
		"gone in monitor, for a week": {"monitor", []step{
			{200, rules, time.Hour, ""}, {404, "", 0, "open warning robots_gone"}, {404, "", 6 * 24 * time.Hour, "open warning robots_gone"},
			{404, "", 2 * 24 * time.Hour, "over warning robots_gone"},
		}},
		"HTML":                     {"enforce", []step{{200, rules, time.Hour, ""}, {200, page, 0, "open critical robots_gone"}}},
		"emptied":                  {"enforce", []step{{200, rules, time.Hour, ""}, {200, "", 0, "open critical robots_gone"}}},
		"gone by way of an error":  {"enforce", []step{{200, rules, time.Hour, ""}, {200, page, time.Hour, "open critical robots_gone"}, {404, "", 0, "open critical robots_gone, over critical robots_gone"}}},
		"opened on purpose":        {"enforce", []step{{200, rules, time.Hour, ""}, {200, "User-agent: *\nDisallow:\n", 0, "open warning not_protecting, open info robots_changed"}}},
		"never had rules":          {"enforce", []step{{404, "", 0, "open warning not_protecting"}, {200, rules, 0, "open info robots_changed, over warning not_protecting"}}},
		"never had rules, monitor": {"monitor", []step{{404, "", 0, ""}}},
		"closed":                   {"monitor", []step{{200, rules, time.Hour, ""}, {200, closes, 0, "open critical robots_closes"}, {200, closes, 8 * 24 * time.Hour, "over critical robots_closes"}}},
		"closed, then edited": {"monitor", []step{
			{200, rules, time.Hour, ""}, {200, closes, time.Hour, "open critical robots_closes"}, {200, "# edited\n" + closes, time.Hour, "open critical robots_closes"},
			{200, closes + "Disallow: /x\n", time.Hour, "open critical robots_closes"}, {200, others, 0, "open info robots_changed, over critical robots_closes"},
		}},
		"closed long before an edit": {"monitor", []step{{200, rules, time.Hour, ""}, {200, closes, 8 * 24 * time.Hour, ""}, {200, "# edited\n" + closes, 25 * time.Hour, ""}}},
		"another comment":            {"monitor", []step{{200, "# 12:00\n" + rules, time.Hour, ""}, {200, "# 13:00\n" + rules, 0, ""}}},
		"other rules, then another comment": {"monitor", []step{
			{200, rules, time.Hour, ""}, {200, others, time.Hour, "open info robots_changed"}, {200, "# 14:00\n" + others, time.Hour, "open info robots_changed"},
			{200, "# 15:00\n" + others, 23 * time.Hour, "over info robots_changed"},
		}},
		"one engine by name":         {"monitor", []step{{200, rules, time.Hour, ""}, {200, rules + "\nUser-agent: Baiduspider\nDisallow: /\n", 0, "open info robots_changed"}}},
		"closed but for one engine":  {"monitor", []step{{200, rules, time.Hour, ""}, {200, closes + "\nUser-agent: Googlebot\nAllow: /\n", 0, "open critical robots_closes"}}},
		"a staging site":             {"enforce", []step{{200, closes, time.Hour, ""}, {200, closes, time.Hour, ""}}},
		"changed, for a day":         {"monitor", []step{{200, rules, time.Hour, ""}, {200, others, 0, "open info robots_changed"}, {200, others, 25 * time.Hour, "over info robots_changed"}}},
		"unreachable for long":       {"monitor", []step{{200, rules, time.Hour, ""}, {503, "", 14 * time.Minute, ""}, {503, "", 2 * time.Minute, "open warning unreachable"}, {200, rules, 0, "over warning unreachable"}}},
		"unreachable for a moment":   {"monitor", []step{{200, rules, time.Hour, ""}, {503, "", 12 * time.Minute, ""}, {200, rules, 0, ""}}},
		"unreachable from the first": {"enforce", []step{{503, "", 16 * time.Minute, "open warning unreachable"}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for i, s := range tc.steps {
				w.leap(time.Minute)
				w.answer("a.test", tc.mode, s.status, s.text)
				w.leap(s.after)
				w.leap(2 * time.Second)
				w.want("step "+string(rune('1'+i)), s.want)
			}
			for _, a := range w.List().Alerts {
				if a.Site != "a.test" || a.Title == "" || a.Detail == "" || a.Remedy == "" || a.Since.IsZero() || a.Since.After(w.time) {
					t.Errorf("an alert lacks something: %+v", a)
				}
			}
		})
	}
}

// TestGoneTitle names what the guard gets instead of the rules. Only a missing file is gone.
func TestGoneTitle(t *testing.T) {
	for name, tc := range map[string]struct {
		status     int
		text, want string
	}{
		"no file":    {404, "", "The robots.txt of a.test is gone"},
		"refused":    {403, "", "The robots.txt of a.test is refused with status 403"},
		"login":      {401, "", "The robots.txt of a.test is refused with status 401"},
		"a web page": {200, page, "The robots.txt of a.test has become a web page"},
		"empty":      {200, "", "The robots.txt of a.test has become empty"},
		"UTF-16":     {200, "\xff\xfeU\x00s\x00", "The robots.txt of a.test has become UTF-16, which crawlers cannot read"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.answer("a.test", "enforce", 200, rules)
			w.leap(time.Hour)
			w.answer("a.test", "enforce", tc.status, tc.text)
			w.leap(time.Minute)
			if a := w.only(); a.Kind != RobotsGone || a.Title != tc.want {
				t.Errorf("got %s %q, want %q", a.Kind, a.Title, tc.want)
			}
		})
	}
}

// TestChangeWithFindings says that lint has findings in a changed file. The parser does not know how
// many.
func TestChangeWithFindings(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"no finding":   {others, "Since 13:00 UTC the file has 1 rule, before that it had 1."},
		"one finding":  {others + "Disallow: drafts\n", "Since 13:00 UTC the file has 2 rules, before that it had 1. lint reports findings."},
		"two findings": {others + "Disallow: a\nDisallow: b\n", "Since 13:00 UTC the file has 3 rules, before that it had 1. lint reports findings."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.answer("a.test", "monitor", 200, rules)
			w.leap(time.Hour)
			w.answer("a.test", "monitor", 200, tc.text)
			w.leap(time.Minute)
			if a := w.only(); a.Kind != RobotsChanged || a.Detail != tc.want {
				t.Errorf("got %s %q, want %q", a.Kind, a.Detail, tc.want)
			}
		})
	}
}

// TestHeldBack tells of a change that waits, and not of the change.
func TestHeldBack(t *testing.T) {
	w := newWorld(t)
	w.answer("a.test", "enforce", 200, rules)
	w.leap(time.Hour)
	w.answer("a.test", "enforce", 200, others)
	l := w.sites["a.test"]
	l.HeldUntil = w.time.Add(time.Hour)
	w.sites["a.test"] = l
	w.leap(time.Minute)
	w.want("while it waits", "open warning waiting")
	if a := w.only(); a.RemedySnippet != "change_guard off" || !strings.Contains(a.Detail, "14:00 UTC") {
		t.Errorf("%+v", a)
	}
	w.leap(time.Hour)
	w.want("when it is in force", "open info robots_changed, over warning waiting")
}

// TestSharedSource tells once of a robots.txt that several sites share.
func TestSharedSource(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a.test", "b.test", "c.test"} {
		mode := "monitor"
		if name == "b.test" {
			mode = "enforce"
		}
		w.answer(name, mode, 404, "")
		l := w.sites[name]
		l.Source, l.Authority = "url", "https://shared.test/robots.txt?x=1&y"
		w.sites[name] = l
	}
	a := w.only()
	if a.Kind != NotProtecting || a.Site != "b.test" || !strings.Contains(a.Title, "b.test and 2 more") || a.RemedySnippet != "curl -i 'https://shared.test/robots.txt?x=1&y'" {
		t.Errorf("%+v", a)
	}
}

// TestUnguardedSite is a site that no configuration guards any longer.
func TestUnguardedSite(t *testing.T) {
	w := newWorld(t)
	w.answer("a.test", "enforce", 404, "")
	w.want("at first", "open warning not_protecting")
	l := w.sites["a.test"]
	l.Mode = ""
	w.sites["a.test"] = l
	w.leap(time.Minute)
	w.want("without a guard", "over warning not_protecting")
}
