package release

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/publication"
	"github.com/robotsguard/caddy-robots-guard/internal/store/storetest"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// closesPage forbids what visited says that a search engine was served.
const closesPage = "User-agent: *\nDisallow: /p\n"

var visited = []ledger.Visit{{Crawler: "Googlebot", Chain: []string{"Googlebot"}, Wildcard: true, Host: "a.test", Target: "/p/1"}}

// A base that waits because of a page which only one instance knows to have been served waits
// at the other one, too, also once a confirmation of earlier is so old that it is forgotten.
func TestBaseWaitsElsewhereWhateverIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := storetest.New()
		one, own := waits(t, storage)
		if _, err := one.Act(t.Context(), "confirm", "", ann); err != nil {
			t.Fatal(err)
		}
		one.says("/")
		own.text.Store(open)
		one.read()
		two := newInstance(t, storage, "two").with(own)
		two.load(disallow("GPTBot", "/a"))
		two.says("/o")
		time.Sleep(24 * time.Hour)
		own.text.Store(closesPage)
		one.visits = visited
		one.read()
		two.read()
		one.says("/o")
		two.says("/o")
		one.end() // or it would be the first to forget it
		time.Sleep(2 * time.Hour)
		two.read()
		two.says("/o")
		two.end()
	})
}

// The same where the text waits at another site of the instance besides, of which nothing
// speaks against it.
func TestBaseThatGoesElsewhereWaitsWhereItDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, own := storetest.New(), newText(open)
		one, two := newInstance(t, storage, "one").with(own), newInstance(t, storage, "two").with(own)
		one.load(disallow("GPTBot", "/a"))
		two.load(disallow("GPTBot", "/a"))
		one.says("/o")
		two.says("/o")
		two.text("b.test")
		own.text.Store(closesPage)
		one.visits = visited
		one.read()
		one.says("/o")
		two.read()
		two.text("b.test")
		two.read()
		two.text("b.test")
		two.read()
		two.says("/o")
		one.end()
		two.end()
	})
}

// A text that waits, or was stopped, in the place of another one than an instance has under the
// rules does not come there either, also where nothing is known against it.
func TestBaseWaitsElsewhereInThePlaceOfAnotherText(t *testing.T) {
	for name, verb := range map[string]string{"waits": "", "was stopped": "stop"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage, own, other := storetest.New(), newText(open), newText("User-agent: *\nDisallow: /other\n")
				one, two := newInstance(t, storage, "one").with(own), newInstance(t, storage, "two").with(other)
				one.load(disallow("GPTBot", "/a"))
				two.load(disallow("GPTBot", "/a"))
				one.says("/o")
				two.says("/other")
				own.text.Store(closesPage)
				one.visits = visited
				one.read()
				if verb != "" {
					if _, err := one.Act(t.Context(), verb, "", ann); err != nil {
						t.Fatal(err)
					}
				}
				before := one.waitingBase()
				other.text.Store(closesPage)
				two.read()
				time.Sleep(publication.BaseInterval)
				two.read()
				one.read()
				one.says("/o")
				two.says("/other")
				if b := one.waitingBase(); b.Number != before.Number || b.Stage != before.Stage || len(b.Reasons) != 1 {
					t.Errorf("stored: %+v, before: %+v", b, before)
				}
				one.end()
				two.end()
			})
		})
	}
}

// A process that begins while the history cannot be read finds a base stored that waited, and
// in whose place another one waits by now: neither is under the rules once it can be.
func TestBaseThatWaitedBeforeTheHistoryIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := storetest.New()
		one, own := waits(t, storage)
		waited := own.text.Load()
		own.text.Store(closed + "Disallow: /o\n")
		time.Sleep(publication.BaseInterval)
		one.read()
		one.says("/o")
		if b := one.waitingBase(); b.Stage != publication.Confirmation {
			t.Errorf("stored: %+v", b)
		}
		two := newInstance(t, storage, "two").with(newText(waited.(string)))
		storage.Break(errors.New("no network"))
		two.load(disallow("GPTBot", "/a"))
		two.text("a.test")
		storage.Break(nil)
		time.Sleep(readInterval)
		two.read()
		two.says("/o")
		one.end()
		two.end()
	})
}

