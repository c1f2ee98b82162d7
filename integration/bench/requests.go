package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/integration/bench/empty"
	"github.com/robotsguard/caddy-robots-guard/integration/harness"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// match is one comparison under load: a server and a base, usually stock Caddy, with
// the same sites and traffic.
type match struct {
	subject string
	server  string // its configuration; see fleet
	base    string
	traffic string
	sites   int
	blocks  func(robots *policy.Robots, agent, target string) bool // reports whether the server has to respond with 403; nil: never
}

// byGuard reports whether the guard in mode enforce has to block a request.
func byGuard(robots *policy.Robots, agent, target string) bool {
	id := uaident.Identify(agent)
	return id.Class != uaident.Browser && !robots.Select(id.WildcardApplies(), id.AppendNames(nil)...).Judge(target).Allowed
}

var names = regexp.MustCompile("(?i)" + namePattern())

// byName reports whether the regular expressions block a request. They also match the
// name "008" in the versions of a few browsers.
func byName(_ *policy.Robots, agent, _ string) bool { return names.MatchString(agent) }

// Subjects that requestsAims uses.
const (
	noiseSubject  = "stock Caddy again (the noise)"
	emptySubject  = "an empty handler"
	limitSubject  = "enforce, to an empty handler"
	proxySubject  = "enforce, before a reverse_proxy"
	emptyProxy    = "an empty handler, before a reverse_proxy"
	regexpSubject = "User-Agent regexp, 166 names"
	nginxSubject  = "nginx, map of these names"
)

// Numbers of sites of servers with several sites.
const (
	fewerSites = 1000
	mostSites  = 100_000
)

// ofSites returns the name of a subject with the given number of sites.
func ofSites(subject string, sites int) string { return subject + ", " + thousands(sites) + " sites" }

func matches() []match {
	list := []match{
		{subject: noiseSubject, server: "stock again", base: "stock", traffic: "browsers"},
		{subject: emptySubject, server: "empty", base: "stock", traffic: "browsers"},
		{subject: "monitor", server: "monitor", base: "stock", traffic: "browsers"},
		{subject: "enforce", server: "enforce", base: "stock", traffic: "browsers", blocks: byGuard},
		{subject: limitSubject, server: "enforce", base: "empty", traffic: "browsers", blocks: byGuard},
		{subject: emptyProxy, server: "empty proxy", base: "stock proxy", traffic: "browsers"},
		{subject: proxySubject, server: "enforce proxy", base: "stock proxy", traffic: "browsers", blocks: byGuard},
		{subject: regexpSubject, server: "regexp", base: "stock", traffic: "browsers", blocks: byName},
		{subject: nginxSubject, server: "nginx", base: "stock", traffic: "browsers", blocks: byName},
	}
	list = append(list, match{subject: "enforce", server: "enforce", base: "stock", traffic: "crawlers", blocks: byGuard})
	for _, sites := range []int{fewerSites, mostSites} {
		for _, traffic := range []string{"browsers", "crawlers"} {
			many := func(subject, kind string) match {
				return match{subject: ofSites(subject, sites), server: kind + " " + thousands(sites), base: "stock " + thousands(sites), traffic: traffic, sites: sites}
			}
			guarded := many("enforce", "enforce")
			guarded.blocks = byGuard
			list = append(list, guarded, many(emptySubject, "empty"))
		}
	}
	for i := range list {
		list[i].sites = max(1, list[i].sites)
	}
	return list
}

// trafficOf returns a round of requests with the expected statuses. The requests come
// from a thousand clients, and each site gets at least one.
func (m match) trafficOf(blocked bool) []request {
	const n = 1000
	agents := map[string][]string{
		"browsers": agentsOf(n, n, browserKinds...),
		"crawlers": agentsOf(n, n, robotKinds[:3]...),
	}[m.traffic]
	paths := targets(n)
	robots := policy.Parse([]byte(smallFile))
	requests := make([]request, max(n, m.sites))
	for i := range requests {
		target, agent := paths[i%n], agents[i%n]
		if i%n/3%2 == 0 { // each kind of client requests both kinds of paths
			target = "/products" + target
		}
		status := 200
		if blocked && m.blocks != nil && m.blocks(robots, agent, target) {
			status = 403
		}
		requests[i] = newRequest(hostOf(i%m.sites), target, agent, status)
	}
	return requests
}

