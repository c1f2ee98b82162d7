package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	// So that a change of the product outdates the cached results of these tests,
	// which only run it.
	_ "github.com/robotsguard/caddy-robots-guard"
)

// binary is the server under test, built once.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "robots-guard")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "caddy")
		build := exec.Command("go", "build", "-o", binary, "../cmd/caddy")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "building the server:", err)
			return 1
		}
		return m.Run()
	}())
}

// patience is how long is waited for what has to come. It costs time only where
// something is broken.
const patience = time.Minute

// server is a running Caddy.
type server struct {
	t    *testing.T
	cmd  *exec.Cmd
	logs *buffer
	done chan struct{} // closed when the process has ended
	port string        // what $PORT stands for in the Caddyfile
}

// globals are the options of every configuration that serve makes.
const globals = `{
	admin off
	persist_config off
	skip_install_trust
	auto_https disable_redirects
	$GLOBAL
}
http://127.0.0.1:$METRICS {
	metrics /metrics
}
`

// serve runs the server with these sites and returns once it accepts
// connections. In the text $PORT stands for a free port and each pair of
// replace for a text and its replacement; $GLOBAL adds global options.
func serve(t *testing.T, sites string, replace ...string) *server {
	t.Helper()
	port, metrics := freePort(t), freePort(t)
	replace = append(replace, "$PORT", port, "$METRICS", metrics, "$GLOBAL", "")
	caddyfile := globals + sites
	for range 2 { // replacements may hold placeholders
		caddyfile = strings.NewReplacer(replace...).Replace(caddyfile)
	}
	addresses := []string{"127.0.0.1:" + metrics}
	if strings.Contains(sites, "$PORT") {
		addresses = append(addresses, "127.0.0.1:"+port)
	}
	s := start(t, caddyfile, addresses...)
	s.port = port
	metricsOf.Store(s, metrics)
	return s
}

// metricsOf holds the port of each server's metrics.
var metricsOf sync.Map

// url returns a URL on the server's $PORT. Without a host it is that of
// a.test.
func (s *server) url(path string) string {
	if scheme, rest, ok := strings.Cut(path, "://"); ok {
		host, rest, _ := strings.Cut(rest, "/")
		return scheme + "://" + host + ":" + s.port + "/" + rest
	}
	return "http://a.test:" + s.port + path
}

// start runs the server with a Caddyfile and stops it when the test ends. It
// returns once all addresses (host:port) accept connections.
func start(t *testing.T, caddyfile string, addresses ...string) *server {
	t.Helper()
	config := filepath.Join(t.TempDir(), "Caddyfile")
	if err := os.WriteFile(config, []byte(caddyfile), 0o600); err != nil {
		t.Fatal(err)
	}
	return run(t, config, nil, addresses...)
}

// run is start for a file that exists, with additional environment variables.
func run(t *testing.T, config string, env []string, addresses ...string) *server {
	t.Helper()
	s := &server{t: t, logs: new(buffer), done: make(chan struct{})}
	s.cmd = exec.Command(binary, "run", "--config", config, "--adapter", "caddyfile")
	home := t.TempDir()
	s.cmd.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home)
	s.cmd.Env = append(s.cmd.Env, env...)
	s.cmd.Stderr = s.logs
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait() // the state is in ProcessState
		close(s.done)
	}()
	t.Cleanup(s.stop)
	for _, address := range addresses {
		s.waitFor(address)
	}
	return s
}

// stop ends the server and shows its log if the test failed.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt) // fails if it has ended already
	select {
	case <-s.done:
	case <-time.After(10 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.done
		s.t.Error("the server did not stop within 10 s")
	}
	if s.t.Failed() {
		s.t.Logf("log of the server:\n%s", tail(s.logs.String(), 8000))
	}
}

// tail returns the last bytes of a text.
func tail(s string, most int) string {
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}

func (s *server) waitFor(address string) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		select {
		case <-s.done:
			s.t.Fatalf("the server ended: %v", s.cmd.ProcessState)
		default:
		}
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.Close()
			return
		}
	}
	s.t.Fatalf("nothing listens on %s", address)
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("it never happened: %s", what)
}

// lines returns the log lines with a message, decoded.
func (s *server) lines(message string) []map[string]any {
	var found []map[string]any
	for line := range strings.Lines(s.logs.String()) {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) == nil && fields["msg"] == message {
			found = append(found, fields)
		}
	}
	return found
}

// await returns the log lines with a message once there are n of them, or more.
// The server may answer before its log arrives here.
func (s *server) await(message string, n int) (found []map[string]any) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("%d lines %q in the log", n, message), func() bool {
		found = s.lines(message)
		return len(found) >= n
	})
	return found
}

// nextPort begins at a different place in each process, below the ports that
// systems give to outgoing connections: those could take one that was free.
var nextPort atomic.Int32

func init() { nextPort.Store(10_000 + int32(os.Getpid()%400)*50) }

// freePort returns a TCP port that is free now and that no other test of this
// process gets.
func freePort(t *testing.T) string {
	t.Helper()
	for range 1000 {
		port := fmt.Sprint(nextPort.Add(1))
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", ":"+port)
		if err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no free port")
	return ""
}

// command runs the server's binary as a command and returns its standard
// output and exit code.
func command(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		if _, ok := err.(*exec.ExitError); !ok {
			t.Fatal(err)
		}
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
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
