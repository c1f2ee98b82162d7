package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Server is a running Caddy.
type Server struct {
	*Process
	Port        string // what $PORT stands for in the Caddyfile
	MetricsPort string // where its metrics are
	t           testing.TB
}

// globals are the options of every configuration that Serve makes. Cleaning a new storage
// may remove the folder of a certificate that is just being stored, and Caddy tries again
// after a minute.
const globals = `{
	admin off
	persist_config off
	skip_install_trust
	storage_clean_interval off
	auto_https disable_redirects
	$GLOBAL
}
http://127.0.0.1:$METRICS {
	metrics /metrics
}
`

// Serve runs the server with these sites and returns once it accepts
// connections. In the text $PORT stands for a free port and each pair of
// replace for a text and its replacement; $GLOBAL adds global options.
func Serve(t testing.TB, sites string, replace ...string) *Server {
	t.Helper()
	return ServeWith(t, nil, sites, replace...)
}

// ServeWith is Serve with additional environment variables.
func ServeWith(t testing.TB, env []string, sites string, replace ...string) *Server {
	t.Helper()
	caddyfile, port, metrics := Configure(t, sites, replace...)
	addresses := []string{"127.0.0.1:" + metrics}
	if strings.Contains(sites, "$PORT") {
		addresses = append(addresses, "127.0.0.1:"+port)
	}
	s := Run(t, Caddyfile(t, caddyfile), env, addresses...)
	s.Port, s.MetricsPort = port, metrics
	return s
}

// Configure returns the Caddyfile that Serve runs, and its ports.
func Configure(t testing.TB, sites string, replace ...string) (caddyfile, port, metrics string) {
	t.Helper()
	port, metrics = FreePort(t), FreePort(t)
	replace = append(replace, "$PORT", port, "$METRICS", metrics, "$GLOBAL", "")
	caddyfile = globals + sites
	for range 2 { // replacements may hold placeholders
		caddyfile = strings.NewReplacer(replace...).Replace(caddyfile)
	}
	return caddyfile, port, metrics
}

// Caddyfile writes a Caddyfile and returns its path.
func Caddyfile(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "Caddyfile")
	Write(t, path, text)
	return path
}

// Start runs the server with a Caddyfile and stops it when the test ends. It
// returns once all addresses (host:port) accept connections.
func Start(t testing.TB, caddyfile string, addresses ...string) *Server {
	t.Helper()
	return Run(t, Caddyfile(t, caddyfile), nil, addresses...)
}

// Run is Start for a file that exists, with additional environment variables.
func Run(t testing.TB, config string, env []string, addresses ...string) *Server {
	t.Helper()
	cmd := exec.Command(Binary(t), "run", "--config", config, "--adapter", "caddyfile")
	cmd.Env = append(Home(t.TempDir()), env...)
	p, err := Launch(cmd)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Process: p, t: t}
	t.Cleanup(func() {
		s.Stop()
		s.show(t)
	})
	s.attendAt(t, addresses)
	return s
}

// Home returns the environment in which a server keeps what it has in a
// directory of its own.
func Home(dir string) []string {
	return append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
}

// NameInstance gives the instance with this home its ID, unless it has one. At a
// very first start Caddy itself may make two IDs, and keep the other.
func NameInstance(t testing.TB, home, id string) {
	t.Helper()
	path := filepath.Join(home, "caddy", "instance.uuid")
	if _, err := os.Stat(path); err == nil {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	Write(t, path, id)
}

// Stop ends the server.
func (s *Server) Stop() {
	s.t.Helper()
	if err := s.Interrupt(10 * time.Second); err != nil {
		s.t.Error(err)
	}
}

// WaitFor waits until the server accepts connections at an address.
func (s *Server) WaitFor(address string) {
	s.t.Helper()
	s.attendAt(s.t, []string{address})
}

// URL returns a URL on the server's port. Without a host it is that of a.test.
func (s *Server) URL(path string) string {
	if scheme, rest, ok := strings.Cut(path, "://"); ok {
		host, rest, _ := strings.Cut(rest, "/")
		return scheme + "://" + host + ":" + s.Port + "/" + rest
	}
	return "http://a.test:" + s.Port + path
}

// Lines returns the log lines with a message, decoded.
func (s *Server) Lines(message string) []map[string]any {
	var found []map[string]any
	for line := range strings.Lines(s.Logs.String()) {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) == nil && fields["msg"] == message {
			found = append(found, fields)
		}
	}
	return found
}

// Await returns the log lines with a message once there are n of them, or more.
// The server may answer before its log arrives here.
func (s *Server) Await(message string, n int) (found []map[string]any) {
	s.t.Helper()
	Eventually(s.t, fmt.Sprintf("%d lines %q in the log", n, message), func() bool {
		found = s.Lines(message)
		return len(found) >= n
	})
	return found
}

// Command runs the server's binary as a command and returns its output and exit
// code.
func Command(t testing.TB, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(Binary(t), args...)
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
