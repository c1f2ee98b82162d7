//go:build unix

package redis

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// TestRedisHangs makes Redis accept connections without responding, as a stopped
// process does. No request waits for Redis. A change of robots.txt takes effect, and is
// stored once Redis continues.
func TestRedisHangs(t *testing.T) {
	t.Parallel()
	port := harness.FreePort(t)
	server := startRedis(t, port)
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port})
	defer client.Close()
	o, robots := harness.NewChangingOrigin(t, closed)
	i := start(t, port, o.Address(), t.TempDir())
	i.blocks("a.test", "/private/x")
	harness.Eventually(t, "the policy is stored", func() bool { return stored(t, client, "policies") == 1 })

	if err := syscall.Kill(server.ID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	robots.Store(more)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 100 { // enough time for an attempt to store data
		<-tick.C
		began := time.Now()
		if status, _ := i.ask("a.test", "/private/x"); status != http.StatusForbidden {
			t.Errorf("while Redis hangs: %d", status)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("a request took %v while Redis hangs", took)
		}
	}
	harness.Eventually(t, "the change is noticed", func() bool {
		status, verdict := i.ask("a.test", "/new/x")
		return status == http.StatusOK && verdict == "stale"
	})

	const written = `caddy_robots_guard_storage_writes_total{kind="policies",result="success"}`
	earlier := i.metric(written)
	if err := syscall.Kill(server.ID(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the change is stored", func() bool { return i.metric(written) > earlier })
}
