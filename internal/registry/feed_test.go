package registry

import (
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/remote/remotetest"
	"github.com/robotsguard/caddy-robots-guard/uaident/edition"
)

const (
	inUse   = "another text of the registry is in use"
	again   = "the registry can be used again"
	waits   = "a new text of the registry waits"
	useless = "the registry cannot be used; what it said before stays in force"
)

// What is wrong leaves what was good in place; the owner is told once, and when it is
// over. Another instance, and this one after a restart, has the last good text.
func TestLastGoodTextStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := remotetest.NewStorage()
		r := read(t, storage, nil, remotetest.NewSource("https://names.test/registry.json", text(1, "ABot", "BBot"), nil), nil)
		r.has(t, "ABot BBot")
		r.source.Say(text(2, "ABot", "CBot"), nil)
		next(5 * time.Minute)
		r.has(t, "ABot CBot")
		r.told(t, inUse)
		r.source.Say("", errDown)
		next(3 * time.Hour)
		r.source.Say("<html>", nil)
		next(2 * time.Hour)
		r.has(t, "ABot CBot")
		r.told(t, useless)
		if s := r.Status(); !strings.Contains(s.Failure, "it is a web page") || s.FailingSince.IsZero() || s.InUse.Crawlers != 2 {
			t.Errorf("%+v", s)
		}
		r.source.Say(text(3, "ABot", "DBot"), nil)
		next(2 * time.Hour)
		r.has(t, "ABot DBot")
		r.told(t, again, inUse)
		if r.changed != 3 || strings.Join(r.events, " ") != "robots_registry_changed robots_registry_failing robots_registry_changed" {
			t.Errorf("%d changes, events %q", r.changed, r.events)
		}
		r.end()

		r = read(t, storage, nil, remotetest.NewSource("https://names.test/registry.json", "", errDown), nil)
		defer r.end()
		r.has(t, "ABot DBot")
		r.told(t, useless)
	})
}

// A registry that never could be read is told of, and tried again in growing intervals.
func TestNeverRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := read(t, remotetest.NewStorage(), nil, remotetest.NewSource("https://names.test/registry.json", "", errDown), nil)
		defer r.end()
		r.told(t, "the registry cannot be used; the built-in one is in force alone")
		next(5 * time.Minute)
		if n := r.source.Reads(); n < 5 || n > 9 {
			t.Errorf("%d attempts in 5 minutes", n)
		}
		r.source.Say(text(1, "ABot"), nil)
		next(time.Hour)
		r.has(t, "ABot")
	})
}

// What is odd waits until it is accepted, also at another instance, and a text that is
// not odd takes its place.
func TestOddTextWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := remotetest.NewStorage()
		r := read(t, storage, nil, remotetest.NewSource("https://names.test/registry.json", text(1, "ABot", "BBot"), nil), nil)
		defer r.end()
		other := read(t, storage, nil, r.source, nil)
		defer other.end()
		r.source.Say(text(2, "ABot", "BBot", "Googlebot:seo"), nil)
		next(10 * time.Minute)
		r.has(t, "ABot BBot")
		r.told(t, waits)
		s := r.Status()
		if s.Waiting == nil || len(s.Waiting.Changes) != 1 || strings.Join(s.Waiting.Why, "; ") != "the search engine Googlebot becomes one of class seo" {
			t.Fatalf("%+v", s.Waiting)
		}
		next(time.Hour)
		r.told(t)
		if err := r.Accept("0123456789abcdef", "ann"); !errors.Is(err, errNotWaiting) {
			t.Error(err)
		}
		if err := r.Accept(s.Waiting.ID, "ann"); err != nil {
			t.Error(err)
		}
		if accepted := r.log.FilterMessage("a text of the registry was accepted").All(); len(accepted) != 1 || accepted[0].ContextMap()["who"] != "ann" {
			t.Errorf("the log says of who accepted it: %v", accepted)
		}
		r.has(t, "ABot BBot Googlebot")
		next(10 * time.Minute)
		other.has(t, "ABot BBot Googlebot")
		if known := other.known(t).Lookup("Googlebot"); known.Class.String() != "seo" {
			t.Errorf("%+v", known)
		}
		r.source.Say(text(3, "ABot", "curl:crawler"), nil)
		next(10 * time.Minute)
		if r.Status().Waiting == nil {
			t.Error("curl is a crawler at once")
		}
		r.source.Say(text(4, "ABot", "BBot", "NewBot", "Googlebot:seo"), nil)
		next(10 * time.Minute)
		r.has(t, "ABot BBot NewBot Googlebot")
		if r.Status().Waiting != nil {
			t.Error("what was there before waits yet")
		}
	})
}

