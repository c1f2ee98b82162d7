package guard

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestSourceGuardsOverReloads checks that the guard of the latest running configuration
// fetches a source.
func TestSourceGuardsOverReloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s sourceGuards
		key := policy.Key{Source: "/srv/robots.txt"}
		load := func() (g *Guard, end func()) {
			ctx, cancel := context.WithCancel(t.Context())
			g = &Guard{Config: Config{SourceKey: key.Source}}
			s.add(ctx, g)
			return g, func() {
				cancel()
				synctest.Wait()
			}
		}
		expect := func(when string, want *Guard) {
			t.Helper()
			if s.guardOf(key) != want {
				t.Errorf("%s: it is another guard", when)
			}
		}
		expect("at first", nil)
		first, endFirst := load()
		expect("configured", first)
		_, endFailed := load()
		endFailed()
		expect("after a load that failed", first)
		second, endSecond := load()
		endFirst()
		expect("after a reload", second)
		endSecond()
		expect("removed", nil)
		if len(s.guards) != 0 {
			t.Errorf("%d sources are left", len(s.guards))
		}
	})
}

// TestReadingAtOnceIsTold checks that an immediate fetch is reported like a fetch for a
// request.
func TestReadingAtOnceIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "robots.txt")
		become := func(text string) {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		become(loose)
		g := testGuard(t, options{Enforce: true}, site.FileSource{Path: file})
		core, logs := observer.New(zap.InfoLevel)
		g.SourceKey, g.Logger = file, zap.New(core)
		key := policy.Key{Source: file}
		for _, label := range []string{judge.OtherName, "b.test", "a.test"} {
			g.recordSite(&Judgement{Site: &site.Site{Label: label, Key: key}})
		}
		entry := g.state.Cache.GetOrCreate(key, policy.ConfiguredHosts)
		if g.state.FetchNow(t.Context(), entry, nil) == nil {
			t.Error("a source that nobody configured is read")
		}
		g.state.sources.add(t.Context(), g)
		for _, text := range []string{loose, strict} {
			time.Sleep(time.Minute)
			become(text)
			if g.state.FetchNow(t.Context(), entry, nil) != nil || entry.State().Current.Robots.Text() != text {
				t.Fatal("it was not read at once")
			}
			synctest.Wait() // it is reported after the fetch
			changed := shown(t, g.Metrics, "changed_timestamp_seconds", "host")["a.test"]
			if want := float64(entry.State().Current.FirstFetched.UnixMilli()) / 1000; changed != want {
				t.Errorf("the metric says %v, want %v", changed, want)
			}
		}
		if n := logs.FilterMessage("robots.txt changed").Len(); n != 1 {
			t.Errorf("%d lines about the change: %v", n, logs.All())
		}
	})
}