// A text that came under the rules of a site where nothing is known against it goes from there
// once another instance has it wait there, too, besides the site where it waits already.
func TestBaseThatWaitsAtOneMoreSite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, own := storetest.New(), newText(open)
		one, two := newInstance(t, storage, "one").with(own), newInstance(t, storage, "two").with(own)
		one.load(disallow("GPTBot", "/a"))
		two.load(disallow("GPTBot", "/a"))
		for _, i := range []*instance{one, two} {
			i.text("a.test")
			i.text("b.test")
		}
		own.text.Store(closesPage)
		one.visits = visited
		one.read()
		for range 2 {
			two.readAt("b.test")
		}
		if text := two.text("b.test"); !strings.Contains(text, "Disallow: /p\n") {
			t.Errorf("two serves %q before anything is known against that", text)
		}
		one.visits = append(slices.Clone(visited), ledger.Visit{Crawler: "Googlebot", Chain: []string{"Googlebot"}, Wildcard: true, Host: "b.test", Target: "/p/1"})
		for range 2 {
			one.readAt("b.test")
		}
		if b := one.waitingBase(); len(b.Sites) != 2 {
			t.Errorf("it waits at %q", b.Sites)
		}
		for range 2 {
			two.readAt("b.test")
		}
		if text := two.text("b.test"); !strings.Contains(text, "Disallow: /o\n") {
			t.Errorf("two serves %q", text)
		}
		one.end()
		two.end()
	})
}

// TestBaseIsHeldAtOnce notes at which sites a text waits although it need not at another one
// any more, where another instance had it wait.
func TestBaseIsHeldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInstance(t, storetest.New(), "one").with(newText(open))
		i.visits = visited
		i.load(disallow("GPTBot", "/a"))
		defer i.end()
		i.text("a.test")
		i.text("b.test")
		versionOf := func(text string) *policy.Version {
			return policy.VersionOf(policy.Answer{Status: http.StatusOK, Body: []byte(text)}, time.Now())
		}
		var same []managed.OtherBase
		for host, why := range map[string][]string{"a.test": {"Googlebot may not fetch /p/1 any more"}, "b.test": nil} {
			key := policy.Key{Site: host, Host: host}
			same = append(same, managed.OtherBase{Name: managed.NameOfBase(key), Key: key, Before: versionOf(open), After: versionOf(closesPage), Why: why})
		}
		if err := i.hold(t.Context(), same); err != nil {
			t.Fatal(err)
		}
		if b := i.waitingBase(); !slices.Equal(b.Sites, []string{"http://a.test"}) || len(b.Reasons) != 1 {
			t.Errorf("it waits at %q, since %q", b.Sites, b.Reasons)
		}
	})
}

// Two instances that find the same text at once, each in the place of another one, note that
// once, and not by turns.
func TestBaseIsFoundByTwoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage, own, other := storetest.New(), newText(open), newText("User-agent: *\nDisallow: /other\n")
		one, two := newInstance(t, storage, "one").with(own), newInstance(t, storage, "two").with(other)
		one.load(disallow("GPTBot", "/a"))
		two.load(disallow("GPTBot", "/a"))
		one.says("/o")
		two.says("/other")
		own.text.Store(closed)
		other.text.Store(closed)
		for range 40 {
			one.text("a.test")
			two.text("a.test")
			time.Sleep(readInterval + time.Second)
			synctest.Wait()
		}
		one.says("/o")
		two.says("/other")
		state, _ := one.State()
		if b := one.waitingBase(); b.Number != 2 || len(state.History) != 0 {
			t.Errorf("stored: %+v, history %+v", b, state.History)
		}
		one.end()
		two.end()
	})
}

// A text that waited and is withdrawn, since another instance has read the next one, does not
// come under the rules where it is the latest still, and nothing is known against it.
func TestBaseIsWithdrawnElsewhere(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"clocks agree": 0, "by a clock of the future": 30 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) { testWithdrawnElsewhere(t, ahead) })
	}
}

func testWithdrawnElsewhere(t *testing.T, ahead time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		storage, own, late := storetest.New(), newText(open), newText(open)
		one, two := newInstance(t, storage, "one").with(own), newInstance(t, storage, "two").with(late)
		one.load(disallow("GPTBot", "/a"))
		two.load(disallow("GPTBot", "/a"))
		one.says("/o")
		two.says("/o")
		own.text.Store(closesPage)
		one.visits = visited
		one.read()
		late.text.Store(closesPage)
		two.read()
		time.Sleep(publication.BaseInterval)
		synctest.Wait()
		one.ahead = ahead
		one.load(disallow("GPTBot", "/a"))
		own.text.Store(open + "Disallow: /q\n")
		one.read()
		one.says("/o\nDisallow: /q")
		if state, _ := one.State(); len(state.Bases) != 0 {
			t.Fatalf("it still waits: %+v", state.Bases)
		}
		time.Sleep(2 * readInterval)
		if ahead == 0 {
			two.says("/o")
		}
		two.read() // and the site has it again, or still
		time.Sleep(readInterval)
		if text := two.text("a.test"); !strings.Contains(text, closesPage) {
			t.Errorf("what was read since does not count: %q", text)
		}
		one.end()
		two.end()
	})
}
