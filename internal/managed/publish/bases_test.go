package publish

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// ownText is the site's own robots.txt, with a lifetime of one minute.
type ownText struct{ text atomic.Value }

func (o *ownText) Prepare(*http.Request, policy.Key) (site.FetchFunc, bool) {
	return func(context.Context, *policy.Version) policy.FetchResult {
		text := o.text.Load().(string)
		if text == "" {
			return policy.FetchResult{Status: http.StatusNotFound, Header: http.Header{"Cache-Control": {"max-age=60"}}}
		}
		return policy.FetchResult{Status: http.StatusOK, Body: []byte(text), Header: http.Header{"Cache-Control": {"max-age=60"}}}
	}, true
}

// with sets the base of an instance.
func (i *instance) with(source *ownText) *instance {
	i.source = source
	return i
}

// read makes crawler requests until the base was fetched again and checked.
func (i *instance) read() { i.readAt("a.test") }

// readAt does the same as read for a host.
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

// says checks the served line of the base next to the rule.
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

// TestNewBaseCountsAtOnce serves a new base immediately, even if it disallows the site. A new base is
// not a change of the rules.
func TestNewBaseCountsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := newText(open)
		i := newInstance(t, storetest.New(), "one").with(own)
		i.load(disallow("GPTBot", "/a"))
		i.says("/o")
		own.text.Store(closed)
		i.read()
		i.says("/")
		if state, _ := i.History(); state.Pending != nil || state.ChangeCount != 1 {
			t.Errorf("%d changes, candidate %+v", state.ChangeCount, state.Pending)
		}
	})
}

// TestRulesThatUncoverABase publishes rules that allow what the base disallows. A configuration
// without these rules waits for confirmation, even without recent requests of search engines.
func TestRulesThatUncoverABase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstance(t, storetest.New(), "one").with(newText("User-agent: *\nDisallow: /\n"))
		opens := managed.Rule{ID: "open", For: []string{"*"}, Allow: true, Paths: []string{"/"}}
		i.load(opens)
		i.read()
		i.load(opens, disallow("GPTBot", "/a"))
		i.read()
		if state, _ := i.History(); state.Pending != nil {
			t.Fatalf("it waits though nothing is closed: %+v", state.Pending)
		}
		i.load(disallow("GPTBot", "/a"))
		i.read()
		state, _ := i.History()
		if c := state.Pending; c == nil || c.State != Waiting || !strings.Contains(strings.Join(c.Reasons, " "), "may not fetch / any more") {
			t.Errorf("%+v", c)
		}
	})
}

// TestRulesThatMayUncoverABase repeats the test with an instance that has not fetched the base. An
// unknown base is treated as one that disallows everything.
func TestRulesThatMayUncoverABase(t *testing.T) {
	opens := func(who string) managed.Rule {
		return managed.Rule{ID: "open", For: []string{who}, Allow: true, Paths: []string{"/"}}
	}
	for name, test := range map[string]struct {
		before, after []managed.Rule
		confirm       ConfirmationMode
		waits         bool
	}{
		"opened no more":              {before: []managed.Rule{opens("*")}, after: []managed.Rule{disallow("GPTBot", "/a")}, waits: true},
		"one search engine no more":   {before: []managed.Rule{opens("bingbot")}, after: []managed.Rule{disallow("GPTBot", "/a")}, waits: true},
		"another crawler no more":     {before: []managed.Rule{opens("GPTBot")}, after: []managed.Rule{disallow("CCBot", "/a")}},
		"opened still":                {before: []managed.Rule{opens("*")}, after: []managed.Rule{opens("*"), disallow("GPTBot", "/a")}},
		"never opened":                {before: []managed.Rule{disallow("bingbot", "/a")}, after: []managed.Rule{disallow("bingbot", "/b")}},
		"opened now":                  {before: []managed.Rule{disallow("bingbot", "/a")}, after: []managed.Rule{opens("*")}},
		"closed by rules":             {before: []managed.Rule{disallow("GPTBot", "/a")}, after: []managed.Rule{disallow("bingbot", "/")}, waits: true},
		"nothing has to be confirmed": {before: []managed.Rule{opens("*")}, after: []managed.Rule{disallow("GPTBot", "/a")}, confirm: ConfirmOff},
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
				if state, _ := two.History(); (state.Pending != nil) != test.waits {
					t.Errorf("it waits: %t, want %t: %+v", state.Pending != nil, test.waits, state.Pending)
				}
			})
		})
	}
}
