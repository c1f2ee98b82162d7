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
	Port        string // value of $PORT in the Caddyfile
	MetricsPort string // port of the metrics endpoint
	t           testing.TB
}

// globals are the options of every configuration that Serve makes. Storage cleaning is
// off, because it may remove the folder of a certificate that Caddy is about to store.
// Caddy would retry only after a minute.
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

// Serve runs the server with the given sites and returns once it accepts connections.
// $PORT in sites stands for a free port, and $GLOBAL for additional global options.
// replace holds pairs of a placeholder and its replacement.
func Serve(t testing.TB, sites string, replace ...string) *Server {
	t.Helper()
	return ServeWith(t, nil, sites, replace...)
}

// ServeWith is like Serve with additional environment variables.
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
	for range 2 { // replacements may contain placeholders
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

// Start runs the server with a Caddyfile and stops it at the end of the test. It
// returns once all addresses (host:port) accept connections.
func Start(t testing.TB, caddyfile string, addresses ...string) *Server {
	t.Helper()
	return Run(t, Caddyfile(t, caddyfile), nil, addresses...)
}

// Run is like Start for an existing file, with additional environment variables.
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

// Home returns an environment in which a server stores its data in dir.
func Home(dir string) []string {
	return append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
}

// NameInstance sets the ID of the Caddy instance with the given home, unless it has
// one. At its first start Caddy itself may generate two IDs and store the second.
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

// Stop stops the server.
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

// URL returns a URL with the port of the server. The default host is a.test.
func (s *Server) URL(path string) string {
	if scheme, rest, ok := strings.Cut(path, "://"); ok {
		host, rest, _ := strings.Cut(rest, "/")
		return scheme + "://" + host + ":" + s.Port + "/" + rest
	}
	return "http://a.test:" + s.Port + path
}

// Lines returns the decoded log lines with the given message.
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

// Await waits for at least n log lines with the given message and returns them. Log
// lines may arrive after the response.
func (s *Server) Await(message string, n int) (found []map[string]any) {
	s.t.Helper()
	Eventually(s.t, fmt.Sprintf("%d lines %q in the log", n, message), func() bool {
		found = s.Lines(message)
		return len(found) >= n
	})
	return found
}

// Command runs the server's binary as a command. It returns the output and the exit
// status.
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
