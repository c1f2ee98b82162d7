package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/bench/empty"
	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// setup is the configuration of a server.
type setup struct {
	kind    string // stock, empty, monitor, enforce or regexp
	proxy   bool   // the site is a reverse_proxy; else it responds itself
	sites   int    // 0 for 1
	robots  string // the robots.txt; "" for smallFile
	options string // global options, for a server with the guard
}

// guarded reports whether the server has the guard.
func (s setup) guarded() bool { return s.kind == "enforce" || s.kind == "monitor" }

// launcher starts servers in a temporary directory.
type launcher struct {
	directory string
	caddy     string           // path of the program
	origin    *httptest.Server // in this process; upstream of the servers with reverse_proxy
	processor int              // the CPU of the servers; negative for all CPUs
	release   func()           // undoes the pinning of this process
	launched  int
}

// newLauncher builds Caddy with the guard. It pins servers to one CPU and this process
// to the others, until close.
func newLauncher() (*launcher, error) {
	directory, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	l := &launcher{directory: directory, caddy: filepath.Join(directory, "caddy"), processor: -1, release: func() {}}
	l.origin = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answerBody)
	}))
	if err = harness.Build(".", "./caddy", l.caddy); err != nil {
		l.close()
		return nil, err
	}
	if list := processors(); len(list) > 1 && stayOn(list[1:]) == nil {
		l.processor = list[0]
		before := runtime.GOMAXPROCS(2) // one for the clients, one for the origin
		l.release = func() {
			runtime.GOMAXPROCS(before)
			_ = stayOn(list)
		}
	}
	return l, nil
}

func (l *launcher) close() {
	l.release()
	l.origin.Close()
	_ = os.RemoveAll(l.directory)
}

// launch starts a server and sends a crawler's request to each site. These requests
// wait until the guard has fetched robots.txt. The crawler is not in the registry.
func (l *launcher) launch(s setup) (*server, error) {
	l.launched++
	directory := filepath.Join(l.directory, fmt.Sprint(l.launched))
	if err := os.Mkdir(directory, 0o755); err != nil {
		return nil, err
	}
	if s.robots == "" {
		s.robots = smallFile
	}
	if err := os.WriteFile(filepath.Join(directory, "robots.txt"), []byte(s.robots), 0o644); err != nil {
		return nil, err
	}
	port, err := harness.ClaimPort()
	if err != nil {
		return nil, err
	}
	address := "127.0.0.1:" + port
	extra := ""
	switch s.kind {
	case "monitor", "enforce":
		extra = guard(s.kind)
	case "empty":
		extra = empty.Directive
	case "regexp":
		extra = regexpSnippet()
	}
	answer := respond
	if s.proxy {
		answer = "reverse_proxy " + l.origin.Listener.Addr().String()
	}
	if !s.guarded() {
		s.options = ""
	}
	text := strings.Replace(caddyfile(address, directory, extra, answer), "{\n", "{\n\t"+s.options+"\n", 1)
	config := filepath.Join(directory, "config") // Caddy adapts a file with the name Caddyfile even without --adapter
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	command := []string{l.caddy, "run", "--config", config, "--adapter", "caddyfile"}
	if s.sites > 1 {
		command = command[:4]
		if err := l.nameSites(config, s.sites); err != nil {
			return nil, err
		}
	}
	running, err := l.start(s.kind, address, directory, command...)
	if err != nil {
		return nil, err
	}
	warm := make([]request, max(1, s.sites))
	for i := range warm {
		warm[i] = newRequest(hostOf(i), "/products/", "ExampleBot/1.0 (+https://crawl.example/about)", 200)
	}
	if err := onceByAll(address, warm); err != nil {
		running.stop()
		return nil, fmt.Errorf("%s: %w", s.kind, err)
	}
	return running, nil
}

// server is a running web server.
type server struct {
	kind    string
	address string
	process *harness.Process
}

