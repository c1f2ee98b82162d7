package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// intact fails unless every value in a storage can be read. What a killed
// server has left half-written is no value.
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
	for _, kind := range []string{"readers", "changes"} {
		for _, name := range storedOf(t, store, kind) {
			data, err := os.ReadFile(name)
			if err != nil || !json.Valid(data) {
				t.Errorf("%s: %v %q", name, err, tail(string(data), 200))
			}
		}
	}
}

// traffic asks all the time until it is stopped. Connections that break are
// tried again: stock Caddy resets some while it reloads.
type traffic struct {
	stopped           atomic.Bool
	requests, retried atomic.Int64
	clients           sync.WaitGroup
}

func (x *traffic) begin(t *testing.T, all []visit, ask func(visit) (answer, error)) {
	for _, v := range all {
		x.clients.Go(func() {
			for !x.stopped.Load() {
				a, err := ask(v)
				if err != nil {
					x.retried.Add(1)
					time.Sleep(time.Millisecond) // not to spin while nobody listens
					continue
				}
				x.requests.Add(1)
				if a.status != v.status || !strings.Contains(a.body, v.body) {
					t.Errorf("%s as %q: got %d %q, want %d %q", v.path, v.userAgent, a.status, a.body, v.status, v.body)
				}
			}
		})
	}
}

func (x *traffic) end() {
	x.stopped.Store(true)
	x.clients.Wait()
}

// TestStorageReloadUnderTraffic reloads all the time with the storage on while
// crawlers and browsers come and the robots.txt changes what concerns none of
// them: no verdict is ever another, and what is stored stays whole.
func TestStorageReloadUnderTraffic(t *testing.T) {
	t.Parallel()
	var version atomic.Int64
	text := func() string { return fmt.Sprintf("%s# version %d\n", closedRobots, version.Load()) }
	o := newOrigin(t, "", func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/robots.txt" {
			return false
		}
		_, _ = io.WriteString(w, text())
		return true
	})
	store := t.TempDir()
	s := serveReloadable(t, o)
	on := func(name string) string {
		return strings.NewReplacer(
			"persist_config off", "persist_config off\n\t"+strings.Replace(storingGlobals, "$STORE", store, 1),
			"robots_guard enforce", "robots_guard enforce {\n ttl 1s 1s\n change_guard 1h\n }",
		).Replace(s.named(name, ""))
	}
	load := func(name string) {
		if status, body := s.load(on(name)); status != http.StatusOK {
			t.Errorf("reload: %d %s", status, body)
		}
	}
	load("before")
	s.warm("/")
	var x traffic
	defer x.end()
	x.begin(t, []visit{
		{bingbot, "/private/x", 403, "Disallow: /private/"},
		{bingbot, "/page", 200, "origin"},
		{firefox, "/private/x", 200, "origin"},
		{gptBot, "/page", 403, ""},
		{bingbot, "/robots.txt", 200, "# version"},
	}, func(v visit) (answer, error) { return try(client, s.url(v.path), v.userAgent) })
	const reloads = 60
	for i := range reloads {
		load(fmt.Sprint(i))
		if i%10 == 0 {
			version.Add(1)
		}
		intact(t, store)
	}
	x.end()
	t.Logf("%d requests, %d broken connections, during %d reloads", x.requests.Load(), x.retried.Load(), reloads)
	if x.requests.Load() < reloads {
		t.Errorf("only %d requests were made", x.requests.Load())
	}
	for _, message := range []string{"stored values cannot be used and are set aside", "a value cannot be stored; it is tried again"} {
		if lines := s.lines(message); len(lines) > 0 {
			t.Errorf("%v", lines[0])
		}
	}
	eventually(t, "what was read last is stored", func() bool {
		for _, name := range stored(t, store) {
			data, err := os.ReadFile(name)
			if err != nil {
				return false
			}
			snapshot, err := policy.DecodeSnapshot(data)
			if err == nil && snapshot.Standing.Good.Robots.Text() == text() {
				return true
			}
		}
		get(t, s.url("/page"), bingbot) // has it read again
		return false
	})
}

// kills is how often TestStorageAfterKills ends the server: ROBOTS_GUARD_KILLS
// times, or as often as everybody has the time for.
func kills(t *testing.T) int {
	t.Helper()
	text := os.Getenv("ROBOTS_GUARD_KILLS")
	if text == "" {
		return 20
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("ROBOTS_GUARD_KILLS is %q, want a number", text)
	}
	return n
}

// TestStorageAfterKills ends the server without a warning at random moments,
// while crawlers come. What was stored before is there each time, and each
// server knows it at its first request.
func TestStorageAfterKills(t *testing.T) {
	t.Parallel()
	store, home := t.TempDir(), t.TempDir()
	o := newOrigin(t, closedRobots, nil)
	s := storing(t, store, home, o.address())
	learn(t, s, "a.test", "b.test")
	get(t, s.url("http://a.test/robots.txt"), bingbot, hostOf("a.test"))
	awaitStored(t, store, 2)
	eventually(t, "the reading is stored", func() bool { return len(storedOf(t, store, "readers")) > 0 })
	o.goDown()
	for range kills(t) {
		var x traffic
		current := s
		x.begin(t, []visit{
			{bingbot, "http://a.test/private/x", 403, "Disallow: /private/"},
			{gptBot, "http://b.test/page", 403, ""},
			{bingbot, "http://b.test/page", 502, ""},
		}, func(v visit) (answer, error) {
			host, _, _ := strings.Cut(strings.TrimPrefix(v.path, "http://"), "/")
			return try(client, current.url(v.path), v.userAgent, hostOf(host))
		})
		time.Sleep(time.Duration(rand.IntN(2000)) * time.Millisecond) // any moment will do
		s.kill()
		x.end()
		intact(t, store)
		const damaged = "stored values cannot be used and are set aside"
		if lines := s.lines(damaged); len(lines) > 0 {
			t.Errorf("%v", lines[0])
		}
		if n := len(storedOf(t, store, "readers")); n == 0 {
			t.Error("who has read the robots.txt is lost")
		}
		s = storing(t, store, home, o.address())
		visitsAs(t, s, []visit{
			{bingbot, "http://a.test/private/x", 403, "Disallow: /private/"},
			{gptBot, "http://b.test/page", 403, ""},
		})
	}
	// The robots.txt was read before all of it, and that is known still.
	for _, line := range s.await("request outside robots.txt", 1) {
		if line["crawler"] == "bingbot" && line["robots_read"] != "current" {
			t.Errorf("%v", line)
		}
	}
}

