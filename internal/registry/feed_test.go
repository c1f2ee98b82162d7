package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/remote/remotetest"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

const (
	inUse   = "a new version of the registry is in use"
	again   = "the registry can be used again"
	useless = "the registry cannot be used; the previous version stays in use"
)

// TestLastGoodVersionStays keeps the last good version while a server fails or serves something
// invalid, logs that once, and logs the end. After a restart the stored version is in use.
func TestLastGoodVersionStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := remotetest.NewStorage()
		r := read(t, storage, remotetest.NewSource("https://names.test/registry.json", registryOf("ABot", "BBot"), nil))
		r.has(t, "ABot BBot")
		r.source.SetContent(registryOf("ABot", "CBot"), nil)
		next(5 * time.Minute)
		r.has(t, "ABot CBot")
		r.told(t, inUse)
		r.source.SetContent("", errDown)
		next(3 * time.Hour)
		r.source.SetContent("<html>", nil)
		next(2 * time.Hour)
		r.has(t, "ABot CBot")
		r.told(t, useless)
		if s := r.Status(); !strings.Contains(s.Failure, "this is a web page") || s.FailingSince.IsZero() || s.InUse.Crawlers != 2 {
			t.Errorf("%+v", s)
		}
		r.source.SetContent(registryOf("ABot", "DBot"), nil)
		next(2 * time.Hour)
		r.has(t, "ABot DBot")
		r.told(t, again, inUse)
		if r.changed != 3 || strings.Join(r.events, " ") != "robots_registry_changed robots_registry_failing robots_registry_changed" {
			t.Errorf("%d changes, events %q", r.changed, r.events)
		}
		r.end()

		r = read(t, storage, remotetest.NewSource("https://names.test/registry.json", "", errDown))
		defer r.end()
		r.has(t, "ABot DBot")
		r.told(t, useless)
	})
}

// TestNeverFetched logs a registry that could never be fetched, and tries again in growing
// intervals.
func TestNeverFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := read(t, remotetest.NewStorage(), remotetest.NewSource("https://names.test/registry.json", "", errDown))
		defer r.end()
		r.told(t, "the registry cannot be used; only the built-in registry is in use")
		next(5 * time.Minute)
		if n := r.source.ReadCount(); n < 5 || n > 9 {
			t.Errorf("%d attempts in 5 minutes", n)
		}
		r.source.SetContent(registryOf("ABot"), nil)
		next(time.Hour)
		r.has(t, "ABot")
	})
}

// TestPlausible refuses a version that lacks more than half of the entries, until a
// configuration is loaded.
func TestPlausible(t *testing.T) {
	four := registryOf("ABot", "BBot", "CBot", "DBot")
	for name, tc := range map[string]struct {
		before, after string
		plausible     bool
	}{
		"half is gone":         {four, registryOf("ABot", "BBot"), true},
		"more is gone":         {four, registryOf("ABot", "EBot", "FBot", "GBot"), false},
		"all is gone":          {four, `{"crawlers": []}`, false},
		"the only one is gone": {registryOf("ABot"), `{"crawlers": []}`, true},
		"ten times as many":    {registryOf("ABot"), registryOf("ABot", "BBot", "CBot", "DBot", "EBot", "FBot", "GBot", "HBot", "IBot", "JBot"), true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := remotetest.NewStorage()
				r := read(t, storage, remotetest.NewSource("https://names.test/registry.json", tc.before, nil))
				defer r.end()
				before := r.Content().ID()
				r.source.SetContent(tc.after, nil)
				next(2 * time.Hour)
				if used := r.Content().ID() != before; used != tc.plausible {
					t.Fatalf("it is used: %t", used)
				}
				if err := r.LastError(); (err == nil) != tc.plausible || err != nil && !strings.Contains(err.Error(), "run: caddy reload --force") {
					t.Errorf("%v", err)
				}
				r.Load(t.Context(), new(int), storage)
				if r.Content().ID() == before || r.LastError() != nil {
					t.Errorf("after a reload: %v", r.LastError())
				}
			})
		})
	}
}

// TestInvalidVersionIsFetchedAgain fetches an invalid version again after the interval of the
// owner, however long its server says that it lives.
func TestInvalidVersionIsFetchedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := remotetest.NewSource("https://names.test/registry.json", registryOf("ABot"), nil)
		r := read(t, remotetest.NewStorage(), source, 10*time.Second)
		defer r.end()
		source.SetContent("no registry", nil)
		next(11 * time.Second)
		if r.LastError() == nil {
			t.Error("an invalid version causes no trouble")
		}
		source.SetContent(registryOf("ABot", "BBot"), nil)
		next(11 * time.Second)
		r.has(t, "ABot BBot")
	})
}

// TestParse refuses a registry by which clients cannot be verified, or a browser is a crawler.
func TestParse(t *testing.T) {
	f := newFeed(Settings{Clock: time.Now}, remotetest.NewSource("https://names.test/registry.json", "", nil))
	for fields, want := range map[string]string{
		`"token": "FooBot", "verification": {"rdns": [".foo.example"]}`:                                                                               "",
		`"token": "FooBot", "operator": "Foo", "verification": {"web_bot_auth": "https://chatgpt.com/.well-known/http-message-signatures-directory"}`: "the same signing agent",
		`"token": "Windows NT 10.0"`: `the name Windows NT 10.0 would identify the browser "Mozilla/5.0 (Windows NT 10.0`,
		`"token": "Whale"`:           "the name Whale would identify the browser",
	} {
		_, err := f.parseVersion([]byte(`{"crawlers": [{"class": "seo", "source": "https://foo.example/", `+fields+`}]}`), nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", fields, err, want)
		}
	}
	if err := checkNoBrowser(uaident.Default()); err != nil {
		t.Error(err)
	}
}

// TestFile uses a file whenever a configuration is loaded.
func TestFile(t *testing.T) {
	place := filepath.Join(t.TempDir(), "registry.json")
	f, err := New(Settings{Location: place, Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	load := 0
	loads := func(want, trouble string) {
		t.Helper()
		load++
		f.Load(t.Context(), load, nil)
		if err := f.LastError(); f.Content().names() != want || (err == nil) != (trouble == "") || err != nil && !strings.Contains(err.Error(), trouble) {
			t.Errorf("%s, %v; want %s, %s", f.Content().names(), err, want, trouble)
		}
	}
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(place, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loads("nothing", "registry.json: file not found; correct the path")
	write(registryOf("ABot", "BBot"))
	loads("ABot BBot", "")
	write("{\"crawlers\": [\n{\"tokn\": 1}]}")
	loads("ABot BBot", `registry.json:2:2: unknown field "tokn"; did you mean token?`)
	write(registryOf("CBot"))
	loads("CBot", "")
}

func TestPlaces(t *testing.T) {
	for place, want := range map[string]string{
		"": "registry needs a file or a URL", "ftp://a.test/x": "not an http or https URL", "https://a.test/registry.json?x=1": "", "registry.json": "",
	} {
		_, err := New(Settings{Location: place, Clock: time.Now})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", place, err, want)
		}
	}
}
