package redis

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// binary is the server under test, built once.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "robots-guard-redis")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "caddy")
		build := exec.Command("go", "build", "-o", binary, "./caddy")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "building the server:", err)
			return 1
		}
		return m.Run()
	}())
}

// process is a program that runs until the test ends.
type process struct {
	cmd  *exec.Cmd
	logs *buffer
	done chan struct{}
}

func run(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, logs: new(buffer), done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.logs, p.logs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait() // how it ended is nobody's concern
		close(p.done)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			logs := p.logs.String()
			t.Logf("log of %s:\n%s", filepath.Base(cmd.Path), logs[max(0, len(logs)-6000):])
		}
	})
	return p
}

// kill ends it as a power failure would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails if it has ended already
	<-p.done
}

// await waits until something listens.
func (p *process) await(t *testing.T, address string) {
	t.Helper()
	eventually(t, "something listens on "+address, func() bool {
		select {
		case <-p.done:
			t.Fatalf("it ended: %v\n%s", p.cmd.ProcessState, p.logs)
		default:
		}
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// startRedis runs a Redis server without a disk on this port.
func startRedis(t *testing.T, port string) *process {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no redis-server, and this is the gate: .ci/run installs it")
		}
		t.Skip("needs redis-server, of the Debian package redis-server")
	}
	p := run(t, exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir()))
	p.await(t, "127.0.0.1:"+port)
	return p
}

const siteConfig = `{
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
http://a.test:$PORT, http://b.test:$PORT {
	robots_guard enforce {
		ttl 1s 1s
		fetch_timeout 20s
		fetch_wait 20s
	}
	header >X-Verdict {http.robots_guard.verdict}
	reverse_proxy $ORIGIN
}
`

// instance is a Caddy with a name of its own in the storage.
type instance struct {
	*process
	t             *testing.T
	port, metrics string
	home          string
}

// start runs an instance; one with the same home is the same again.
func start(t *testing.T, redis, origin, home string) *instance {
	t.Helper()
	i := &instance{t: t, port: freePort(t), metrics: freePort(t), home: home}
	config := filepath.Join(t.TempDir(), "Caddyfile")
	text := strings.NewReplacer("$REDIS", redis, "$METRICS", i.metrics, "$PORT", i.port, "$ORIGIN", origin).Replace(siteConfig)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// At a very first start Caddy itself may make two IDs, and keep the other.
	id := filepath.Join(home, "caddy", "instance.uuid")
	if _, err := os.Stat(id); err != nil {
		if err := os.MkdirAll(filepath.Dir(id), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(id, fmt.Appendf(nil, "00000000-0000-4000-8000-%012s", i.port), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(binary, "run", "--config", config, "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home)
	i.process = run(t, cmd)
	i.await(t, "127.0.0.1:"+i.port)
	i.await(t, "127.0.0.1:"+i.metrics)
	return i
}

const bingbot = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"

// ask requests a URL as bingbot, and returns the status and the verdict.
func (i *instance) ask(host, path string) (status int, verdict string) {
	i.t.Helper()
	request, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:"+i.port+path, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	request.Host = host
	request.Header.Set("User-Agent", bingbot)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		i.t.Fatal(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body) // so that the connection can be used again
	return response.StatusCode, response.Header.Get("X-Verdict")
}

// blocks waits until a path is forbidden.
func (i *instance) blocks(host, path string) {
	i.t.Helper()
	eventually(i.t, host+path+" is blocked", func() bool {
		status, _ := i.ask(host, path)
		return status == http.StatusForbidden
	})
}

// metric returns a line of the metrics.
func (i *instance) metric(name string) string {
	i.t.Helper()
	response, err := http.Get("http://127.0.0.1:" + i.metrics + "/metrics")
	if err != nil {
		i.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		i.t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// origin is the site, with a robots.txt that changes.
type origin struct {
	*httptest.Server
	mu     sync.Mutex
	robots string
}

func newOrigin(t *testing.T, robots string) *origin {
	o := &origin{robots: robots}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if r.URL.Path == "/robots.txt" {
			_, _ = io.WriteString(w, o.robots)
		}
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *origin) become(robots string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.robots = robots
}

func (o *origin) address() string { return o.Listener.Addr().String() }

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(90 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("it never happened: %s", what)
}

// nextPort begins at a different place in each process, below the ports that
// systems give to outgoing connections.
var nextPort = 6_000 + os.Getpid()%300*10

// freePort returns a TCP port that is free now.
func freePort(t *testing.T) string {
	t.Helper()
	for range 1000 {
		nextPort++
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", fmt.Sprint(":", nextPort))
		if err == nil {
			_ = l.Close()
			return fmt.Sprint(nextPort)
		}
	}
	t.Fatal("no free port")
	return ""
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
