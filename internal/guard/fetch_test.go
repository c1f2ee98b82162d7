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
			if s.guardForSource(key) != want {
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

// TestSourceGuardOfSimilarTemplates checks that the guard with the most specific template fetches a
// source that several templates match.
func TestSourceGuardOfSimilarTemplates(t *testing.T) {
	for range 20 { // the order of a map is random
		var s sourceGuards
		for _, source := range []string{"https://{host}/robots.txt", "https://{host}.cdn.example/robots.txt", "https://{host}.example/robots.txt"} {
			s.add(t.Context(), &Guard{Config: Config{SourceKey: source}})
		}
		for key, want := range map[string]string{
			"https://a.cdn.example/robots.txt": "https://{host}.cdn.example/robots.txt",
			"https://a.example/robots.txt":     "https://{host}.example/robots.txt",
			"https://a.test/robots.txt":        "https://{host}/robots.txt",
		} {
			if got := s.guardForSource(policy.Key{Source: key}).SourceKey; got != want {
				t.Errorf("%s is fetched by the guard of %s, want %s", key, got, want)
			}
		}
	}
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
			changed := shown(t, g.state.Metrics, "changed_timestamp_seconds", "host")["a.test"]
			if want := float64(entry.State().Current.FirstFetched.UnixMilli()) / 1000; changed != want {
				t.Errorf("the metric says %v, want %v", changed, want)
			}
		}
		if n := logs.FilterMessage("robots.txt changed").Len(); n != 1 {
			t.Errorf("%d lines about the change: %v", n, logs.All())
		}
	})
}

// TestSiteOfSecondSource checks the site of a fetch where two guards with different sources serve one
// site, whose record belongs to the later guard.
func TestSiteOfSecondSource(t *testing.T) {
	first := testGuard(t, options{SourceKey: "/srv/first.txt"}, serving(loose))
	second := New(t.Context(), first.state, Config{SourceKey: "/srv/second.txt"})
	perHost := New(t.Context(), first.state, Config{SourceKey: "https://{host}/robots.txt"})
	source := func(g *Guard) policy.Key { return policy.Key{Source: g.SourceKey} }
	if got := first.siteForSource(source(first)).Label; got != judge.OtherName {
		t.Errorf("before a judgement it is %s", got)
	}
	for _, g := range []*Guard{first, second, perHost} {
		g.recordSite(&Judgement{Site: &site.Site{Label: "a.test", Key: source(g)}})
	}
	for _, g := range []*Guard{first, second} {
		if got := g.siteForSource(source(g)).Label; got != "a.test" {
			t.Errorf("%s: the site is %s, want a.test", g.SourceKey, got)
		}
	}
	if got := perHost.siteForSource(policy.Key{Source: "https://b.test/robots.txt"}).Label; got != judge.OtherName {
		t.Errorf("the source of another host is reported for %s", got)
	}
}
