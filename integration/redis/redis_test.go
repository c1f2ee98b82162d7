package redis

import (
	"context"
	"net/http"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

const (
	closed = "User-agent: *\nDisallow: /private/\n"
	more   = closed + "Disallow: /new/\n"
)

// stored returns the number of keys of a kind.
func stored(t *testing.T, client *redis.Client, kind string) int {
	t.Helper()
	keys, err := client.Keys(context.Background(), "robots_guard/v1/*/"+kind+"/*.json").Result()
	if err != nil {
		t.Fatal(err)
	}
	return len(keys)
}

// TestCluster runs three instances on one Redis server. An instance that starts without
// data loads what the others have fetched, and enforces it while the site is down. All
// instances know which files crawlers may be using.
func TestCluster(t *testing.T) {
	t.Parallel()
	port := harness.FreePort(t)
	startRedis(t, port)
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port})
	defer client.Close()
	o, robots := harness.NewChangingOrigin(t, closed)

	home := t.TempDir()
	first, second := start(t, port, o.Address(), home), start(t, port, o.Address(), t.TempDir())
	first.blocks("a.test", "/private/x")
	second.blocks("a.test", "/private/x")
	second.blocks("b.test", "/private/x")
	harness.Eventually(t, "all policies are stored", func() bool { return stored(t, client, "policies") == 3 })
	if n := first.metric(`caddy_robots_guard_storage_writes_total{kind="policies",result="success"}`); n == 0 {
		t.Errorf("counted %v writes", n)
	}

	// A change of which crawlers need not know for a day.
	robots.Store(more)
	for _, i := range []*instance{first, second} {
		harness.Eventually(t, "the change is noticed", func() bool {
			status, verdict := i.ask("a.test", "/new/x")
			return status == http.StatusOK && verdict == "stale"
		})
	}
	harness.Eventually(t, "the files are stored", func() bool { return stored(t, client, "copies") == 3 })

	// The third instance starts without data and without the site.
	o.Close()
	third := start(t, port, o.Address(), t.TempDir())
	if status, _ := third.ask("a.test", "/private/x"); status != http.StatusForbidden {
		t.Errorf("the third instance returned %d", status)
	}
	if status, _ := third.ask("a.test", "/new/x"); status != http.StatusBadGateway {
		t.Errorf("newly disallowed: the third instance returned %d", status)
	}
	if status, _ := third.ask("b.test", "/private/x"); status != http.StatusForbidden {
		t.Errorf("b.test: the third instance returned %d", status)
	}
	if status, _ := third.ask("a.test", "/page"); status != http.StatusBadGateway {
		t.Errorf("an allowed page: the third instance returned %d", status)
	}

	// The first instance is killed and restarts.
	first.Kill()
	again := start(t, port, o.Address(), home)
	if status, _ := again.ask("a.test", "/private/x"); status != http.StatusForbidden {
		t.Errorf("after a restart: %d", status)
	}
	if status, _ := again.ask("a.test", "/new/x"); status != http.StatusBadGateway {
		t.Errorf("newly disallowed, after a restart: %d", status)
	}
}

// TestRedisDown checks that the server works without the storage, and uses it again
// when it is back.
func TestRedisDown(t *testing.T) {
	t.Parallel()
	port := harness.FreePort(t)
	server := startRedis(t, port)
	o, robots := harness.NewChangingOrigin(t, closed)
	i := start(t, port, o.Address(), t.TempDir())
	i.blocks("a.test", "/private/x")
	server.Kill()
	robots.Store(more)
	for range 20 {
		if status, _ := i.ask("a.test", "/private/x"); status != http.StatusForbidden {
			t.Errorf("without Redis: %d", status)
		}
	}
	harness.Eventually(t, "a write fails", func() bool {
		i.ask("a.test", "/new/x") // makes the guard fetch the change
		return i.metric(`caddy_robots_guard_storage_writes_total{kind="policies",result="failure"}`) > 0
	})

	startRedis(t, port)
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port})
	defer client.Close()
	harness.Eventually(t, "the new version is stored", func() bool {
		i.ask("a.test", "/new/x")
		return stored(t, client, "policies") == 1
	})
	if status, _ := i.ask("a.test", "/private/x"); status != http.StatusForbidden {
		t.Errorf("with Redis again: %d", status)
	}
}