// fleet starts each server when it is first needed.
type fleet struct {
	directory string
	caddy     string
	processor int // pins the servers to this CPU; negative for all CPUs
	servers   map[string]*server
	origin    *httptest.Server // in this process; upstream of the servers with reverse_proxy
}

func newFleet() (*fleet, error) {
	directory, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	f := &fleet{directory: directory, processor: -1, servers: make(map[string]*server)}
	f.origin = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answerBody)
	}))
	f.caddy = filepath.Join(directory, "caddy")
	if err = harness.Build(".", "./caddy", f.caddy); err != nil {
		f.stop()
		return nil, err
	}
	return f, nil
}

func (f *fleet) stop() {
	for _, s := range f.servers {
		s.stop()
	}
	f.origin.Close()
	_ = os.RemoveAll(f.directory)
}

// forget stops a server. The next use starts it again.
func (f *fleet) forget(name string) {
	if s := f.servers[name]; s != nil {
		s.stop()
		delete(f.servers, name)
	}
}

// server returns a running server with a cached robots.txt.
func (f *fleet) server(name string, m match) (*server, error) {
	if s := f.servers[name]; s != nil {
		return s, nil
	}
	directory := filepath.Join(f.directory, strings.Map(letters, name))
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(directory, "robots.txt"), []byte(smallFile), 0o644); err != nil {
		return nil, err
	}
	port, err := harness.ClaimPort()
	if err != nil {
		return nil, err
	}
	address := "127.0.0.1:" + port
	config := filepath.Join(directory, "config")
	extra := ""
	command := []string{f.caddy, "run", "--config", config, "--adapter", "caddyfile"}
	switch kind, _, _ := strings.Cut(name, " "); kind {
	case "monitor", "enforce":
		extra = guard(kind)
	case "empty":
		extra = empty.Directive
	case "regexp":
		extra = regexpSnippet()
	}
	answer := respond
	if strings.HasSuffix(name, " proxy") {
		answer = "reverse_proxy " + f.origin.Listener.Addr().String()
	}
	text := caddyfile(address, directory, extra, answer)
	if m.sites == mostSites && extra != "" && extra != empty.Directive { // storing so many files takes minutes
		text = strings.Replace(text, "admin off", "admin off\n\trobots_guard {\n\t\tstorage off\n\t}", 1)
	}
	if name == "nginx" {
		command = []string{nginxBinary(), "-p", directory, "-c", config}
		text = nginxConfig(address, directory)
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	if m.sites > 1 {
		command = []string{f.caddy, "run", "--config", config}
		if err := f.nameSites(config, m.sites); err != nil {
			return nil, err
		}
	}
	s, err := start(name, address, directory, f.processor, command...)
	if err != nil {
		return nil, err
	}
	f.servers[name] = s
	if err = warm(s, m.sites); err != nil || m.sites == 1 {
		return s, err
	}
	return s, s.settle()
}

// warm sends a crawler's request to each site. The request waits until the guard has
// fetched robots.txt. The crawler is not in the registry.
func warm(s *server, sites int) error {
	requests := make([]request, sites)
	for i := range requests {
		requests[i] = newRequest(hostOf(i), "/products/", "ExampleBot/1.0 (+https://crawl.example/about)", 200)
	}
	return onceByAll(s.address, requests)
}

func letters(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}

// nginxBinary returns the path of nginx, or "".
func nginxBinary() string {
	for _, name := range []string{"nginx", "/usr/sbin/nginx"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
