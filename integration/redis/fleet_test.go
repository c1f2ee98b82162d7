package redis

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

const fleetConfig = `{
	admin off
	persist_config off
	storage redis_for_tests 127.0.0.1:$REDIS
	robots_guard {
		storage on
	}
}
http://127.0.0.1:$METRICS {
	metrics /metrics
}
http://a.test:$PORT {
	robots_guard enforce {
		ttl 1h 1h
	}
	header >X-Verdict {http.robots_guard.verdict}
	reverse_proxy $ORIGIN
}
`

const ruleConfig = `http://m.test:$PORT {
	robots_txt {
		base none
		rule $RULE {
			for AhrefsBot
			disallow /$RULE
		}
	}
}
`

// wire is a connection of an instance to Redis that a test can interrupt.
type wire struct {
	net.Listener
	to  string
	mu  sync.Mutex
	cut bool
	all []net.Conn
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: l, to: to}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { w.carry(conn) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); w.set(true); running.Wait() })
	return w
}

func (w *wire) port() string { _, port, _ := net.SplitHostPort(w.Addr().String()); return port }

// carry forwards a connection until one side closes it or the wire is cut.
func (w *wire) carry(conn net.Conn) {
	defer conn.Close()
	server, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer server.Close()
	w.mu.Lock()
	if w.cut {
		w.mu.Unlock()
		return
	}
	w.all = append(w.all, conn, server)
	w.mu.Unlock()
	go func() { _, _ = io.Copy(server, conn); _ = server.Close() }()
	_, _ = io.Copy(conn, server)
}

// set cuts or restores the wire.
func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	if cut {
		for _, conn := range w.all {
			_ = conn.Close()
		}
		w.all = nil
	}
}

// member is an instance of a fleet.
type member struct {
	*instance
	home string
	wire *wire
}

// newMember returns a member that has not been started.
func newMember(t *testing.T, redis string, number int) *member {
	t.Helper()
	m := &member{home: t.TempDir(), wire: newWire(t, "127.0.0.1:"+redis)}
	harness.NameInstance(t, m.home, fmt.Sprintf("00000000-0000-4000-8000-%012d", number))
	return m
}

// join starts an instance of the fleet. If rule is not empty, the instance publishes
// it.
func join(t *testing.T, m *member, binary, origin, rule string) {
	t.Helper()
	m.instance = &instance{t: t, port: harness.FreePort(t), metrics: harness.FreePort(t)}
	config := fleetConfig
	if rule != "" {
		config += ruleConfig
	}
	text := strings.NewReplacer("$REDIS", m.wire.port(), "$METRICS", m.metrics, "$PORT", m.port, "$ORIGIN", origin, "$RULE", rule).Replace(config)
	cmd := exec.Command(binary, "run", "--config", harness.Caddyfile(t, text), "--adapter", "caddyfile")
	cmd.Env = harness.Home(m.home)
	m.Process = harness.Attend(t, cmd, "127.0.0.1:"+m.port, "127.0.0.1:"+m.metrics)
}

// asks requests a URL as a crawler, and returns the status and the body.
func (m *member) asks(agent, host, path string) (int, string) {
	a := harness.Get(m.t, "http://127.0.0.1:"+m.port+path, agent, harness.Host(host))
	return a.Status, a.Body
}

// all waits until a condition holds at each instance. It returns the time that the last
// instance took.
func all(t *testing.T, what string, members []*member, holds func(*member) bool) time.Duration {
	t.Helper()
	began := time.Now()
	for _, m := range members {
		for !holds(m) {
			if time.Since(began) > 3*time.Minute {
				t.Fatalf("%s: timeout at the instance on port %s", what, m.port)
			}
			time.Sleep(200 * time.Millisecond)
		}
	}
	took := time.Since(began)
	t.Logf("%s: at all %d after %.1f s", what, len(members), took.Seconds())
	return took
}

