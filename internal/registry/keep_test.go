package registry

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/remote/remotetest"
)

// TestDamagedRegistry takes no registry from the storage that was not read so, although it
// is one still. What was stored without a checksum counts as it did.
func TestDamagedRegistry(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(*record)
		want   string
	}{
		{"whole", func(*record) {}, "ABot BBot"},
		{"damaged", func(r *record) { r.Data = []byte(text(1, "ABot", "CBot")) }, "nothing"},
		{"of an earlier version", func(r *record) { r.SHA256 = "" }, "ABot BBot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				storage := remotetest.NewStorage()
				source := remotetest.NewSource("https://names.test/registry.json", text(1, "ABot", "BBot"), nil)
				r := read(t, storage, nil, source, nil)
				next(time.Minute)
				r.end()
				value, err := storage.Load(t.Context(), r.key())
				var stored record
				if err != nil || json.Unmarshal(value, &stored) != nil || stored.SHA256 == "" {
					t.Fatalf("%v: stored is %s", err, value)
				}
				c.damage(&stored)
				value, _ = json.Marshal(stored)
				storage.Damage(string(value))
				source.Say("", errDown)
				r = read(t, storage, nil, source, nil)
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
		source := remotetest.NewSource("https://names.test/registry.json", text(1, "ABot"), nil)
		r := read(t, storage, nil, source, nil)
		next(time.Minute)
		r.end()

		source.Say(text(2, "BBot", "CBot"), nil)
		r = read(t, nil, nil, source, nil)
		source.Say("", errDown)
		r.Load(t.Context(), new(int), storage)
		r.has(t, "BBot CBot")
		r.end()
	})
}

// TestLoadWhileItIsRead keeps no configuration from being loaded while a server takes its
// time for an answer in the background.
func TestLoadWhileItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &Feed{Settings: Settings{Now: time.Now}, source: remotetest.Slow{Source: remotetest.NewSource("https://names.test/registry.json", text(1, "ABot"), nil)}}
		remotetest.LoadsInTime(t, r.Run, func(ctx context.Context) { r.Load(ctx, new(int), nil) })
		if r.Good() == nil {
			t.Error("it is never read")
		}
	})
}
