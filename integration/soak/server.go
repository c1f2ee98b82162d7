package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

//go:embed Caddyfile
var caddyfile string

// server is the server under test.
type server struct {
	folder            string
	clear, tls, admin string // ports; clear is the one without TLS
	caddyfile         string
	process           *harness.Process
	origin            *origin
	admins            http.Client
}

// startServer builds the product into a folder and starts it.
func startServer(folder string, o *origin) (*server, error) {
	root, err := harness.Root()
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(folder, "caddy")
	if err := harness.Build(root, "./cmd/caddy", binary); err != nil {
		return nil, err
	}
	s := &server{folder: folder, origin: o, admins: http.Client{
		Timeout:   time.Minute,
		Transport: &http.Transport{DisableKeepAlives: true}, // each reload replaces the admin endpoint
	}}
	for _, port := range []*string{&s.clear, &s.tls, &s.admin} {
		if *port, err = harness.ClaimPort(); err != nil {
			return nil, err
		}
	}
	s.caddyfile = strings.NewReplacer("$CLEAR", s.clear, "$TLS", s.tls, "$ADMIN", s.admin, "$ORIGIN", o.address(),
		"$STORE", s.file("store"), "$FILES", s.file("site"), "$REGISTRY", s.file("registry.json"), "$RANGES", s.file("ranges.txt")).Replace(caddyfile)
	if err := s.makeSite(); err != nil {
		return nil, err
	}
	config := s.file("Caddyfile")
	if err := os.WriteFile(config, []byte(s.caddyfile), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, "run", "--config", config, "--adapter", "caddyfile")
	cmd.Env = harness.Home(folder)
	log, err := os.Create(s.file("log"))
	if err != nil {
		return nil, err
	}
	defer log.Close() // the server has its own descriptor
	cmd.Stderr = log
	if s.process, err = harness.Launch(cmd); err != nil {
		return nil, err
	}
	for _, port := range []string{s.clear, s.tls, s.admin} {
		if err := s.process.Listens("127.0.0.1:"+port, time.Minute); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, s.logged("error"))
		}
	}
	return s, nil
}

func (s *server) file(name string) string { return filepath.Join(s.folder, name) }

// stop stops the server.
func (s *server) stop() { _ = s.process.Interrupt(time.Minute) } // kills it after the timeout

// makeSite writes the files of files.test and the address list of the configuration.
func (s *server) makeSite() error {
	for name, text := range map[string]string{"ranges.txt": listed + "/32\n", "site/page": "page", "site/private/x": "private", "site/new/x": "new"} {
		if err := os.MkdirAll(filepath.Dir(s.file(name)), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(s.file(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return s.publish(0)
}

// publish writes a version of the robots.txt of files.test and a version of the
// registry.
func (s *server) publish(version int64) error {
	class := [...]string{"ai_training", "seo"}[version%2]
	registry := fmt.Sprintf(`{"crawlers": [{"token": "Quuxle", "operator": "Quux", "class": %q, "source": "https://quuxle.test/"}]}`, class)
	return errors.Join(replaceFile(s.file("site/robots.txt"), robotsText(version)), replaceFile(s.file("registry.json"), registry))
}

// replaceFile replaces a file atomically.
func replaceFile(name, content string) error {
	next := name + ".next"
	if err := os.WriteFile(next, []byte(content), 0o600); err != nil {
		return err
	}
	return os.Rename(next, name)
}

// ask sends a request to the admin endpoint. It retries if there is no response,
// because a reload may be replacing the endpoint.
func (s *server) ask(method, path, body string) (answer []byte, err error) {
	for range 50 {
		var status int
		if status, answer, err = s.askOnce(method, path, body); err == nil {
			if status >= 300 {
				err = fmt.Errorf("%s %s: %d: %s", method, path, status, answer)
			}
			return answer, err
		}
		if s.process.EndsWithin(100 * time.Millisecond) {
			return nil, fmt.Errorf("the server ended: %v", s.process.State())
		}
	}
	return nil, err
}

func (s *server) askOnce(method, path, body string) (status int, answer []byte, err error) {
	r, err := http.NewRequest(method, "http://127.0.0.1:"+s.admin+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "text/caddyfile")
	r.Header.Set("Cache-Control", "must-revalidate") // makes Caddy reload an unchanged configuration as well
	response, err := s.admins.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// logged returns the log from the first occurrence of a word, shortened.
func (s *server) logged(word string) string {
	all, _ := os.ReadFile(s.file("log")) // empty without a log
	i := bytes.Index(all, []byte(word))
	if i < 0 {
		return ""
	}
	return string(all[i:min(len(all), i+4000)])
}
