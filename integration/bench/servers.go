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

	processes []int           // of the server, once it was asked what it computes
	visited   map[string]bool // by kind of traffic: each site had a request of each client
}

// answerBody is what every page of every server holds.
var answerBody = strings.Repeat("All is well. ", 80)

// hostOf returns the name of a site.
func hostOf(i int) string { return fmt.Sprintf("s%d.example", i) }

// respond is the directive that answers every page.
var respond = `respond "` + answerBody + `"`

// caddyfile returns the configuration of a site. extra stands in it before answer, which
// serves pages. The robots.txt is a file in directory.
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

// nameSites makes of the site of a Caddyfile so many that differ in nothing but their names,
// as JSON in its place: Caddy's adapter takes more than a minute for the most of them.
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

// guard returns the directive under test. The first request of a crawler waits
// for the robots.txt however long a busy machine takes.
func guard(mode string) string {
	return "robots_guard " + mode + " {\n\t\tfetch_timeout 20s\n\t\tfetch_wait 20s\n\t}"
}

// blockedNames is how many names the published block list has that the snippets
// resemble.
const blockedNames = 166

// namePattern returns a regular expression of as many names as that list has,
// those of AI crawlers first.
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

// regexpSnippet blocks User-Agents by a regular expression, as people do.
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

// start runs a server until stop, on that processor if it is not negative. It
// logs to a file, as servers do.
func start(name, address, directory string, processor int, command ...string) (*server, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = harness.Home(directory)
	log, err := os.Create(filepath.Join(directory, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close() // the server has its own
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
func (s *server) stop() { _ = s.process.Interrupt(10 * time.Second) } // it is killed then

// idle is longer than a server leaves between two looks at what is to be stored, and
// longestWork how long it may have work after its start.
const (
	idle        = 2500 * time.Millisecond
	longestWork = 5 * time.Minute
)

// settle waits until the server has hardly anything to do: what it was served of its sites
// is stored then, which it does once and not with each request.
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

// cpu returns the processor time that the server and its children have used, 0
// where nothing tells.
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

// numbers returns those in a line.
func numbers(line string) (list []int) {
	for field := range strings.FieldsSeq(line) {
		if n, err := strconv.Atoi(field); err == nil {
			list = append(list, n)
		}
	}
	return list
}