// A text that lacks its signature is read again soon, and another wrong one as often as
// the owner wants it, however long their answers say that they live.
func TestWrongTextIsReadAgainSoon(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(text string) string { return string(edition.Sign(private, []byte(text))) }
	synctest.Test(t, func(t *testing.T) {
		first, later := text(7, "ABot"), text(8, "ABot", "BBot")
		source, signature := remotetest.NewSource("https://names.test/registry.json", first, nil), remotetest.NewSource("https://names.test/registry.json.sig", sign(first), nil)
		r := read(t, remotetest.NewStorage(), public, source, signature)
		defer r.end()
		source.Say(later, nil)
		next(remotetest.Life + time.Second)
		r.has(t, "ABot")
		signature.Say(sign(later), nil)
		next(time.Minute)
		r.has(t, "ABot BBot")
	})
	synctest.Test(t, func(t *testing.T) {
		source := remotetest.NewSource("https://names.test/registry.json", text(7, "ABot"), nil)
		r := read(t, remotetest.NewStorage(), nil, source, nil)
		defer r.end()
		r.mu.Lock()
		r.Interval = 10 * time.Second
		r.mu.Unlock()
		next(remotetest.Life + time.Second)
		source.Say("no registry", nil)
		next(11 * time.Second)
		if r.Trouble() == nil {
			t.Error("no trouble with what is no registry")
		}
		source.Say(text(8, "ABot", "BBot"), nil)
		next(11 * time.Second)
		r.has(t, "ABot BBot")
	})
}

// A text that nobody with the key has signed is never used, nor is an older one again.
func TestSigned(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(text string) string { return string(edition.Sign(private, []byte(text))) }
	synctest.Test(t, func(t *testing.T) {
		storage := remotetest.NewStorage()
		source, signature := remotetest.NewSource("https://names.test/registry.json", "", nil), remotetest.NewSource("https://names.test/registry.json", "", nil)
		say := func(text, signed string) { source.Say(text, nil); signature.Say(signed, nil) }
		first := text(7, "ABot", "BBot")
		say(first, sign(first))
		r := read(t, storage, public, source, signature)
		r.has(t, "ABot BBot")
		for _, tc := range []struct{ text, signed, want string }{
			{text(8, "EvilBot"), "", errDown.Error()},
			{text(8, "EvilBot"), sign(first), edition.ErrSignature.Error()},
			{text(8, "EvilBot"), "no signature", edition.ErrSignature.Error()},
			{text(6, "ABot"), sign(text(6, "ABot")), "its serial is 6, and one with serial 7 is in use"},
			{text(7, "ABot"), sign(text(7, "ABot")), "count it up"},
			{`{"crawlers": []}`, sign(`{"crawlers": []}`), "has no serial"},
		} {
			say(tc.text, tc.signed)
			if tc.signed == "" {
				signature.Say("", errDown)
			}
			next(2 * time.Hour)
			r.has(t, "ABot BBot")
			if err := r.Trouble(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %s", err, tc.want)
			}
		}
		// The signature may come after the text.
		later := text(9, "ABot", "BBot", "CBot")
		source.Say(later, nil)
		next(2 * time.Hour)
		signature.Say(sign(later), nil)
		next(2 * time.Hour)
		r.has(t, "ABot BBot CBot")
		r.end()

		// What is stored is looked at as well, and so is what is older than that.
		say(first, sign(first))
		r = read(t, storage, public, source, signature)
		r.has(t, "ABot BBot CBot")
		if err := r.Trouble(); err == nil || !strings.Contains(err.Error(), "an older edition is never used again") {
			t.Error(err)
		}
		r.end()
		another, _, _ := ed25519.GenerateKey(nil)
		r = read(t, storage, another, source, signature)
		defer r.end()
		r.has(t, "nothing")
	})
}

// A file is what its owner says when a configuration is loaded, and is watched then.
func TestFile(t *testing.T) {
	place := filepath.Join(t.TempDir(), "registry.json")
	f, err := New(Settings{Place: place, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	load := 0
	says := func(want, trouble string) {
		t.Helper()
		load++
		f.Load(t.Context(), load, nil)
		if err := f.Trouble(); f.Good().names() != want || (err == nil) != (trouble == "") || err != nil && !strings.Contains(err.Error(), trouble) {
			t.Errorf("%s, %v; want %s, %s", f.Good().names(), err, want, trouble)
		}
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(place, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	says("nothing", "registry.json: there is no such file; correct the path")
	write(text(1, "Googlebot:seo"))
	says("Googlebot", "")
	write("{\"crawlers\": [\n{\"tokn\": 1}]}")
	says("Googlebot", `registry.json:2:2: unknown field "tokn"; did you mean token?`)
	write(text(1, "bingbot:ads", "ABot"))
	f.read(t.Context(), false)
	if f.Status().Waiting == nil {
		t.Error("what has changed by itself does not wait")
	}
	says("bingbot ABot", "")
}

func TestPlaces(t *testing.T) {
	for place, want := range map[string]string{
		"": "registry needs a file or a URL", "ftp://a.test/x": "no http or https URL", "https://a.test/registry.json?x=1": "", "registry.json": "",
	} {
		_, err := New(Settings{Place: place, Now: time.Now})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", place, err, want)
		}
	}
	key := make(ed25519.PublicKey, ed25519.PublicKeySize)
	for place, want := range map[string]string{
		"a/registry.json": "a/registry.json.sig", "https://a.test/r.json?x=1#y": "https://a.test/r.json.sig?x=1", "https://a.test/r.json#y": "https://a.test/r.json.sig",
	} {
		f, err := New(Settings{Place: place, Key: key, Now: time.Now})
		if err != nil || f.signature.Name() != want {
			t.Errorf("%s: %v, %v", place, f.signature, err)
		}
	}
}