// blocked returns a condition: a crawler gets 403 for a path.
func blocked(agent, path string) func(*member) bool {
	return func(m *member) bool {
		status, _ := m.asks(agent, "a.test", path)
		return status == http.StatusForbidden
	}
}

// TestFleet runs several instances on Redis, one of which cannot reach Redis for a
// while. Pages that have been disallowed for long are blocked at all instances. Newly
// disallowed pages are blocked at none. A published rule is served by all. The default
// is three instances:
//
//	FLEET=9 go test ./integration/redis -run TestFleet -v
func TestFleet(t *testing.T) {
	t.Parallel()
	n := 3
	if asked, err := strconv.Atoi(os.Getenv("FLEET")); err == nil {
		n = max(n, asked)
	}
	port := harness.FreePort(t)
	startRedis(t, port)
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port})
	defer client.Close()
	o, robots := harness.NewChangingOrigin(t, closed)
	var members []*member
	for i := range n {
		m := newMember(t, port, i+1)
		join(t, m, harness.Binary(t), o.Address(), "first")
		members = append(members, m)
	}
	first, last := members[0], members[n-1]
	all(t, "the first text counts", members, blocked(harness.Bingbot, "/private/x"))

	balancer := balance(t, members)
	readNow := func(agent, piece string) {
		harness.Eventually(t, "the balancer hands out the text with "+piece, func() bool {
			return strings.Contains(harness.Get(t, balancer+"/robots.txt", agent, harness.Host("a.test")).Body, piece)
		})
	}
	robots.Store(more)
	readNow(harness.Bingbot, "/new/")

	// The last instance cannot reach Redis.
	last.wire.set(true)
	robots.Store(more + "Disallow: /cut/\n")
	read := func(m *member, agent string) {
		if _, text := m.asks(agent, "a.test", "/robots.txt"); !strings.Contains(text, "/cut/") {
			t.Errorf("served %s", text)
		}
	}
	read(first, harness.Bingbot)
	read(last, yandex)
	time.Sleep(40 * time.Second)
	for _, m := range members {
		if !blocked(harness.Bingbot, "/private/x")(m) {
			t.Error("a page that has been disallowed for long is served while an instance cannot reach Redis")
		}
	}
	last.wire.set(false)
	for _, m := range members {
		for _, path := range []string{"/new/x", "/cut/x"} {
			if blocked(harness.Bingbot, path)(m) || blocked(yandex, path)(m) {
				t.Errorf("%s is blocked at once at the instance on port %s", path, m.port)
			}
		}
	}

	// An instance that starts with a new rule publishes it.
	first.Kill()
	join(t, first, harness.Binary(t), o.Address(), "second")
	all(t, "a rule that one publishes", members, func(m *member) bool {
		_, text := m.asks(harness.Bingbot, "m.test", "/robots.txt")
		return strings.Contains(text, "/second")
	})
	if s := history(t, client); s.Published == nil || s.ChangeCount < 2 || len(s.Past) != s.ChangeCount-1 {
		t.Errorf("the history has %d of %d changes", len(s.Past), s.ChangeCount)
	}
}

const yandex = "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)"

// balance starts a Caddy as load balancer for the members, and returns its URL.
func balance(t *testing.T, members []*member) string {
	t.Helper()
	port := harness.FreePort(t)
	to := make([]string, 0, len(members))
	for _, m := range members {
		to = append(to, "127.0.0.1:"+m.port)
	}
	text := fmt.Sprintf("{\n\tadmin off\n\tpersist_config off\n}\nhttp://a.test:%s {\n\treverse_proxy %s {\n\t\tlb_policy round_robin\n\t}\n}\n", port, strings.Join(to, " "))
	cmd := exec.Command(harness.Binary(t), "run", "--config", harness.Caddyfile(t, text), "--adapter", "caddyfile")
	cmd.Env = harness.Home(t.TempDir())
	harness.Attend(t, cmd, "127.0.0.1:"+port)
	return "http://127.0.0.1:" + port
}
