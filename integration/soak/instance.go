package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// instance is one of the servers under test. It lives until it is killed, and
// then again.
type instance struct {
	name           string
	clear, tls     string // ports, without TLS and with it
	admin          string
	folder, binary string
	caddyfile      string // with $NAME and $STATUS for what a configuration decides
	config         *fact[config]
	fresh          *fact[bool]  // it was just started and may not know what the others do
	loading        sync.Mutex   // is held while it is reloaded, or down
	gate           sync.RWMutex // is held by each request that is under way; locked, nobody asks
	admins         http.Client
	mu             sync.Mutex
	process        *harness.Process
	calls          *callers
	since          time.Time
}

// startInstances builds the product into a folder and starts so many instances
// on one storage. Each pair of replace is what stands in the Caddyfile and its
// replacement.
func startInstances(folder string, n int, replace ...string) (all []*instance, err error) {
	root, err := harness.Root()
	if err != nil {
		return nil, err
	}
	binary := filepath.Join(folder, "caddy")
	if err := harness.Build(root, "./cmd/caddy", binary); err != nil {
		return nil, err
	}
	replace = append(replace, "$STORE", filepath.Join(folder, "store"))
	for i := range n {
		in := &instance{
			name: string(rune('A' + i)), binary: binary,
			config: newFact(config(0)), fresh: newFact(false),
			admins: http.Client{
				Timeout:   time.Minute,
				Transport: &http.Transport{DisableKeepAlives: true}, // each reload replaces the endpoint
			},
		}
		in.folder = filepath.Join(folder, in.name)
		if err := os.MkdirAll(in.folder, 0o700); err != nil {
			return all, err
		}
		for _, port := range []*string{&in.clear, &in.tls, &in.admin} {
			if *port, err = harness.ClaimPort(); err != nil {
				return all, err
			}
		}
		in.caddyfile = strings.NewReplacer(append(replace, "$CLEAR", in.clear, "$TLS", in.tls, "$ADMIN", in.admin)...).Replace(caddyfile)
		if err := in.start(); err != nil {
			return all, err
		}
		all = append(all, in)
	}
	return all, nil
}

// start begins a life.
func (in *instance) start() error {
	file := filepath.Join(in.folder, "Caddyfile")
	if err := os.WriteFile(file, in.configured(in.config.last()), 0o600); err != nil {
		return err
	}
	log, err := os.OpenFile(in.log(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the server has its own
	cmd := exec.Command(in.binary, "run", "--config", file, "--adapter", "caddyfile")
	cmd.Env, cmd.Stderr = harness.Home(in.folder), log
	process, err := harness.Launch(cmd)
	if err != nil {
		return err
	}
	in.mu.Lock()
	in.process, in.calls, in.since = process, newCallers(in), time.Now()
	in.mu.Unlock()
	for _, port := range []string{in.clear, in.tls, in.admin} {
		if err := process.Listens("127.0.0.1:"+port, time.Minute); err != nil {
			text, _ := in.logged("")
			return fmt.Errorf("%s: %w\n%s", in.name, err, text)
		}
	}
	// Caddy starts its apps in any order, so that requests may come before lists are read.
	return eventually(in.name+" reads the list of addresses", func() error {
		all, err := in.metrics()
		if err == nil && !has(all, "caddy_robots_guard_address_list_prefixes") {
			err = errors.New("it has read none")
		}
		return err
	})
}

// life returns what there is once in a life.
func (in *instance) life() (*harness.Process, *callers) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.process, in.calls
}

// born returns when the life began.
func (in *instance) born() time.Time {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.since
}

// kill ends the life as a power failure would.
func (in *instance) kill() {
	process, calls := in.life()
	process.Kill()
	calls.close() // who waits for an answer by UDP would not notice
}

// stop ends the server.
func (in *instance) stop() {
	process, calls := in.life()
	calls.close()
	_ = process.Interrupt(time.Minute) // it is killed then
}

func (in *instance) log() string { return filepath.Join(in.folder, "log") }

// logged returns what the server has logged from the first occurrence of a word
// on, shortened, and whether there is any.
func (in *instance) logged(from string) (text string, found bool) {
	all, _ := os.ReadFile(in.log()) // there may be none yet
	i := bytes.Index(all, []byte(from))
	if i < 0 {
		return "", false
	}
	return string(all[i:min(len(all), i+4000)]), true
}

// configured returns the Caddyfile of a configuration.
func (in *instance) configured(c config) []byte {
	return []byte(strings.NewReplacer("$NAME", strconv.Itoa(int(c)), "$STATUS", strconv.Itoa(c.status())).Replace(in.caddyfile))
}

// reload gives the server the next configuration.
func (in *instance) reload() (err error) {
	in.loading.Lock()
	defer in.loading.Unlock()
	next := in.config.last() + 1
	in.config.change(next, func() { _, err = in.ask(http.MethodPost, "/load", "text/caddyfile", in.configured(next)) })
	return err
}

// ask makes a request to the admin endpoint, again if no answer comes, since
// a reload may be replacing it.
func (in *instance) ask(method, path, contentType string, body []byte) ([]byte, error) {
	process, _ := in.life()
	var failed error
	for range 50 {
		r, err := http.NewRequest(method, "http://127.0.0.1:"+in.admin+path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", contentType)
		response, err := in.admins.Do(r)
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
		case <-process.Done():
			return nil, fmt.Errorf("%s ended: %v", in.name, process.State())
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil, failed
}
