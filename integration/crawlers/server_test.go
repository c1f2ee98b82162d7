package crawlers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// entry is a line of the access log: a request and what became of it.
type entry struct {
	Request struct {
		Host    string
		Method  string
		URI     string
		Headers map[string][]string
	}
	Status  int
	Port    string // where the site has log_append port
	Verdict struct {
		Verdict, Action, Crawler, Class, Rule, Form string
		Ambiguous                                   bool
	} `json:"robots_guard"`
}

// client returns what the client called itself.
func (e entry) client() string {
	if sent := e.Request.Headers["User-Agent"]; len(sent) > 0 {
		return sent[0]
	}
	return ""
}

func (e entry) blocked() bool { return e.Verdict.Action == "blocked" }

// server is a running Caddy.
type server struct {
	t    *testing.T
	cmd  *exec.Cmd
	dir  string
	done chan struct{}
}

// serve runs the server with a Caddyfile whose sites write the access log to the
// path of accessLog, and returns once this port accepts connections.
func serve(t *testing.T, dir, caddyfile, port string) *server {
	t.Helper()
	config := filepath.Join(dir, "Caddyfile")
	text := "{\n\tadmin off\n\tpersist_config off\n\tauto_https off\n\tgrace_period 20s\n}\n" + caddyfile
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	logs, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer logs.Close()
	s := &server{t: t, dir: dir, done: make(chan struct{})}
	s.cmd = exec.Command(binary, "run", "--config", config, "--adapter", "caddyfile")
	s.cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	s.cmd.Stderr = logs
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait() // the state is in ProcessState
		close(s.done)
	}()
	t.Cleanup(s.stop)
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		select {
		case <-s.done:
			t.Fatalf("the server ended: %v\n%s", s.cmd.ProcessState, s.tail())
		default:
		}
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			_ = conn.Close()
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing listens on %s\n%s", port, s.tail())
		}
	}
}

// accessLog is the file of the access log in the server's folder.
func accessLog(dir string) string { return filepath.Join(dir, "access.log") }

// stop ends the server, which then has written all of its logs.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt) // fails if it has ended already
	select {
	case <-s.done:
	case <-time.After(time.Minute):
		_ = s.cmd.Process.Kill()
		<-s.done
		s.t.Error("the server did not stop")
	}
}

func (s *server) tail() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(text[max(0, len(text)-6000):])
}

// entries returns the access log of a server that has been stopped.
func (s *server) entries() []entry {
	s.t.Helper()
	file, err := os.Open(accessLog(s.dir))
	if err != nil {
		s.t.Fatal(err)
	}
	defer file.Close()
	var all []entry
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			s.t.Fatalf("%v in %s", err, lines.Bytes())
		}
		all = append(all, e)
	}
	return all
}

// nextPort begins at a different place in each process, below the ports that
// systems give to outgoing connections.
var nextPort atomic.Int32

func init() { nextPort.Store(20_000 + int32(os.Getpid()%100)*50) }

// freePort returns a TCP port that is free now.
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
