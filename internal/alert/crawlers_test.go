package alert

import (
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// come counts requests of a crawler.
func (w *world) come(n int, q ledger.Request) {
	q.At, q.Identity, q.Method, q.Site = w.time, verify.Claimed, "GET", "a.test"
	if q.Action == judge.Logged {
		q.WouldBlock = true
	}
	for range n {
		w.counted.Record(&q)
	}
}

// TestNewCrawler tells of who was not there before and comes often.
func TestNewCrawler(t *testing.T) {
	bot := func(token string) ledger.Request { return ledger.Request{Token: token, Class: uaident.GenericCrawler} }
	w := newWorld(t)
	w.come(5000, bot("Old-Bot")) // as far as anybody can tell: counting has just begun
	w.leap(time.Hour)
	w.want("at the start", "")
	w.leap(24 * time.Hour)
	w.come(999, bot("SmallBot"))
	w.come(5000, bot("Old-Bot"))
	w.come(1500, bot("New-Bot"))
	w.come(1500, ledger.Request{Token: "NewEngine", Class: uaident.Search})
	named := bot("NamedBot")
	named.NamedByRobots = true
	w.come(1500, named)
	own := bot(ledger.Other)
	own.Name = "its own/1 name"
	w.come(2000, own)
	w.leap(ledgerReadInterval)
	list := w.List().Alerts
	if len(list) != 1 || list[0].Crawler != "New-Bot" {
		t.Fatalf("%+v", list)
	}
	if list[0].RemedySnippet != "User-agent: New-Bot\nDisallow: /" || !strings.Contains(list[0].Detail, "1500 requests") {
		t.Errorf("%+v", list)
	}
	w.leap(8 * 24 * time.Hour)
	w.want("a week later", "over info new_crawler")
}

// TestReady tells of a site that was monitored for a week without harm.
func TestReady(t *testing.T) {
	const ready = "open info ready_for_enforce"
	rule := ledger.Rule{Text: "Disallow: /private/", Line: 2, Group: "*"}
	broken := ledger.Request{Token: "GPTBot", Class: uaident.AITraining, Verdict: judge.Disallowed, Action: judge.Logged, Rule: rule, Target: "/private/"}
	search, meant := broken, broken
	search.Token, search.Class = "bingbot", uaident.Search
	meant.Token, meant.Class, meant.Rule.Group = "bingbot", uaident.Search, "bingbot"
	preview := broken
	preview.Token, preview.Class = "Twitterbot", uaident.Preview
	owner := broken // a rule names it by its alias
	owner.Token, owner.Class, owner.Rule.Group = "OwnerBot", uaident.Search, "OwnerBot-News"
	registry, err := uaident.Default().WithCrawlers(uaident.Crawler{Token: "OwnerBot", Aliases: []string{"OwnerBot-News"}, Class: uaident.Search})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		mode, text string
		also       *ledger.Request
		want       string
	}{
		"monitored":                         {"monitor", rules, nil, ready},
		"enforced":                          {"enforce", rules, nil, ""},
		"nothing to enforce":                {"monitor", "User-agent: *\nDisallow:\n", nil, ""},
		"a search engine would be blocked":  {"monitor", rules, &search, ""},
		"one that is named, and meant":      {"monitor", rules, &meant, ready},
		"a preview would be blocked":        {"monitor", rules, &preview, ""},
		"one of the owner's registry":       {"monitor", rules, &owner, ready},
		"nobody knows the mode, since long": {"", rules, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.crawlers = registry
			w.answer("a.test", tc.mode, 200, tc.text)
			w.come(10, broken)
			w.leap(6 * 24 * time.Hour)
			w.want("too early", "")
			w.come(10, broken)
			if tc.also != nil {
				w.come(1, *tc.also)
			}
			w.leap(24*time.Hour + ledgerReadInterval)
			w.want("after a week", tc.want)
			if tc.want == "" {
				return
			}
			if a := w.only(); a.RemedySnippet != "robots_guard enforce" || !a.Since.Equal(start.Add(minMonitorTime)) {
				t.Errorf("%+v", a)
			}
			w.answer("a.test", "enforce", 200, tc.text)
			w.lastLedgerUpdate = time.Time{} // by Watch
			w.leap(time.Minute)
			w.want("when that is done", "over info ready_for_enforce")
		})
	}
}
