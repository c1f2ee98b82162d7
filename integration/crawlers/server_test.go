package crawlers

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// entry is a line of the access log: a request with its result.
type entry struct {
	Request struct {
		Host    string
		Method  string
		URI     string
		Headers map[string][]string
	}
	At      float64 `json:"ts"` // Unix time in seconds
	Status  int
	Port    string // if the site has log_append port
	Verdict struct {
		Verdict, Action, Crawler, Class, Rule, Form string
		Ambiguous                                   bool
	} `json:"robots_guard"`
}

// client returns the User-Agent of the request.
func (e entry) client() string {
	if sent := e.Request.Headers["User-Agent"]; len(sent) > 0 {
		return sent[0]
	}
	return ""
}

func (e entry) blocked() bool { return e.Verdict.Action == "blocked" }

// server is a running Caddy.
type server struct {
	*harness.Process
	t   *testing.T
	dir string
}

// serve runs the server with a Caddyfile and returns once the port accepts connections.
// The sites write their access log to the path of accessLog.
func serve(t *testing.T, dir, caddyfile, port string) *server {
	t.Helper()
	text := "{\n\tadmin off\n\tpersist_config off\n\tauto_https off\n\tgrace_period 20s\n}\n" + caddyfile
	cmd := exec.Command(harness.Binary(t), "run", "--config", harness.Caddyfile(t, text), "--adapter", "caddyfile")
	cmd.Env = harness.Home(dir)
	return &server{harness.Attend(t, cmd, "127.0.0.1:"+port), t, dir}
}

// accessLog returns the path of the access log in the server's folder.
func accessLog(dir string) string { return filepath.Join(dir, "access.log") }

// stop stops the server. All log lines are written then.
func (s *server) stop() {
	s.t.Helper()
	if err := s.Interrupt(time.Minute); err != nil {
		s.t.Error(err)
	}
}

// entries returns the access log of a stopped server.
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
