package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// match is one comparison under load: a server beside stock Caddy with the same
// sites, traffic and robots.txt.
type match struct {
	subject string
	server  string // how it is set up; see fleet
	base    string
	traffic string
	robots  string
	sites   int
	blocks  func(robots *policy.Robots, agent, target string) bool // nil: nothing
}

// byGuard is whom the guard in enforce has to block.
func byGuard(robots *policy.Robots, agent, target string) bool {
	id := uaident.Identify(agent)
	return id.Class != uaident.Browser && !robots.Select(id.Wildcard(), id.AppendChain(nil)...).Judge(target).Allowed
}

var names = regexp.MustCompile("(?i)" + namePattern())

// byName is whom the regular expressions block: a few browsers too, of whose
// versions "008" is a part.
func byName(_ *policy.Robots, agent, _ string) bool { return names.MatchString(agent) }

func matches() []match {
	return []match{
		{"stock Caddy again (the noise)", "stock again", "stock", "browsers", smallFile, 1, nil},
		{"monitor", "monitor", "stock", "browsers", smallFile, 1, nil},
		{"enforce", "enforce", "stock", "browsers", smallFile, 1, byGuard},
		{"monitor", "monitor", "stock", "crawlers", smallFile, 1, nil},
		{"enforce", "enforce", "stock", "crawlers", smallFile, 1, byGuard},
		{"enforce", "enforce", "stock", "mixed", smallFile, 1, byGuard},
		{"enforce, 10,000 rules", "enforce 10,000", "stock", "crawlers", rulesFile(10000, 40), 1, byGuard},
		{"enforce, 1,000 sites", "enforce sites", "stock sites", "browsers", smallFile, 1000, byGuard},
		{"enforce, 1,000 sites", "enforce sites", "stock sites", "mixed", smallFile, 1000, byGuard},
		{"User-Agent regexp, 166 names", "regexp", "stock", "browsers", smallFile, 1, byName},
		{"nginx, `map` of the same names", "nginx", "stock", "browsers", smallFile, 1, byName},
	}
}

// trafficOf returns a round of requests and the statuses they have to get.
func (m match) trafficOf(blocked bool) []request {
	const n = 1000
	agents := map[string][]string{
		"browsers": agentsOf(n, n, browserKinds...),
		"crawlers": agentsOf(n, n, robotKinds[:3]...),
		"mixed":    mixedAgents(n, n),
	}[m.traffic]
	paths := targets(n)
	robots := policy.Parse([]byte(m.robots))
	requests := make([]request, n)
	for i := range requests {
		target := paths[i]
		if i/3%2 == 0 { // every kind of client comes by both ways
			target = "/products" + target
		}
		status := 200
		if blocked && m.blocks != nil && m.blocks(robots, agents[i], target) {
			status = 403
		}
		requests[i] = newRequest(hostOf(i%m.sites), target, agents[i], status)
	}
	return requests
}

// fleet starts servers when they are first asked for.
type fleet struct {
	directory string
	caddy     string
	servers   map[string]*server
}

func newFleet() (*fleet, error) {
	directory, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	f := &fleet{directory: directory, servers: make(map[string]*server)}
	if f.caddy, err = buildCaddy(directory); err != nil {
		f.stop()
		return nil, err
	}
	return f, nil
}

func (f *fleet) stop() {
	for _, s := range f.servers {
		s.stop()
	}
	_ = os.RemoveAll(f.directory)
}

// server returns a running server that has read its robots.txt.
func (f *fleet) server(name string, m match) (*server, error) {
	if s := f.servers[name]; s != nil {
		return s, nil
	}
	directory := filepath.Join(f.directory, strings.Map(letters, name))
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(directory, "robots.txt"), []byte(m.robots), 0o644); err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	config := filepath.Join(directory, "config")
	extra := ""
	command := []string{f.caddy, "run", "--config", config, "--adapter", "caddyfile"}
	switch kind, _, _ := strings.Cut(name, " "); kind {
	case "monitor", "enforce":
		extra = guard(kind)
	case "regexp":
		extra = regexpSnippet()
	}
	text := caddyfile(address, directory, m.sites, extra)
	if name == "nginx" {
		command = []string{nginxBinary(), "-p", directory, "-c", config}
		text = nginxConfig(address, directory)
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	s, err := start(name, address, directory, command...)
	if err != nil {
		return nil, err
	}
	f.servers[name] = s
	return s, warm(s, m.sites)
}

