package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// server is a web server under load.
type server struct {
	name    string
	address string
	process *harness.Process

	processes []int           // of the server, set at the first call of cpu
	visited   map[string]bool // by kind of traffic: each client has sent a request to each site
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
func (f *fleet) nameSites(path string, sites int) error {
	adapted, err := exec.Command(f.caddy, "adapt", "--config", path, "--adapter", "caddyfile").Output()
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

func nginxConfig(address, directory string) string {
	return fmt.Sprintf(`daemon off;
worker_processes 1;
error_log stderr crit;
pid %[1]s/nginx.pid;
events { worker_connections 1024; }
http {
	access_log off;
	keepalive_requests 100000000;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	map $http_user_agent $named { default 0; "~*(%[2]s)" 1; }
	server {
		listen %[3]s;
		location = /robots.txt { root %[1]s; }
		location / {
			if ($named) { return 403; }
			return 200 "%[4]s";
		}
	}
}
`, directory, strings.ReplaceAll(namePattern(), `\`, `\\`), address, answerBody)
}

// start runs a server until stop. If processor is not negative, start pins the server
// to that CPU. The server logs to a file, as in production.
func start(name, address, directory string, processor int, command ...string) (*server, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = harness.Home(directory)
	log, err := os.Create(filepath.Join(directory, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close() // the server has its own descriptor
	cmd.Stderr = log
	begin := cmd.Start
	if processor >= 0 {
		begin = func() error { return startOn(processor, cmd) }
	}
	s := &server{name: name, address: address, visited: make(map[string]bool)}
	if s.process, err = harness.LaunchBy(cmd, begin); err != nil {
		return nil, err
	}
	if err := s.process.Listens(address, time.Minute); err != nil {
		s.stop()
		text, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("%s: %w: %s", name, err, text)
	}
	return s, nil
}

// stop ends the server.
func (s *server) stop() { _ = s.process.Interrupt(10 * time.Second) } // kills it after the timeout

// idle is longer than the interval at which a server saves to the storage. longestWork
// limits the time that a server may be busy after its start.
const (
	idle        = 2500 * time.Millisecond
	longestWork = 5 * time.Minute
)

// settle waits until the server is idle. Until then the server saves the fetched
// robots.txt files to the storage, which happens once and not per request.
func (s *server) settle() error {
	for start := time.Now(); time.Since(start) < longestWork; {
		before := s.cpu()
		time.Sleep(idle)
		if s.cpu()-before < idle/50 {
			return nil
		}
	}
	return fmt.Errorf("%s still works after %v", s.name, longestWork)
}

// cpu returns the CPU time of the server and its children, 0 if unknown.
func (s *server) cpu() (total time.Duration) {
	if s.processes == nil {
		own := s.process.ID()
		s.processes = append(childrenOf(own), own)
	}
	for _, pid := range s.processes {
		used, known := cpuOf(pid)
		if !known {
			return 0
		}
		total += used
	}
	return total
}

// numbers returns the numbers in a line.
func numbers(line string) (list []int) {
	for field := range strings.FieldsSeq(line) {
		if n, err := strconv.Atoi(field); err == nil {
			list = append(list, n)
		}
	}
	return list
}
