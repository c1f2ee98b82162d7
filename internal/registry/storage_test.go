package registry

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/remote/remotetest"
)

// TestDamagedRegistry ignores a stored registry whose checksum differs, although it is valid.
func TestDamagedRegistry(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(*storedVersion)
		want   string
	}{
		{"whole", func(*storedVersion) {}, "ABot BBot"},
		{"damaged", func(r *storedVersion) { r.Data = []byte(registryOf("ABot", "CBot")) }, "nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := remotetest.NewStorage()
				source := remotetest.NewSource("https://names.test/registry.json", registryOf("ABot", "BBot"), nil)
				r := read(t, storage, source)
				next(time.Minute)
				r.end()
				value, err := storage.Load(t.Context(), r.storageKey())
				var stored storedVersion
				if err != nil || json.Unmarshal(value, &stored) != nil || stored.SHA256 == "" {
					t.Fatalf("%v: stored is %s", err, value)
				}
				c.damage(&stored)
				value, _ = json.Marshal(stored)
				storage.Corrupt(string(value))
				source.SetContent("", errDown)
				r = read(t, storage, source)
				r.has(t, c.want)
				r.end()
			})
		})
	}
}

// TestStoredRegistryIsOlder keeps what is known where a configuration turns the storage on:
// what is there may be from long before.
func TestStoredRegistryIsOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		storage := remotetest.NewStorage()
		source := remotetest.NewSource("https://names.test/registry.json", registryOf("ABot"), nil)
		r := read(t, storage, source)
		next(time.Minute)
		r.end()

		source.SetContent(registryOf("BBot", "CBot"), nil)
		r = read(t, nil, source)
		source.SetContent("", errDown)
		r.Load(t.Context(), new(int), storage)
		r.has(t, "BBot CBot")
		r.end()
	})
}

// TestLoadWhileItIsRead keeps no configuration from being loaded while a server takes its
// time for an answer in the background.
func TestLoadWhileItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFeed(Settings{Clock: time.Now}, remotetest.SlowSource{Source: remotetest.NewSource("https://names.test/registry.json", registryOf("ABot"), nil)})
		remotetest.CheckLoadDoesNotWait(t, r.Run, func(ctx context.Context) { r.Load(ctx, new(int), nil) })
		if r.Content() == nil {
			t.Error("it is never read")
		}
	})
}

// TestStorageFailsAtTheStart uses the stored version as soon as the storage answers, if the
// server is down. A version that was fetched before stays, and replaces the stored one.
func TestStorageFailsAtTheStart(t *testing.T) {
	for name, tc := range map[string]struct{ serves, before, after string }{
		"the server is down":    {"", "nothing", "ABot BBot"},
		"it serves another":     {registryOf("CBot"), "CBot", "CBot"},
		"it serves no registry": {"<html>", "nothing", "ABot BBot"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := remotetest.NewStorage()
				source := remotetest.NewSource("https://names.test/registry.json", registryOf("ABot", "BBot"), nil)
				r := read(t, storage, source)
				next(time.Minute)
				r.end()
				storage.SetErr(errors.New("no network"))
				if source.SetContent(tc.serves, nil); tc.serves == "" {
					source.SetContent("", errDown)
				}
				r = read(t, storage, source)
				next(time.Minute)
				r.has(t, tc.before)
				storage.SetErr(nil)
				next(10 * time.Minute)
				r.has(t, tc.after)
				if trouble := r.LastError() != nil; trouble != (tc.before == "nothing") {
					t.Errorf("trouble: %t", trouble)
				}
				r.end()
				source.SetContent("", errDown)
				r = read(t, storage, source)
				defer r.end()
				r.has(t, tc.after)
			})
		})
	}
}

// TestStorageFailureIsLoggedOnce logs the error of a storage that keeps failing once, and another
// error again.
func TestStorageFailureIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const unusable = "the stored registry cannot be used"
		storage := remotetest.NewStorage()
		source := remotetest.NewSource("https://names.test/registry.json", registryOf("ABot"), nil)
		r := read(t, storage, source)
		next(time.Minute)
		r.end()
		source.SetContent("", errDown)
		storage.SetErr(errors.New("no network"))
		r = read(t, storage, source)
		defer r.end()
		next(10 * time.Minute)
		r.told(t, "the registry cannot be used; only the built-in registry is in use", unusable)
		storage.SetErr(errors.New("access denied"))
		next(10 * time.Minute)
		r.told(t, unusable)
		storage.SetErr(nil)
		next(10 * time.Minute)
		r.has(t, "ABot")
	})
}
