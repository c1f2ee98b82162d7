package publish

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestConfirmation publishes a change immediately if it allows all pages of search engines. Other
// changes wait for confirmation, also over a restart.
func TestConfirmation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := storetest.New()
		i := newInstance(t, storage, "one")
		i.load(disallow("GPTBot", "/a"))
		i.serves("/a")
		i.visits.Store(new([]ledger.CrawlerVisit{{Crawler: "Googlebot", GroupNames: []string{"Googlebot"}, WildcardApplies: true, Host: "a.test", Target: "/b/1"}}))
		i.load(disallow("*", "/b"))
		i.serves("/a")
		state, _ := i.History()
		if c := state.Pending; c == nil || len(c.Reasons) != 1 || c.Reasons[0] != "Googlebot may not fetch /b/1 any more, which it requested in the last 24 hours" {
			t.Fatalf("candidate %+v", c)
		}
		i.end()
		again := newInstance(t, storage, "one")
		again.load(disallow("*", "/b"))
		again.serves("/a")
		if _, err := again.ApplyAction(t.Context(), "confirm", "", ann); err != nil {
			t.Fatal(err)
		}
		again.serves("/b")
		state, _ = again.History()
		if p := state.Published; p.ConfirmedBy == nil || p.ConfirmedBy.User != "ann" || len(p.Difference) != 2 {
			t.Errorf("published %+v", p)
		}
	})
}

// TestReasons checks which changes need confirmation.
func TestReasons(t *testing.T) {
	sale := disallow("*")
	sale.ID, sale.From = "sale", "2030-01-01T00:00:00Z"
	visits := []ledger.CrawlerVisit{{Crawler: "Googlebot", GroupNames: []string{"Googlebot"}, WildcardApplies: true, Host: "b.test", Target: "/b/1"}}
	atB := disallow("*", "/b")
	atB.ID, atB.Hosts = "b", []string{"b.test"}
	later := disallow("GPTBot")
	later.ID, later.From, later.Hosts = "later", sale.From, []string{"b.test"}
	atWWW, atWildcard := disallow("Googlebot"), disallow("Googlebot")
	atWWW.ID, atWWW.Hosts = "x", []string{"www.example.com"}
	atWildcard.ID, atWildcard.Hosts = "x", []string{"*.example.com"}
	for name, test := range map[string]struct {
		base          string
		before, after []managed.Rule
		confirm       ConfirmationMode
		visits        []ledger.CrawlerVisit
		want          string // part of the first reason, or ""
		count         int    // number of reasons, 0 for any
	}{
		"training":                      {after: []managed.Rule{disallow("ai_training")}},
		"all of the site":               {after: []managed.Rule{disallow("*")}, want: "Googlebot, bingbot, YandexBot and "},
		"one engine":                    {after: []managed.Rule{disallow("bingbot")}, want: "bingbot may not fetch / any more"},
		"one engine, told once":         {after: []managed.Rule{disallow("bingbot"), later}, count: 1, want: "bingbot may not fetch / any more"},
		"forbidden before":              {base: "User-agent: *\nDisallow: /\n", after: []managed.Rule{disallow("*")}},
		"later":                         {after: []managed.Rule{sale}, want: "any more from 2030-01-01T00:00:00Z"},
		"the end of an exception":       {base: "User-agent: *\nDisallow: /\n", before: []managed.Rule{{ID: "allow", For: []string{"Googlebot"}, Allow: true}}, want: "Googlebot may not"},
		"a page nobody asked for":       {after: []managed.Rule{disallow("*", "/b")}},
		"a page that was served":        {after: []managed.Rule{disallow("*", "/b")}, visits: visits, want: "Googlebot may not fetch /b/1 any more, which"},
		"at another host":               {after: []managed.Rule{{ID: "a", For: []string{"*"}, Paths: []string{"/b"}, Hosts: []string{"a.test"}}}, visits: visits, want: ""},
		"at its host":                   {after: []managed.Rule{atB}, visits: visits, want: "Googlebot may not fetch /b/1"},
		"from www to a wildcard":        {before: []managed.Rule{atWWW}, after: []managed.Rule{atWildcard}, want: "Googlebot may not fetch / any more at *.example.com"},
		"off":                           {after: []managed.Rule{disallow("*")}, confirm: ConfirmOff},
		"any, and something":            {after: []managed.Rule{disallow("GPTBot")}, confirm: ConfirmAny, want: "the file changes"},
		"any, and nothing":              {before: []managed.Rule{disallow("GPTBot")}, after: []managed.Rule{disallow("GPTBot")}, confirm: ConfirmAny},
		"a class that includes search":  {after: []managed.Rule{disallow("search", "/x")}, visits: visits},
		"Googlebot's group for others":  {after: []managed.Rule{disallow("Googlebot-Image")}, want: "Googlebot-Image may not fetch / any more"},
		"more of what was never served": {before: []managed.Rule{disallow("*", "/c")}, after: []managed.Rule{disallow("*", "/c", "/a")}, visits: visits},
	} {
		t.Run(name, func(t *testing.T) {
			if test.confirm == "" {
				test.confirm = ConfirmSearch
			}
			r := New(Config{
				Schedule: newSchedule(t, test.after...), Registry: uaident.Default(), ConfirmationMode: test.confirm, Now: func() time.Time { return time.Date(2029, 6, 1, 0, 0, 0, 0, time.UTC) },
				NewBaseLookup: func() func(string) []byte { return func(string) []byte { return []byte(test.base) } },
				Visits:        func() []ledger.CrawlerVisit { return test.visits }, FetchedSince: nobodyReads,
			})
			reasons := r.confirmationReasons(newSchedule(t, test.before...), r.latestSubmission, false)
			if (test.want == "") != (len(reasons) == 0) || len(reasons) > 0 && !strings.Contains(reasons[0], test.want) {
				t.Errorf("got %q", reasons)
			}
			if test.count > 0 && len(reasons) != test.count {
				t.Errorf("%d reasons, want %d: %q", len(reasons), test.count, reasons)
			}
		})
	}
}

