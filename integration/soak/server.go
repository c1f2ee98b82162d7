package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// server is the server under test.
type server struct {
	port, admin string
	caddyfile   string // with $NAME and $STATUS for what a configuration decides
	process     *harness.Process
	logFile     string
	client      http.Client // for the admin endpoint
}

const caddyfile = `{
	admin 127.0.0.1:$ADMIN
	persist_config off
	robots_guard {
		storage on
	}
}
(guarded) {
	header X-Config $NAME
	header >X-Verdict {http.robots_guard.verdict}
	robots_guard {args[0]} {
		ttl 1s 1s
		fetch_timeout 2s
		grace off
		status $STATUS
	}
}
(proxied) {
	reverse_proxy {args[0]} {
		{block}
		transport http {
			keepalive off # Caddy leaves these connections idle after a reload
			dial_timeout 30s # of 3 s a loaded machine needs more
			dial_timeout 30s
		}
	}
}
http://files.test:$PORT {
	import guarded enforce
	root $FILES
	file_server
}
http://checked.test:$PORT {
	import guarded enforce
	import proxied $CHECKED {
		fail_duration 1h
		max_fails 1
		unhealthy_status 5xx
	}
}
http://failing.test:$PORT {
	import guarded enforce
	import proxied $FAILING
}
http://monitored.test:$PORT {
	import guarded monitor
	import proxied $MONITORED
}
http://:$PORT {
	import guarded enforce
	import proxied $INVENTED
}
`

// startServer builds the product into a folder and starts it. Each pair of
// replace is what stands in the Caddyfile and its replacement.
func startServer(folder string, first config, replace ...string) (*server, error) {
	root, err := harness.Root()
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(folder, "caddy")
	if err := harness.Build(root, "./cmd/caddy", binary); err != nil {
		return nil, err
	}
	s := &server{logFile: filepath.Join(folder, "log"), client: http.Client{
		Timeout:   time.Minute,
		Transport: &http.Transport{DisableKeepAlives: true}, // each reload replaces the endpoint
	}}
	if s.port, err = harness.ClaimPort(); err != nil {
		return nil, err
	}
	if s.admin, err = harness.ClaimPort(); err != nil {
		return nil, err
	}
	s.caddyfile = strings.NewReplacer(append(replace, "$PORT", s.port, "$ADMIN", s.admin)...).Replace(caddyfile)
	file := filepath.Join(folder, "Caddyfile")
	if err := os.WriteFile(file, s.configured(first), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, "run", "--config", file, "--adapter", "caddyfile")
	cmd.Env = harness.Home(folder)
	log, err := os.Create(s.logFile)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the server has its own
	cmd.Stderr = log
	if s.process, err = harness.Launch(cmd); err != nil {
		return nil, err
	}
	return s, nil
}

// logs returns what the server has logged from the first occurrence of a word
// on, shortened, and whether there is any.
func (s *server) logs(from string) (text string, found bool) {
	all, _ := os.ReadFile(s.logFile) // there may be none yet
	i := bytes.Index(all, []byte(from))
	if i < 0 {
		return "", false
	}
	return string(all[i:min(len(all), i+4000)]), true
}

// stop ends the server.
func (s *server) stop() {
	_ = s.process.Interrupt(time.Minute) // it is killed then
}

// configured returns the Caddyfile of a configuration.
func (s *server) configured(c config) []byte {
	return []byte(strings.NewReplacer("$NAME", strconv.Itoa(int(c)), "$STATUS", strconv.Itoa(c.status())).Replace(s.caddyfile))
}

// load gives the server a configuration.
func (s *server) load(c config) error {
	_, err := s.ask(http.MethodPost, "/load", "text/caddyfile", s.configured(c))
	return err
}

// ask makes a request to the admin endpoint, again if no answer comes, since
// a reload may be replacing it.
func (s *server) ask(method, path, contentType string, body []byte) ([]byte, error) {
	var failed error
	for range 50 {
		r, err := http.NewRequest(method, "http://127.0.0.1:"+s.admin+path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", contentType)
		response, err := s.client.Do(r)
		if err == nil {
			var answer []byte
			answer, err = io.ReadAll(response.Body)
			response.Body.Close()
			if err == nil {
				if response.StatusCode >= 300 {
					return nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, answer)
				}
				return answer, nil
			}
		}
		failed = err
		select {
		case <-s.process.Done():
			return nil, fmt.Errorf("the server ended: %v", s.process.State())
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil, failed
}

// metrics returns all metrics, by name and labels as they are written.
func (s *server) metrics() (map[string]float64, error) {
	text, err := s.ask(http.MethodGet, "/metrics", "", nil)
	if err != nil {
		return nil, err
	}
	all := make(map[string]float64)
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), "} ")
		if name == lines.Text() {
			name, value, _ = strings.Cut(name, " ")
		} else {
			name += "}"
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			all[name] = n
		}
	}
	return all, lines.Err()
}

// version returns the hash of the robots.txt in force for a host, empty if none
// is known.
func (s *server) version(host string) (string, error) {
	text, err := s.ask(http.MethodGet, "/robots_guard/policies/"+host+":"+s.port, "", nil)
	if err != nil {
		return "", err
	}
	var policy struct {
		Version string `json:"version"`
	}
	return policy.Version, json.Unmarshal(text, &policy)
}

// refresh makes the robots.txt of a host due.
func (s *server) refresh(host string) error {
	_, err := s.ask(http.MethodPost, "/robots_guard/policies/"+host+":"+s.port+"/refresh", "", nil)
	return err
}