// answerBody is the body of every page.
var answerBody = strings.Repeat("All is well. ", 80)

// hostOf returns the name of a site.
func hostOf(i int) string { return fmt.Sprintf("s%d.example", i) }

// respond is the directive that responds to every request for a page.
var respond = `respond "` + answerBody + `"`

// caddyfile returns the configuration of a site. extra precedes answer, the
// directive that serves pages. The robots.txt is a file in directory.
func caddyfile(address, directory, extra, answer string) string {
	_, port, _ := net.SplitHostPort(address)
	return fmt.Sprintf(`{
	admin off
	persist_config off
	auto_https off
	skip_install_trust
}
http://%s:%s {
	bind 127.0.0.1
	%s
	handle /robots.txt {
		root * %s
		file_server
	}
	handle {
		%s
	}
}
`, hostOf(0), port, extra, directory, answer)
}

// nameSites replaces the Caddyfile at path by JSON with n copies of its site, which
// differ only in their names. Caddy's adapter would take more than a minute for the
// largest number.
func (l *launcher) nameSites(path string, sites int) error {
	adapted, err := exec.Command(l.caddy, "adapt", "--config", path, "--adapter", "caddyfile").Output()
	if err != nil {
		return fmt.Errorf("adapting %s: %w", path, err)
	}
	names := make([]string, sites)
	for i := range names {
		names[i] = hostOf(i)
	}
	one, _ := json.Marshal(names[:1])
	all, _ := json.Marshal(names)
	return os.WriteFile(path, bytes.ReplaceAll(adapted, one, all), 0o600)
}

// guard returns the directive under test. The long timeouts let the first request of a
// crawler wait for robots.txt on a busy machine.
func guard(mode string) string {
	return "robots_guard " + mode + " {\n\t\tfetch_timeout 20s\n\t\tfetch_wait 20s\n\t}"
}

// blockedNames is the number of names in the published block list that the snippets
// resemble.
const blockedNames = 166

// namePattern returns a regular expression of blockedNames names, AI crawlers first.
func namePattern() string {
	isAI := func(c *uaident.Crawler) bool {
		return c.Class == uaident.AITraining || c.Class == uaident.AISearch || c.Class == uaident.AIAssistant
	}
	names := append(tokens(isAI), tokens(func(c *uaident.Crawler) bool { return c.Class.IsCrawler() && !isAI(c) })...)[:blockedNames]
	for i, name := range names {
		names[i] = strings.NewReplacer(".", `\.`, " ", `\ `, "+", `\+`, "(", `\(`, ")", `\)`).Replace(name)
	}
	return strings.Join(names, "|")
}

// regexpSnippet blocks User-Agents by a regular expression, as many sites do.
func regexpSnippet() string {
	return "@named header_regexp User-Agent `(?i)(" + namePattern() + ")`\n\thandle @named {\n\t\trespond 403\n\t}"
}

// start runs a server until stop. The server logs to a file, as in production.
func (l *launcher) start(kind, address, directory string, command ...string) (*server, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = harness.Home(directory)
	log, err := os.Create(filepath.Join(directory, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close() // the server has its own descriptor
	cmd.Stderr = log
	begin := cmd.Start
	if l.processor >= 0 {
		begin = func() error { return startOn(l.processor, cmd) }
	}
	s := &server{kind: kind, address: address}
	if s.process, err = harness.LaunchBy(cmd, begin); err != nil {
		return nil, err
	}
	if err := s.process.Listens(address, time.Minute); err != nil {
		s.stop()
		text, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("%s: %w: %s", kind, err, text)
	}
	return s, nil
}

// stop ends the server.
func (s *server) stop() { _ = s.process.Interrupt(10 * time.Second) } // kills it after the timeout

// cpu returns the processor time of the server, 0 if unknown.
func (s *server) cpu() time.Duration { return cpuOf(s.process.ID()) }
