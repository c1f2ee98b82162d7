package publish

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// TestReport checks the report of a pending, a published and a past change.
func TestReport(t *testing.T) {
	if got := new(Publisher).Report(); got == nil || len(got) != 0 {
		t.Errorf("before it has begun: %+v", got)
	}
	synctest.Test(t, func(t *testing.T) {
		i := newInstance(t, storetest.New(), "one")
		i.load(disallow("GPTBot", "/a"))
		i.serves("/a")
		i.visits.Store(new([]ledger.CrawlerVisit{{Crawler: "Googlebot", GroupNames: []string{"Googlebot"}, WildcardApplies: true, Host: "a.test", Target: "/b/1"}}))
		i.load(disallow("*", "/b"))
		i.serves("/a")
		says := func() string {
			var all []string
			for _, c := range i.Report() {
				all = append(all, fmt.Sprintf("%s %s reasons %d difference %t %q", c.State, c.Origin, len(c.Reasons), len(c.Difference) > 0, c.Decisions))
			}
			return strings.Join(all, "\n")
		}
		if got, want := says(), `waiting configuration reasons 1 difference true []
published configuration reasons 0 difference true []`; got != want {
			t.Errorf("while it waits:\n%s\nwant\n%s", got, want)
		}
		if _, err := i.ApplyAction(t.Context(), "confirm", "", ann); err != nil {
			t.Fatal(err)
		}
		i.serves("/b")
		said := fmt.Sprintf("[%q]", "confirmed by "+ann.User+": "+ann.Reason)
		if got, want := says(), `published configuration reasons 1 difference true `+said+`
superseded configuration reasons 0 difference true []`; got != want {
			t.Errorf("confirmed:\n%s\nwant\n%s", got, want)
		}
		if _, err := i.ApplyAction(t.Context(), "rollback", "", ann); err != nil {
			t.Fatal(err)
		}
		i.serves("/a")
		if got := says(); !strings.HasPrefix(got, "published rollback ") || !strings.Contains(got, "rolled back by "+ann.User) {
			t.Errorf("taken back:\n%s", got)
		}
	})
}

// TestWhoHasRead checks the recorded crawlers that fetched each published change, also after a
// restart.
func TestWhoHasRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := storetest.New()
		i := newInstance(t, storage, "one")
		i.load(disallow("GPTBot", "/a"))
		i.serves("/a")
		time.Sleep(time.Hour)
		i.reads = map[string]time.Time{"bingbot": time.Now(), "CCBot": time.Now().Add(-2 * time.Hour)}
		if got := i.FetchedBy(); strings.Join(got, " ") != "bingbot" {
			t.Errorf("read by %q", got)
		}
		time.Sleep(time.Minute)
		i.load(disallow("GPTBot", "/b"))
		i.serves("/b")
		if got := i.FetchedBy(); len(got) != 0 {
			t.Errorf("the next one is read by %q", got)
		}
		i.end()
		again := newInstance(t, storage, "one")
		again.load(disallow("GPTBot", "/b"))
		again.serves("/b")
		all := again.Report()
		if len(all) != 2 || len(all[0].FetchedBy) != 0 || strings.Join(all[1].FetchedBy, " ") != "bingbot" {
			t.Errorf("after a restart: %+v", all)
		}
		again.reads = make(map[string]time.Time)
		for n := range 30 {
			again.reads[fmt.Sprintf("bot%02d", n)] = time.Now()
		}
		if got := again.FetchedBy(); len(got) != 21 || got[20] != "10 more" {
			t.Errorf("many: %q", got)
		}
	})
}
