package release

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/publication"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// ownText is the site's own robots.txt, which may be kept for a minute.
type ownText struct{ text atomic.Value }

func (o *ownText) Prepare(*http.Request, policy.Key, origin.Witness) (origin.Fetch, bool) {
	return func(context.Context, *policy.Version) policy.Answer {
		text := o.text.Load().(string)
		if text == "" {
			return policy.Answer{Status: http.StatusNotFound, Header: http.Header{"Cache-Control": {"max-age=60"}}}
		}
		return policy.Answer{Status: http.StatusOK, Body: []byte(text), Header: http.Header{"Cache-Control": {"max-age=60"}}}
	}, true
}

// with gives an instance a base.
func (i *instance) with(source *ownText) *instance {
	i.source = source
	return i
}

// read has crawlers ask until the base was read again and judged.
func (i *instance) read() { i.readAt("a.test") }

// readAt is read for a host.
func (i *instance) readAt(host string) {
	for range 2 {
		i.text(host)
		time.Sleep(61 * time.Second)
		synctest.Wait()
	}
}

func newText(text string) *ownText {
	o := new(ownText)
	o.text.Store(text)
	return o
}

// says checks which of the site's own lines are served, with the rule beside them.
func (i *instance) says(want string) {
	i.t.Helper()
	text := i.text("a.test")
	if own := "User-agent: *\nDisallow: " + want + "\n"; !strings.Contains(text, own) || !strings.Contains(text, "User-agent: GPTBot\n") {
		i.t.Errorf("%s serves %q, want %q", i.name, text, own)
	}
}

const (
	open   = "User-agent: *\nDisallow: /o\n"
	closed = "User-agent: *\nDisallow: /\n"
)

// waits returns an instance whose site has closed itself to search engines since it was
// read first, with the site's own text.
func waits(t *testing.T, storage publication.Storage) (*instance, *ownText) {
	t.Helper()
	own := newText(open)
	i := newInstance(t, storage, "one").with(own)
	i.load(disallow("GPTBot", "/a"))
	i.says("/o")
	own.text.Store(closed)
	i.read()
	return i, own
}

// base returns the only base that waits or was refused.
func (i *instance) waitingBase() publication.BaseChange {
	i.t.Helper()
	state, _ := i.State()
	if len(state.Bases) != 1 {
		i.t.Fatalf("bases %+v", state.Bases)
	}
	return state.Bases[0]
}

// A new base that closes the site to search engines waits, over a reload, a restart and
// at the other instance, until somebody confirms it.
func TestBaseWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, own := storetest.New(), newText(open)
		one, two := newInstance(t, storage, "one").with(own), newInstance(t, storage, "two").with(own)
		one.load(disallow("GPTBot", "/a"))
		two.load(disallow("GPTBot", "/a"))
		one.says("/o")
		two.says("/o")
		own.text.Store(closed)
		one.read()
		one.says("/o")
		b := one.waitingBase()
		if b.Stage != publication.Confirmation || !strings.Contains(b.Reasons[0], "Googlebot, bingbot, YandexBot and") || b.Sites[0] != "http://a.test" ||
			strings.Join(b.Difference, ";") != "- Disallow: /o;+ Disallow: /" {
			t.Errorf("waits: %+v", b)
		}
		two.visits = []ledger.Visit{{}} // of which nothing speaks against it
		two.read()
		two.says("/o")
		one.load(disallow("GPTBot", "/a"))
		one.read()
		one.says("/o")
		one.end()
		again := newInstance(t, storage, "one").with(own) // which has read no other base ever
		again.load(disallow("GPTBot", "/a"))
		again.says("/o")
		again.load(disallow("GPTBot", "/b"), disallow("CCBot", "/c"))
		again.says("/o")
		if state, _ := again.State(); state.Candidate != nil {
			t.Errorf("other rules are compared with the base that waits: %+v", state.Candidate)
		}
		if _, err := again.Act(t.Context(), "confirm", "", ann); err != nil {
			t.Fatal(err)
		}
		again.says("/")
		two.says("/o")
		two.read()
		two.says("/")
		again.read()
		again.says("/")
		if b := two.waitingBase(); b.Stage != publication.BaseConfirmed || b.Confirmed.Who != "ann" {
			t.Errorf("confirmed: %+v", b)
		}
		again.end()
		two.end()
	})
}

// What is refused stays so without asking again, until the base is another one.
func TestBaseIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, own := waits(t, storetest.New())
		if _, err := i.Act(t.Context(), "stop", "", ann); err != nil {
			t.Fatal(err)
		}
		i.read()
		i.says("/o")
		if b := i.waitingBase(); b.Stage != publication.BaseStopped {
			t.Errorf("refused: %+v", b)
		}
		if _, err := i.Act(t.Context(), "confirm", "", ann); !errors.Is(err, publication.ErrNoCandidate) {
			t.Errorf("confirmed with %v", err)
		}
		own.text.Store(closed + "Disallow: /o\n")
		i.read()
		i.says("/o")
		if b := i.waitingBase(); b.Stage != publication.Confirmation {
			t.Errorf("another one: %+v", b)
		}
		own.text.Store(open + "Disallow: /p\n")
		i.read()
		i.says("/o\nDisallow: /p")
		if state, _ := i.State(); len(state.Bases) != 0 || state.History[0].End != publication.Withdrawn {
			t.Errorf("a good base: %+v", state.Bases)
		}
		i.end()
	})
}

