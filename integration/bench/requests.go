package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// pair is a comparison of two servers under load, with the same traffic.
type pair struct {
	subject      string // name of the server in the table
	server, base setup
	traffic      string // browsers or crawlers
	// reports whether the server has to respond with 403; nil: never
	blocks func(robots *policy.Robots, agent, target string) bool
}

// byGuard reports whether the guard in mode enforce has to block a request.
func byGuard(robots *policy.Robots, agent, target string) bool {
	id := uaident.Identify(agent)
	return id.Class != uaident.Browser && !robots.Select(id.WildcardApplies(), id.AppendNames(nil)...).Judge(target).Allowed
}

var names = regexp.MustCompile("(?i)" + namePattern())

// byName reports whether the regular expression blocks a request. It also matches the
// name "008" in the versions of a few browsers.
func byName(_ *policy.Robots, agent, _ string) bool { return names.MatchString(agent) }

var pairs = []pair{
	{"stock Caddy again (the noise)", setup{kind: "stock"}, setup{kind: "stock"}, "browsers", nil},
	{"an empty handler", setup{kind: "empty"}, setup{kind: "stock"}, "browsers", nil},
	{"monitor", setup{kind: "monitor"}, setup{kind: "stock"}, "browsers", nil},
	{"enforce", setup{kind: "enforce"}, setup{kind: "stock"}, "browsers", byGuard},
	{"enforce, to an empty handler", setup{kind: "enforce"}, setup{kind: "empty"}, "browsers", byGuard},
	{"an empty handler, before a reverse_proxy", setup{kind: "empty", proxy: true}, setup{kind: "stock", proxy: true}, "browsers", nil},
	{"enforce, before a reverse_proxy", setup{kind: "enforce", proxy: true}, setup{kind: "stock", proxy: true}, "browsers", byGuard},
	{fmt.Sprintf("User-Agent regexp, %d names", blockedNames), setup{kind: "regexp"}, setup{kind: "stock"}, "browsers", byName},
	{"enforce", setup{kind: "enforce"}, setup{kind: "stock"}, "crawlers", byGuard},
}

// clientsOf returns a thousand User-Agents of browsers or crawlers.
func clientsOf(traffic string) []string {
	if traffic == "browsers" {
		return agentsOf(1000, 1000, browserKinds...)
	}
	return agentsOf(1000, 1000, robotKinds[:3]...)
}

// visits calls visit with pairs of a client and a target, until visit returns false.
// Each kind of client requests targets of two folders.
func visits(agents []string, visit func(agent, target string) bool) {
	paths := targets(1000)
	for i := 0; ; i++ {
		target := paths[i%len(paths)]
		if i%len(paths)/3%2 == 0 {
			target = "/products" + target
		}
		if !visit(agents[i%len(agents)], target) {
			return
		}
	}
}

// requests returns a round of requests with the expected statuses of the server, or of
// the base.
func (p pair) requests(ofServer bool) (list []request) {
	robots := policy.Parse([]byte(smallFile))
	visits(clientsOf(p.traffic), func(agent, target string) bool {
		status := 200
		if ofServer && p.blocks != nil && p.blocks(robots, agent, target) {
			status = 403
		}
		list = append(list, newRequest(hostOf(0), target, agent, status))
		return len(list) < 1000
	})
	return list
}

// pairResult is the result of a pair. Ratios are relative to the base.
type pairResult struct {
	pair
	baseCPU       float64  // median nanoseconds of processor time per request, 0 if unknown
	requests, cpu estimate // ratios of requests per second and of processor time per request
}

// measure runs the two servers of a pair in turns: base, server, server, base. This
// order makes drift affect both servers equally. measure starts the servers several
// times, because two processes of one program differ as well.
func (l *launcher) measure(p pair, e effort) (pairResult, error) {
	result := pairResult{pair: p}
	traffic := [2][]request{p.requests(false), p.requests(true)}
	var baseCPU []float64
	var requests, cpu [][]float64
	for range e.starts {
		rounds, err := l.turns(p, traffic, e.turns, e.turn)
		if err != nil {
			return result, err
		}
		var ofRequests, ofCPU []float64
		for _, r := range rounds {
			base, server := r[0], r[1]
			ofRequests = append(ofRequests, server.perSecond()/base.perSecond())
			if base.cpu > 0 && server.cpu > 0 {
				baseCPU, ofCPU = append(baseCPU, base.perRequest()), append(ofCPU, server.perRequest()/base.perRequest())
			}
		}
		requests, cpu = append(requests, ofRequests), append(cpu, ofCPU)
	}
	result.requests = estimateOf(requests)
	if len(baseCPU) > 0 {
		result.baseCPU, result.cpu = spreadOf(baseCPU).middle, estimateOf(cpu)
	}
	return result, nil
}

// turns starts both servers and measures rounds. The result has the sums for the base
// and for the server in each round. One unmeasured round warms up.
func (l *launcher) turns(p pair, traffic [2][]request, rounds int, d time.Duration) (list [][2]load, err error) {
	var all [2]*clients
	var servers [2]*server
	for at, s := range []setup{p.base, p.server} {
		if servers[at], err = l.launch(s); err != nil {
			return nil, err
		}
		defer servers[at].stop()
		if all[at], err = dial(servers[at].address, servers[at].cpu, traffic[at]); err != nil {
			return nil, err
		}
		defer all[at].close()
	}
	for range rounds + 1 {
		var both [2]load
		for _, at := range []int{0, 1, 1, 0} {
			turn, err := all[at].drive(d)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", servers[at].kind, p.traffic, err)
			}
			both[at].add(turn)
		}
		list = append(list, both)
	}
	return list[1:], nil
}

// measurePairs measures all pairs. If a pair fails, measurePairs still measures the
// others, and err includes the error of that pair.
func measurePairs(e effort) (results []pairResult, err error) {
	l, err := newLauncher()
	if err != nil {
		return nil, err
	}
	defer l.close()
	var errs []error
	for _, p := range pairs {
		r, err := l.measure(p, e)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.subject, err))
		}
		results = append(results, r)
	}
	return results, errors.Join(errs...)
}

// requestsTable renders the results as Markdown.
func requestsTable(results []pairResult, e effort) string {
	var b strings.Builder
	b.WriteString("| server | traffic | requests/s | processor time a request |\n|---|---|---|---|\n")
	stock := make(map[bool]float64) // processor time of stock Caddy, by setup.proxy
	for _, r := range results {
		if r.requests == (estimate{}) {
			fmt.Fprintf(&b, "| %s | %s | not measured | |\n", r.subject, r.traffic)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.subject, r.traffic, r.requests, r.cpu)
		if r.base.kind == "stock" {
			stock[r.base.proxy] = r.baseCPU
		}
	}
	fmt.Fprintf(&b, "\nStock Caddy took %s of processor time a request, %s with `reverse_proxy`. %d starts of both servers with %d rounds each; %d connections.\n",
		duration(stock[false]), duration(stock[true]), e.starts, e.turns, connections)
	return b.String()
}
