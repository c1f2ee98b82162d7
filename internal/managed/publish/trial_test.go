package publish

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
)

// trials records the trials of an instance.
type trials struct {
	mu    sync.Mutex
	texts map[string]string // files on trial at a.test, by source
	users map[string]int    // number of users of a trial

	changed int // number of changed files
}

// tried returns the files on trial, by source.
func (t *trials) tried() map[string]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.texts)
}

func (t *trials) StartTrial(c *shadow.File) (end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.Has("a.test") && !c.Has("b.test") {
		t.texts[c.Source] = string(c.Fetch("a.test").Body)
	}
	if t.users == nil {
		t.users = make(map[string]int)
	}
	t.users[c.Source]++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.users[c.Source]--; t.users[c.Source] == 0 {
			delete(t.texts, c.Source)
		}
	}
}

func (t *trials) ExpireCopies(func(string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.changed++
}

// requested returns a visit of a search engine at a.test.
func requested(crawler, target string) []ledger.CrawlerVisit {
	return []ledger.CrawlerVisit{{Crawler: crawler, GroupNames: []string{crawler}, WildcardApplies: true, Host: "a.test", Target: ledger.RawText(target)}}
}

// TestShadow compares a change with the published file, and publishes the change after the trial. The
// trial fails if the change disallows a search engine.
func TestShadow(t *testing.T) { testTrial(t, Rollout{State: Shadow}) }

// TestHostsStop repeats the test with a canary.
func TestHostsStop(t *testing.T) {
	testTrial(t, Rollout{State: Canary, Hosts: []string{"b.test"}})
}

// testTrial runs trials of six hours.
func testTrial(t *testing.T, rollout Rollout) {
	const hour = time.Hour
	rollout.Seconds = 6 * 3600
	for name, test := range map[string]struct {
		requested []ledger.CrawlerVisit
		confirm   bool // a person has confirmed the change
		stops     bool
		why       string
	}{
		"nothing came":             {},
		"a page that stays":        {requested: requested("bingbot", "/c")},
		"a page of another engine": {requested: requested("Googlebot", "/b/1")},
		"a page that is lost":      {requested: requested("bingbot", "/b/1"), stops: true, why: "bingbot may not fetch /b/1 any more, which it requested in the last 24 hours"},
		"and it was confirmed":     {requested: requested("bingbot", "/b/1"), confirm: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newInstance(t, storetest.New(), "one")
				i.trials = &trials{texts: make(map[string]string)}
				i.load(disallow("GPTBot", "/a"))
				i.rollout = rollout
				i.confirm = ConfirmOff
				if test.confirm {
					i.confirm = ConfirmAny
				}
				i.load(disallow("GPTBot", "/a"), disallow("bingbot", "/b"))
				if test.confirm {
					if len(i.trials.tried()) > 0 {
						t.Error("it is tried before it is confirmed")
					}
					if _, err := i.ApplyAction(t.Context(), "confirm", "", ann); err != nil {
						t.Fatal(err)
					}
				}
				state, _ := i.History()
				if text := i.trials.tried()["change "+state.Pending.ID]; !strings.Contains(text, "Disallow: /b") {
					t.Errorf("tried is %q", i.trials.tried())
				}
				i.serves("/a")
				i.visits.Store(new(test.requested))
				time.Sleep(5 * hour)
				synctest.Wait()
				state, _ = i.History()
				if stopped := state.Pending == nil; stopped != test.stops {
					t.Errorf("after 5 hours: %+v", state.Pending)
				}
				i.serves("/a")
				time.Sleep(hour + time.Minute)
				synctest.Wait()
				state, _ = i.History()
				if test.stops {
					change := &state.Past[0]
					i.serves("/a")
					if change.State != Rejected || change.EndedBy.Reason != test.why {
						t.Errorf("it has ended as %s: %+v", change.State, change.EndedBy)
					}
				} else {
					i.serves("/a", "/b")
				}
				if len(i.trials.tried()) > 0 {
					t.Errorf("still tried are %v", i.trials.tried())
				}
				if !slices.Contains(i.news.news, rollout.State) || slices.Contains(i.news.news, Rejected) != test.stops {
					t.Errorf("the news are %v", i.news.news)
				}
			})
		})
	}
}

// TestShadowEndsWithItsConfiguration checks that no trial continues after its configuration.
func TestShadowEndsWithItsConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstance(t, storetest.New(), "one")
		i.trials = &trials{texts: make(map[string]string)}
		i.load(disallow("GPTBot", "/a"))
		i.rollout = Rollout{State: Shadow, Seconds: 3600}
		i.load(disallow("GPTBot", "/b"))
		if len(i.trials.tried()) != 1 {
			t.Errorf("tried are %v", i.trials.tried())
		}
		i.end()
		if len(i.trials.tried()) != 0 {
			t.Errorf("at the end are tried %v", i.trials.tried())
		}
	})
}

// TestWithoutItsTrial loads a change without a trial after its trial has rejected it. The change is
// then published. The same configuration with a trial does not publish it, nor does a change that a
// person rejected.
func TestWithoutItsTrial(t *testing.T) {
	for _, by := range []string{"trial", "ann"} {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newInstance(t, storetest.New(), "one")
				i.trials = &trials{texts: make(map[string]string)}
				i.load(disallow("GPTBot", "/a"))
				i.rollout = Rollout{State: Shadow, Seconds: 6 * 3600}
				i.confirm = ConfirmOff
				rules := []managed.Rule{disallow("GPTBot", "/a"), disallow("bingbot", "/b")}
				i.load(rules...)
				if by == "trial" {
					i.visits.Store(new(requested("bingbot", "/b/1")))
					time.Sleep(time.Hour)
					synctest.Wait()
				} else if _, err := i.ApplyAction(t.Context(), "stop", "", ann); err != nil {
					t.Fatal(err)
				}
				i.load(rules...)
				if state, _ := i.History(); state.Pending != nil || state.Past[0].State != Rejected {
					t.Errorf("loaded again: %+v", state)
				}
				i.rollout, i.confirm = Rollout{}, ConfirmAny
				i.load(rules...)
				state, _ := i.History()
				if by == "ann" {
					if state.Pending != nil {
						t.Errorf("a person has given it up, and it is %+v", state.Pending)
					}
					i.serves("/a")
					return
				}
				if state.Pending == nil || state.Pending.State != Waiting || len(state.Pending.Difference) == 0 {
					t.Fatalf("it does not wait: %+v", state.Pending)
				}
				if _, err := i.ApplyAction(t.Context(), "confirm", "", ann); err != nil {
					t.Fatal(err)
				}
				i.serves("/a", "/b")
			})
		})
	}
}