// TestStagingIsConfirmed needs no confirmation if the first configuration is staging. A later change
// to staging waits.
func TestStagingIsConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		staging := managed.Spec{StagingHosts: []string{managed.AllHosts}}
		first := newInstance(t, storetest.New(), "one")
		first.loadSchedule(scheduleOf(t, staging))
		if text := first.text("a.test"); text != managed.Staging {
			t.Errorf("from the beginning: %q", text)
		}
		first.end()
		later := newInstance(t, storetest.New(), "one")
		later.load(disallow("GPTBot", "/a"))
		later.loadSchedule(scheduleOf(t, staging))
		later.serves("/a")
		if s, _ := later.History(); s.Pending == nil || !strings.Contains(s.Pending.Reasons[0], "Googlebot, bingbot") {
			t.Errorf("got %+v", s.Pending)
		}
	})
}

// TestRollbackHolds checks that a rollback survives a reload of the same configuration, and applies
// at the other instance. A different configuration ends it.
func TestRollbackHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := storetest.New()
		one, two := newInstance(t, storage, "one"), newInstance(t, storage, "two")
		one.load(disallow("GPTBot", "/a"))
		two.load(disallow("GPTBot", "/a"))
		one.load(disallow("GPTBot", "/b"))
		one.serves("/b")
		two.serves("/a")
		time.Sleep(readInterval)
		synctest.Wait()
		two.serves("/b") // from the history, not from its configuration
		if _, err := one.ApplyAction(t.Context(), "rollback", "", ann); err != nil {
			t.Fatal(err)
		}
		one.serves("/a")
		one.load(disallow("GPTBot", "/b"))
		one.serves("/a")
		two.load(disallow("GPTBot", "/b"))
		two.serves("/a")
		two.load(disallow("GPTBot", "/c"))
		two.serves("/c")
		time.Sleep(readInterval)
		synctest.Wait()
		one.serves("/c")
	})
}

// TestRolloutByHosts serves a change at some hosts until the time of the trial is over.
func TestRolloutByHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstance(t, storetest.New(), "one")
		i.load(disallow("GPTBot", "/a"))
		i.rollout = Rollout{State: Canary, Hosts: []string{"b.test"}, Seconds: 3600}
		i.load(disallow("GPTBot", "/b"))
		i.serves("/a")
		if text := i.text("b.test"); !strings.Contains(text, "Disallow: /b\n") {
			t.Errorf("b.test is served %q", text)
		}
		time.Sleep(time.Hour - time.Second)
		synctest.Wait()
		i.serves("/a")
		time.Sleep(time.Second)
		synctest.Wait()
		i.serves("/b")
		i.load(disallow("GPTBot", "/c"))
		if _, err := i.ApplyAction(t.Context(), "stop", "", ann); err != nil {
			t.Fatal(err)
		}
		if text := i.text("b.test"); strings.Contains(text, "Disallow: /c\n") {
			t.Errorf("after the stop b.test is served %q", text)
		}
		want := []State{Published, Canary, Published, Canary, Rejected}
		if !slices.Equal(i.news.news, want) {
			t.Errorf("told %v", i.news.news)
		}
	})
}

// TestStorageDown breaks the storage. A request then waits at most two seconds, and receives rules
// that need no confirmation. After a reload the published rules stay. The pending rules are submitted
// when the storage works again.
func TestStorageDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("down")
		storage := storetest.New()
		storage.SetErr(down)
		i := newInstance(t, storage, "one")
		i.load(disallow("GPTBot", "/a"))
		start := time.Now()
		i.serves("/a")
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("the first request took %v", took)
		}
		i.end()
		closes := newInstance(t, storage, "two")
		closes.load(disallow("*", "/c"), disallow("bingbot"))
		closes.serves()
		storage.SetErr(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if s, _ := closes.History(); s.Pending == nil {
			t.Error("nothing waits although the storage answers")
		}
		if _, err := closes.ApplyAction(t.Context(), "confirm", "", ann); err != nil {
			t.Fatal(err)
		}
		closes.serves("/c")
		storage.SetErr(down)
		closes.load(disallow("GPTBot", "/b"))
		closes.serves("/c")
		storage.SetErr(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		closes.serves("/b")
	})
}

// TestFailedLoad ends configurations that never ran, or whose submission was not stored. They must
// not change anything.
func TestFailedLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := storetest.New()
		i := newInstance(t, storage, "one")
		i.load(disallow("GPTBot", "/a"))
		config := i.Config
		config.Schedule, config.IsRunning = newSchedule(t, disallow("GPTBot", "/b")), func() bool { return false }
		fails := New(config)
		end := fails.Begin(i.place)
		time.Sleep(time.Minute)
		end()
		i.serves("/a")
		if state, _ := i.History(); state.ChangeCount != 1 {
			t.Errorf("%d changes", state.ChangeCount)
		}
	})
}
