package redis

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

func TestMain(m *testing.M) { harness.Suite{Caddy: "./caddy"}.Main(m) }

// startRedis runs a Redis server without persistence.
func startRedis(t *testing.T, port string) *harness.Process {
	t.Helper()
	path := harness.Program(t, "redis-server", "redis-server", "CI")
	return harness.Attend(t, exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir()),
		"127.0.0.1:"+port)
}

const siteConfig = `{
	admin off
	persist_config off
	storage redis_for_tests 127.0.0.1:$REDIS
	robots_guard {
		storage on
	}
	servers {
		trusted_proxies static 127.0.0.1/32
		trusted_proxies_strict
	}
}
http://127.0.0.1:$METRICS {
	metrics /metrics
}
http://a.test:$PORT, http://b.test:$PORT {
	robots_guard enforce {
		ttl 1s 1s
		fetch_timeout 20s
		fetch_wait 20s
		rate {
			limit bingbot 5/1s burst 1
		}
	}
	header >X-Rate {http.robots_guard.rate}
	header >X-Verdict {http.robots_guard.verdict}
	reverse_proxy $ORIGIN
}
`

// instance is a Caddy with its own ID in the storage.
type instance struct {
	*harness.Process
	t             *testing.T
	port, metrics string
}

// start runs an instance. An instance with the same home is the same instance after a
// restart.
func start(t *testing.T, redis, origin, home string) *instance {
	t.Helper()
	i := &instance{t: t, port: harness.FreePort(t), metrics: harness.FreePort(t)}
	text := strings.NewReplacer("$REDIS", redis, "$METRICS", i.metrics, "$PORT", i.port, "$ORIGIN", origin).Replace(siteConfig)
	harness.NameInstance(t, home, fmt.Sprintf("00000000-0000-4000-8000-%012s", i.port))
	cmd := exec.Command(harness.Binary(t), "run", "--config", harness.Caddyfile(t, text), "--adapter", "caddyfile")
	cmd.Env = harness.Home(home)
	i.Process = harness.Attend(t, cmd, "127.0.0.1:"+i.port, "127.0.0.1:"+i.metrics)
	return i
}

// ask requests a URL as bingbot, and returns the status and the verdict.
func (i *instance) ask(host, path string) (status int, verdict string) {
	i.t.Helper()
	a := harness.Get(i.t, "http://127.0.0.1:"+i.port+path, harness.Bingbot, harness.Host(host))
	return a.Status, a.Header.Get("X-Verdict")
}

// blocks waits until a path is blocked.
func (i *instance) blocks(host, path string) {
	i.t.Helper()
	harness.Eventually(i.t, host+path+" is blocked", func() bool {
		status, _ := i.ask(host, path)
		return status == http.StatusForbidden
	})
}

// metric returns the value of a metric, 0 if it is missing.
func (i *instance) metric(name string) float64 {
	i.t.Helper()
	return harness.ReadMetrics(i.t, "http://127.0.0.1:"+i.metrics+"/metrics")[name]
}