// warm has each site asked by a crawler, which waits until robots.txt is read. No
// list names it.
func warm(s *server, sites int) error {
	requests := make([]request, sites)
	for i := range requests {
		requests[i] = newRequest(hostOf(i), "/products/", "ExampleBot/1.0 (+https://crawl.example/about)", 200)
	}
	return once(s.address, requests)
}

func letters(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}

// nginxBinary returns where nginx is, "" if it is not.
func nginxBinary() string {
	for _, name := range []string{"nginx", "/usr/sbin/nginx"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// duel is what the rounds of a match showed; ratios are to the base.
type duel struct {
	match
	perSecond, requests, p99 spread
	cpu                      *spread // of a request; nil where nothing tells
}

// fight runs the two servers of a match in turn.
func (f *fleet) fight(m match, e effort) (duel, error) {
	d := duel{match: m}
	base, err := f.server(m.base, m)
	if err != nil {
		return d, err
	}
	subject, err := f.server(m.server, m)
	if err != nil {
		return d, err
	}
	pair := [2]*server{base, subject}
	traffic := [2][]request{m.trafficOf(false), m.trafficOf(true)}
	var perSecond, requests, p99, cpu []float64
	for round := range e.loads + 1 {
		var results [2]loadResult
		var used [2]float64
		for turn := range pair {
			at := (turn + round) % 2
			before := pair[at].cpu()
			if results[at], err = drive(pair[at].address, traffic[at], e.load); err != nil {
				return d, fmt.Errorf("%s, %s: %w", pair[at].name, m.traffic, err)
			}
			used[at] = float64(pair[at].cpu()-before) / results[at].perSecond
		}
		if round == 0 {
			continue // it warms up
		}
		perSecond = append(perSecond, results[1].perSecond)
		requests = append(requests, results[1].perSecond/results[0].perSecond)
		p99 = append(p99, float64(results[1].p99)/float64(results[0].p99))
		if used[0] > 0 {
			cpu = append(cpu, used[1]/used[0])
		}
	}
	d.perSecond, d.requests, d.p99 = spreadOf(perSecond), spreadOf(requests), spreadOf(p99)
	if len(cpu) > 0 {
		s := spreadOf(cpu)
		d.cpu = &s
	}
	return d, nil
}

// requestsTable runs every match.
func requestsTable(e effort) (string, error) {
	f, err := newFleet()
	if err != nil {
		return "", err
	}
	defer f.stop()
	var b strings.Builder
	b.WriteString("| server | traffic | requests/s | requests/s to stock | processor time a request to stock | p99 to stock |\n|---|---|---|---|---|---|\n")
	for _, m := range matches() {
		if m.server == "nginx" && nginxBinary() == "" {
			fmt.Fprintf(&b, "| %s | not installed | | | | |\n", m.subject)
			continue
		}
		d, err := f.fight(m, e)
		if err != nil {
			return "", err
		}
		cpu := "unknown"
		if d.cpu != nil {
			cpu = d.cpu.String()
		}
		fmt.Fprintf(&b, "| %s | %s | %.0f | %s | %s | %s |\n", m.subject, m.traffic, d.perSecond.middle, d.requests, cpu, d.p99)
	}
	fmt.Fprintf(&b, "\n%d rounds of %v a server and row, after one to warm up; %d connections.\n", e.loads, e.load, connections)
	return b.String(), nil
}

// String renders a ratio with its quartiles.
func (s spread) String() string {
	return fmt.Sprintf("**%.3f** (%.3f to %.3f)", s.middle, s.low, s.high)
}
