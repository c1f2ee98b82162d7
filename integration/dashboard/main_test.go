package dashboard

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/dashboard"
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
		build := exec.Command("go", "build", "-o", binary, "./cmd/caddy")
		build.Dir, build.Stderr = "../..", os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "building the server:", err)
			return 1
		}
		code := m.Run()
		if chromium.cancel != nil {
			chromium.cancel()
		}
		return code
	}())
}

// serveDay serves the page with the numbers of a scripted day and returns its
// URL.
func serveDay(t *testing.T, day dashboard.Views) string {
	t.Helper()
	s := httptest.NewServer(dashboard.New(func() dashboard.Views { return day }))
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// serve runs the built binary with a Caddyfile, in which $PORT stands for the
// port that it returns.
func serve(t *testing.T, caddyfile string) (port string) {
	t.Helper()
	port = freePort(t)
	dir := t.TempDir()
	config := filepath.Join(dir, "Caddyfile")
	text := "{\n\tadmin off\n\tpersist_config off\n}\n" + strings.ReplaceAll(caddyfile, "$PORT", port)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var logs buffer
	cmd := exec.Command(binary, "run", "--config", config, "--adapter", "caddyfile")
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	cmd.Stderr = &logs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the state is in ProcessState
		close(done)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // fails if it has ended already
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			<-done
		}
		if t.Failed() {
			t.Logf("log of the server:\n%s", logs.tail(6000))
		}
	})
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		select {
		case <-done:
			t.Fatalf("the server ended: %v\n%s", cmd.ProcessState, logs.tail(2000))
		default:
		}
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			_ = conn.Close()
			return port
		}
	}
	t.Fatal("nothing listens")
	return ""
}

// nextPort begins at a different place in each process, below the ports that
// systems give to outgoing connections.
var nextPort atomic.Int32

func init() { nextPort.Store(30_000 + int32(os.Getpid()%50)*50) }

func freePort(t *testing.T) string {
	t.Helper()
	for range 1000 {
		port := fmt.Sprint(nextPort.Add(1))
		if l, err := net.Listen("tcp", ":"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no free port")
	return ""
}

// crawl asks for a URL on the loopback interface as this client, and returns
// the status.
func crawl(t *testing.T, host, port, path, userAgent string) int {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience)) // a connection of TCP has deadlines
	// As it is: no client of Go sends some of what others do.
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s:%s\r\nUser-Agent: %s\r\nConnection: close\r\n\r\n", path, host, port, userAgent)
	var answer bytes.Buffer
	if _, err := answer.ReadFrom(conn); err != nil {
		t.Fatal(err)
	}
	status := 0
	if _, err := fmt.Sscanf(answer.String(), "HTTP/1.1 %d", &status); err != nil {
		t.Fatalf("no answer of HTTP: %.100q", answer.String())
	}
	return status
}

// awaitPolicy waits until the guard knows the robots.txt of a host.
func awaitPolicy(t *testing.T, host, port, path, userAgent string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if crawl(t, host, port, path, userAgent) == http.StatusForbidden {
			return
		}
	}
	t.Fatal("nobody is ever blocked")
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

func (b *buffer) tail(most int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.buf.String()
	return text[max(0, len(text)-most):]
}
