package storage

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// intact fails the test if a value in a storage is invalid. Temporary files of a killed
// server are not values.
func intact(t *testing.T, store string) {
	t.Helper()
	for _, name := range stored(t, store) {
		data, err := os.ReadFile(name)
		if err == nil {
			_, err = policy.DecodeSnapshot(data)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, kind := range []string{"changes", "copies"} {
		for _, name := range harness.Stored(t, store, kind) {
			data, err := os.ReadFile(name)
			if err != nil || !json.Valid(data) {
				t.Errorf("%s: %v %q", name, err, harness.Tail(string(data), 200))
			}
		}
	}
}

// traffic sends requests until it is stopped. It retries reset connections, because
// Caddy resets some during a reload.
type traffic struct {
	stopped           atomic.Bool
	requests, retried atomic.Int64
	clients           sync.WaitGroup
}

func (x *traffic) begin(t *testing.T, all []harness.Visit, ask func(harness.Visit) (harness.Answer, error)) {
	for _, v := range all {
		x.clients.Go(func() {
			for !x.stopped.Load() {
				time.Sleep(2 * time.Millisecond) // leaves CPU time to the servers of other tests
				a, err := ask(v)
				if err != nil {
					x.retried.Add(1)
					continue
				}
				x.requests.Add(1)
				if a.Status != v.Status || !strings.Contains(a.Body, v.Body) {
					t.Errorf("%s as %q: got %d %q, want %d %q", v.Path, v.UserAgent, a.Status, a.Body, v.Status, v.Body)
				}
			}
		})
	}
}

func (x *traffic) end() {
	x.stopped.Store(true)
	x.clients.Wait()
}

// TestStorageReloadUnderTraffic reloads continuously with storage on. Meanwhile
// crawlers and browsers send requests, and robots.txt changes without effect on them.
// All verdicts stay the same, and the stored data stays valid.
func TestStorageReloadUnderTraffic(t *testing.T) {
	t.Parallel()
	var version atomic.Int64
	text := func() string { return fmt.Sprintf("%s# version %d\n", harness.ClosedRobots, version.Load()) }
	o := harness.NewOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/robots.txt" {
			return false
		}
		_, _ = io.WriteString(w, text())
		return true
	})
	store := t.TempDir()
	s := harness.ServeReloadable(t, o)
	on := func(name string) string {
		return strings.NewReplacer(
			"persist_config off", "persist_config off\n\t"+strings.Replace(harness.StorageOn, "$STORE", store, 1),
			"robots_guard enforce", "robots_guard enforce {\n ttl 1s 1s\n change_guard 1h\n }",
		).Replace(s.Named(name, ""))
	}
	load := func(name string) {
		if status, body := s.Load(on(name)); status != http.StatusOK {
			t.Errorf("reload: %d %s", status, body)
		}
	}
	load("before")
	s.Warm("/")
	var x traffic
	defer x.end()
	x.begin(t, []harness.Visit{
		{harness.Bingbot, "/private/x", 403, "Disallow: /private/"},
		{harness.Bingbot, "/page", 200, "origin"},
		{harness.Firefox, "/private/x", 200, "origin"},
		{harness.GPTBot, "/page", 403, ""},
		{harness.Bingbot, "/robots.txt", 200, "# version"},
	}, func(v harness.Visit) (harness.Answer, error) {
		return harness.Try(harness.Client, s.URL(v.Path), v.UserAgent)
	})
	reloads := 20
	if harness.Long() {
		reloads = 200
	}
	for i := range reloads {
		load(fmt.Sprint(i))
		if i%10 == 0 {
			version.Add(1)
		}
		intact(t, store)
	}
	x.end()
	t.Logf("%d requests, %d broken connections, during %d reloads", x.requests.Load(), x.retried.Load(), reloads)
	if x.requests.Load() < int64(reloads) {
		t.Errorf("only %d requests were made", x.requests.Load())
	}
	for _, message := range []string{"stored values cannot be used and are set aside", "a value cannot be stored; the guard tries again"} {
		if lines := s.Lines(message); len(lines) > 0 {
			t.Errorf("%v", lines[0])
		}
	}
	harness.Eventually(t, "what was read last is stored", func() bool {
		for _, name := range stored(t, store) {
			data, err := os.ReadFile(name)
			if err != nil {
				return false
			}
			snapshot, err := policy.DecodeSnapshot(data)
			if err == nil && snapshot.State.Current.Robots.Text() == text() {
				return true
			}
		}
		harness.Get(t, s.URL("/page"), harness.Bingbot) // makes the guard refetch it
		return false
	})
}

// TestStorageAfterKills kills the server at random times while crawlers send requests.
// Data that was stored before is loaded each time, before the first request.
func TestStorageAfterKills(t *testing.T) {
	t.Parallel()
	store, home := t.TempDir(), t.TempDir()
	o := harness.NewOrigin(t, harness.ClosedRobots, nil)
	s := storing(t, store, home, o.Address())
	learn(t, s, "a.test", "b.test")
	harness.Get(t, s.URL("http://a.test/robots.txt"), harness.Bingbot, harness.Host("a.test"))
	awaitStored(t, store, 2)
	o.GoDown()
	kills, longest := 4, 500
	if harness.Long() {
		kills, longest = 40, 2000
	}
	for range kills {
		var x traffic
		current := s
		x.begin(t, []harness.Visit{
			{harness.Bingbot, "http://a.test/private/x", 403, "Disallow: /private/"},
			{harness.GPTBot, "http://b.test/page", 403, ""},
			{harness.Bingbot, "http://b.test/page", 502, ""},
		}, func(v harness.Visit) (harness.Answer, error) {
			host, _, _ := strings.Cut(strings.TrimPrefix(v.Path, "http://"), "/")
			return harness.Try(harness.Client, current.URL(v.Path), v.UserAgent, harness.Host(host))
		})
		time.Sleep(time.Duration(rand.IntN(longest)) * time.Millisecond)
		s.Kill()
		x.end()
		intact(t, store)
		const damaged = "stored values cannot be used and are set aside"
		if lines := s.Lines(damaged); len(lines) > 0 {
			t.Errorf("%v", lines[0])
		}
		s = storing(t, store, home, o.Address())
		visitsAs(t, s, []harness.Visit{
			{harness.Bingbot, "http://a.test/private/x", 403, "Disallow: /private/"},
			{harness.GPTBot, "http://b.test/page", 403, ""},
		})
	}
}