// What is looked for in a base goes by the option, and pages count that were served.
func TestReasonsOfBases(t *testing.T) {
	visits := []ledger.Visit{{Crawler: "Googlebot", Chain: []string{"Googlebot"}, Wildcard: true, Host: "a.test", Target: "/o/1"}}
	for name, test := range map[string]struct {
		before, after string
		confirm       Confirm
		visits        []ledger.Visit
		want          string // a part of the reason, "" for none
	}{
		"a page that nobody asked for": {before: "", after: open},
		"a page that was served":       {before: "", after: open, visits: visits, want: "Googlebot may not fetch /o/1 any more"},
		"opened":                       {before: closed, after: open, visits: visits},
		"gone":                         {before: closed, after: ""},
		"for others":                   {before: open, after: open + "\nUser-agent: CCBot\nDisallow: /\n"},
		"any":                          {before: open, after: open + "\nUser-agent: CCBot\nDisallow: /\n", confirm: Any, want: "the text changes"},
		"off":                          {before: open, after: closed, confirm: Off},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				own := newText(test.before)
				i := newInstance(t, storetest.New(), "one").with(own)
				if i.visits = test.visits; test.confirm != "" {
					i.confirm = test.confirm
				}
				i.load(disallow("GPTBot", "/a"))
				if state, _ := i.State(); state.Candidate != nil {
					if _, err := i.Act(t.Context(), "confirm", "", ann); err != nil {
						t.Fatal(err)
					}
				}
				i.text("a.test")
				own.text.Store(test.after)
				i.read()
				state, _ := i.State()
				if (test.want == "") != (len(state.Bases) == 0) {
					t.Fatalf("bases %+v", state.Bases)
				}
				if test.want != "" && !strings.Contains(state.Bases[0].Reasons[0], test.want) {
					t.Errorf("reasons %q", state.Bases[0].Reasons)
				}
				if text := i.text("a.test"); test.want == "" && !strings.Contains(text, test.after) {
					t.Errorf("served %q", text)
				}
				i.end()
			})
		})
	}
}

// TestRulesThatUncoverABase has rules open what the site's own text closes: rules without
// that wait, also where no search engine has come lately.
func TestRulesThatUncoverABase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstance(t, storetest.New(), "one").with(newText("User-agent: *\nDisallow: /\n"))
		opens := managed.Rule{ID: "open", For: []string{"*"}, Allow: true, Paths: []string{"/"}}
		i.load(opens)
		i.read()
		i.load(opens, disallow("GPTBot", "/a"))
		i.read()
		if state, _ := i.State(); state.Candidate != nil {
			t.Fatalf("it waits though nothing is closed: %+v", state.Candidate)
		}
		i.load(disallow("GPTBot", "/a"))
		i.read()
		state, _ := i.State()
		if c := state.Candidate; c == nil || c.Stage != publication.Confirmation || !strings.Contains(strings.Join(c.Reasons, " "), "may not fetch / any more") {
			t.Errorf("%+v", c)
		}
		i.end()
	})
}

// TestRulesThatMayUncoverABase has the same rules come from a process that has not read what
// the site's own text closes: it is not taken for one that closes nothing.
func TestRulesThatMayUncoverABase(t *testing.T) {
	opens := func(who string) managed.Rule {
		return managed.Rule{ID: "open", For: []string{who}, Allow: true, Paths: []string{"/"}}
	}
	for name, test := range map[string]struct {
		before, after []managed.Rule
		confirm       Confirm
		waits         bool
	}{
		"opened no more":              {before: []managed.Rule{opens("*")}, after: []managed.Rule{disallow("GPTBot", "/a")}, waits: true},
		"one search engine no more":   {before: []managed.Rule{opens("bingbot")}, after: []managed.Rule{disallow("GPTBot", "/a")}, waits: true},
		"another crawler no more":     {before: []managed.Rule{opens("GPTBot")}, after: []managed.Rule{disallow("CCBot", "/a")}},
		"opened still":                {before: []managed.Rule{opens("*")}, after: []managed.Rule{opens("*"), disallow("GPTBot", "/a")}},
		"never opened":                {before: []managed.Rule{disallow("bingbot", "/a")}, after: []managed.Rule{disallow("bingbot", "/b")}},
		"opened now":                  {before: []managed.Rule{disallow("bingbot", "/a")}, after: []managed.Rule{opens("*")}},
		"closed by rules":             {before: []managed.Rule{disallow("GPTBot", "/a")}, after: []managed.Rule{disallow("bingbot", "/")}, waits: true},
		"nothing has to be confirmed": {before: []managed.Rule{opens("*")}, after: []managed.Rule{disallow("GPTBot", "/a")}, confirm: Off},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := storetest.New()
				one, two := newInstance(t, storage, "one").with(newText(closed)), newInstance(t, storage, "two").with(newText(closed))
				if test.confirm != "" {
					two.confirm = test.confirm
				}
				one.load(test.before...)
				one.read()
				two.load(test.after...)
				if state, _ := two.State(); (state.Candidate != nil) != test.waits {
					t.Errorf("it waits: %t, want %t: %+v", state.Candidate != nil, test.waits, state.Candidate)
				}
				one.end()
				two.end()
			})
		})
	}
}