// TestStorageKeepsReaders has a robots.txt change, and a crawler that reads it.
// After a restart it is not taken for one that may not know the change.
func TestStorageKeepsReaders(t *testing.T) {
	t.Parallel()
	store, home := t.TempDir(), t.TempDir()
	o, robots := newChangingOrigin(t, production)
	s := storing(t, store, home, o.address())
	learn(t, s, "a.test")
	robots.Store(production + "\nUser-agent: *\nDisallow: /new/\n")
	ask := func(userAgent string) int { return askAs(t, s, "http://a.test/new/x", userAgent).status }
	eventually(t, "the change is noticed", func() bool { // by an answer that passes, 10 s after the last reading
		askAs(t, s, "http://a.test/robots.txt", bingbot)
		return ask(bingbot) == http.StatusForbidden
	})
	if got := ask(googlebot); got != http.StatusOK {
		t.Errorf("who has not read the change got %d", got)
	}
	reading := func() string {
		var all strings.Builder
		for _, name := range storedOf(t, store, "readers") {
			data, _ := os.ReadFile(name) // may be about to be replaced
			all.Write(data)
		}
		return all.String()
	}
	eventually(t, "the version is stored", func() bool {
		for _, name := range stored(t, store) {
			if data, err := os.ReadFile(name); err == nil {
				if snapshot, err := policy.DecodeSnapshot(data); err == nil && len(snapshot.Standing.Past) > 0 {
					return true
				}
			}
		}
		return false
	})
	eventually(t, "the reading is stored", func() bool { return strings.Contains(reading(), "bingbot") })
	before := reading()
	askAs(t, s, "http://a.test/robots.txt", bingbot)
	eventually(t, "the last reading is stored", func() bool { return reading() != before })
	s.kill()
	o.goDown()

	s = storing(t, store, home, o.address())
	if got := ask(bingbot); got != http.StatusForbidden {
		t.Errorf("who has read the change got %d after a restart", got)
	}
	if got := ask(googlebot); got != http.StatusBadGateway {
		t.Errorf("who has not read the change got %d after a restart", got)
	}
	sibling := storing(t, store, t.TempDir(), o.address())
	if got := askAs(t, sibling, "http://a.test/new/x", bingbot).status; got != http.StatusForbidden {
		t.Errorf("who has read the change got %d from a sibling", got)
	}
}

// TestStorageKeepsHeldChanges ends the server while a change is held back.
func TestStorageKeepsHeldChanges(t *testing.T) {
	t.Parallel()
	o, robots := newChangingOrigin(t, production)
	store := t.TempDir()
	s := serveReloadable(t, o)
	config := strings.NewReplacer(
		"persist_config off", "persist_config off\n\t"+strings.Replace(storingGlobals, "$STORE", store, 1),
		"robots_guard enforce", "robots_guard enforce {\n ttl 1s 1s\n grace off\n change_guard $FOR\n }",
	).Replace(s.named("held", ""))
	if status, body := s.load(strings.Replace(config, "$FOR", "12s", 1)); status != http.StatusOK {
		t.Fatalf("reload: %d %s", status, body)
	}
	s.warm("/")
	get(t, s.url("/a"), googlebot)
	robots.Store(staging)
	var line map[string]any
	eventually(t, "the change is noticed", func() bool {
		get(t, s.url("/a"), googlebot)
		if lines := s.lines(holdBegins); len(lines) > 0 {
			line = lines[0]
		}
		return line != nil
	})
	seconds, _ := line["until"].(float64)
	until := time.UnixMicro(int64(seconds * 1e6))
	eventually(t, "the hold is stored", func() bool {
		for _, name := range storedOf(t, store, "changes") {
			if data, err := os.ReadFile(name); err == nil && strings.Contains(string(data), `"holds"`) {
				return true
			}
		}
		return false
	})
	s.kill()

	// The next server would hold it for much longer.
	text := strings.Replace(config, "$FOR", "1h", 1)
	again := start(t, text, "127.0.0.1:"+s.port)
	again.port = s.port
	eventually(t, "the hold goes on, or its time is over", func() bool {
		restored := again.lines("change guard: changes that were held back are held back for the rest of their time")
		return len(restored) > 0 || time.Now().After(until)
	})
	eventually(t, "the new robots.txt is in force", func() bool {
		blocked := get(t, again.url("/a"), googlebot).status == http.StatusForbidden
		if early := time.Until(until); blocked && early > time.Millisecond {
			t.Fatalf("it is in force %v too early", early)
		}
		return blocked
	})
}
