package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// mostRules is the largest number of rules. The file has nearly policy.MaxSize bytes.
const mostRules = 30_000

// manySites are the numbers of sites that the text below the plot compares with one.
var manySites = []int{1000, 100_000}

// Panels of the growth plot.
const (
	rulesPanel     = "rules of the robots.txt"
	sitesPanel     = "sites"
	namesPanel     = "crawler names in the requests"
	instancesPanel = "instances with a shared storage"
)

// Series of the growth plot. Servers without a guard get the requests of crawlers.
const (
	stockSeries        = "stock Caddy"
	emptySeries        = "an empty handler"
	guardSeries        = "guard, crawlers"
	browserSeries      = "guard, browsers"
	wildcardSeries     = "guard, crawlers, 40 % of the rules with wildcards"
	unregisteredSeries = "guard, unregistered crawlers"
)

// loaded is a server with its requests.
type loaded struct {
	series   string
	setup    setup
	requests []request
}

// measureGrowth measures the processor time of a request on servers with more and more
// rules, sites, crawler names and instances. If a panel fails, measureGrowth still
// measures the others.
func measureGrowth(e effort) (outcome, error) {
	l, err := newLauncher()
	if err != nil {
		return outcome{}, err
	}
	defer l.close()
	p := &growthPlot{about: machine(e.starts == 1)}
	rules := l.measureRules(p, e)
	memory, sites := l.measureSites(p, e)
	names := l.measureNames(p, e)
	instances := l.measureInstances(p, e)
	return outcome{memory + p.ratios(), p}, errors.Join(rules, sites, names, instances)
}

func (l *launcher) measureRules(p *growthPlot, e effort) error {
	crawlers, browsers := clientsOf("crawlers"), clientsOf("browsers")
	for _, rules := range []int{10, 100, 1000, 10_000, mostRules} {
		plain := catalogueFile(rules)
		guarded, requests := setup{kind: "enforce", robots: plain}, allowedRequests(crawlers, plain, 1)
		all := []loaded{
			{stockSeries, setup{kind: "stock"}, requests},
			{emptySeries, setup{kind: "empty"}, requests},
			{guardSeries, guarded, requests},
			{browserSeries, guarded, allowedRequests(browsers, plain, 1)},
		}
		if wildcards := rulesFile(rules, 40); len(wildcards) < policy.MaxSize {
			all = append(all, loaded{wildcardSeries, setup{kind: "enforce", robots: wildcards}, allowedRequests(crawlers, wildcards, 1)})
		}
		if _, err := l.measureSeries(p, rulesPanel, rules, all, e); err != nil {
			return err
		}
	}
	return nil
}

// measureSites also returns the memory of the servers with many sites. The servers use
// no storage, because storing so many files takes minutes.
func (l *launcher) measureSites(p *growthPlot, e effort) (text string, err error) {
	for sites := 1; sites <= e.sites; sites *= 10 {
		requests := allowedRequests(clientsOf("crawlers"), smallFile, sites)
		guarded := setup{kind: "enforce", sites: sites, options: "robots_guard {\n\t\tstorage off\n\t}"}
		memory, err := l.measureSeries(p, sitesPanel, sites, []loaded{
			{stockSeries, setup{kind: "stock", sites: sites}, requests},
			{emptySeries, setup{kind: "empty", sites: sites}, requests},
			{guardSeries, guarded, requests},
			{browserSeries, guarded, allowedRequests(clientsOf("browsers"), smallFile, sites)},
		}, e)
		if err != nil {
			return text, err
		}
		if slices.Contains(manySites, sites) {
			text += fmt.Sprintf("Main memory with %s sites: %.0f MiB, stock Caddy %.0f MiB.\n\n", thousands(sites), memory[2], memory[0])
		}
	}
	return text, nil
}

func (l *launcher) measureNames(p *growthPlot, e effort) error {
	for _, n := range []int{1, 10, 100, 1000, 10_000} {
		requests := allowedRequests(agentsOf(n, n, robotKinds[1]), smallFile, 1)
		all := []loaded{
			{stockSeries, setup{kind: "stock"}, requests},
			{emptySeries, setup{kind: "empty"}, requests},
			{unregisteredSeries, setup{kind: "enforce"}, requests},
		}
		if n <= 1000 { // a registry has at most 3,000 entries
			options, agents, err := l.registry(n)
			if err != nil {
				return err
			}
			all = append(all, loaded{guardSeries, setup{kind: "enforce", options: options}, allowedRequests(agents, smallFile, 1)})
		}
		if _, err := l.measureSeries(p, namesPanel, n, all, e); err != nil {
			return err
		}
	}
	return nil
}

// allowedRequests returns at least 1,000 requests that robots allows, at least one for
// each site and each client.
func allowedRequests(agents []string, robots string, sites int) (list []request) {
	parsed := policy.Parse([]byte(robots))
	visits(agents, func(agent, target string) bool {
		if !byGuard(parsed, agent, target) {
			list = append(list, newRequest(hostOf(len(list)%sites), target, agent, 200))
		}
		return len(list) < max(1000, sites, len(agents))
	})
	return list
}

// registry writes a registry of n crawlers and returns the global options for it and a
// User-Agent of each crawler.
func (l *launcher) registry(n int) (options string, agents []string, err error) {
	random := rand.New(rand.NewPCG(7, 7))
	var entries []string
	for len(entries) < n {
		token := strings.ToUpper(inventedWord(random, 1)) + inventedWord(random, 7) + "Bot"
		if agent := token + "/1.0 (+https://crawl.example/about)"; !slices.Contains(agents, agent) && uaident.Default().Lookup(token) == nil {
			agents = append(agents, agent)
			entries = append(entries, fmt.Sprintf(`{"token": %q, "operator": "Example", "class": "seo", "source": "https://crawl.example/"}`, token))
		}
	}
	path := filepath.Join(l.directory, fmt.Sprintf("registry-%d.json", n))
	text := `{"crawlers": [` + strings.Join(entries, ",\n") + "]}"
	return "robots_guard {\n\t\tregistry " + path + "\n\t}", agents, os.WriteFile(path, []byte(text), 0o600)
}

// measureSeries starts the servers, sends each request once, and measures all servers
// in turns. Series with the same setup share a server. measureSeries adds the processor
// times to the plot, and returns the resident memory of each server in MiB.
func (l *launcher) measureSeries(p *growthPlot, panel string, x int, all []loaded, e effort) (memory []float64, err error) {
	fmt.Fprintf(os.Stderr, "bench: %s: %s\n", panel, thousands(x))
	servers := make(map[setup]*server)
	for _, s := range all {
		if servers[s.setup] == nil {
			if servers[s.setup], err = l.launch(s.setup); err != nil {
				return nil, err
			}
			defer servers[s.setup].stop()
		}
		if err := onceByAll(servers[s.setup].address, s.requests); err != nil {
			return nil, fmt.Errorf("%s: %w", s.series, err)
		}
		memory = append(memory, servers[s.setup].memory())
	}
	var failed error
	row := comparisonRow{name: panel}
	for _, s := range all { // Caddy closes a connection that sends nothing for a minute
		clients, err := dial(servers[s.setup].address, servers[s.setup].cpu, s.requests)
		if err != nil {
			return nil, err
		}
		defer clients.close()
		row.cells = append(row.cells, cell{who: s.series, timed: func(d time.Duration) float64 {
			turn, err := clients.drive(d)
			if err != nil {
				failed = fmt.Errorf("%s: %w", s.series, err)
				return 0
			}
			return turn.perRequest()
		}})
	}
	e.rounds, e.benchTime = 3*e.turns, e.turn/2
	results := comparison{rows: []comparisonRow{row}}.measure(e)
	for at, s := range all {
		p.add(panel, x, s.series, results[0][at].ns.middle, results[0][at].ratio)
	}
	return memory, failed
}

// instanceRate is the number of requests per second to each instance, and instanceTime
// the duration of the measurement. Instances read the data of the others every 15
// seconds.
const (
	instanceRate = 200
	instanceTime = 16 * time.Second
)

func (l *launcher) measureInstances(p *growthPlot, e effort) error {
	d := instanceTime
	if e.starts == 1 {
		d = time.Second
	}
	for _, n := range []int{1, 3, 5, 9} {
		if err := l.measureShared(p, n, d); err != nil {
			return err
		}
	}
	return nil
}

// measureShared starts n instances with a guard and a shared storage, stock Caddy and a
// Caddy with an empty handler. It sends the same steady load to all of them. The
// processor time therefore includes the exchange between the instances.
func (l *launcher) measureShared(p *growthPlot, n int, d time.Duration) error {
	fmt.Fprintf(os.Stderr, "bench: %s: %d\n", instancesPanel, n)
	storage, err := os.MkdirTemp(l.directory, "storage")
	if err != nil {
		return err
	}
	guarded := setup{kind: "enforce", options: "storage file_system " + storage + "\n\trobots_guard {\n\t\tstorage on\n\t}"}
	setups := append([]setup{{kind: "stock"}, {kind: "empty"}}, slices.Repeat([]setup{guarded}, n)...)
	series := []string{stockSeries, emptySeries, guardSeries}
	requests := allowedRequests(clientsOf("crawlers"), smallFile, 1)
	servers := make([]*server, len(setups))
	for i, s := range setups {
		if servers[i], err = l.launch(s); err != nil {
			return err
		}
		defer servers[i].stop()
		if err := once(servers[i].address, requests); err != nil {
			return err
		}
	}
	loads, err := steady(servers, requests, instanceRate, d)
	if err != nil {
		return err
	}
	times, ratios := make([][]float64, len(series)), make([][]float64, len(series))
	for i, load := range loads {
		at := min(i, len(series)-1)
		times[at], ratios[at] = append(times[at], load.perRequest()), append(ratios[at], load.perRequest()/loads[0].perRequest())
	}
	for at, name := range series {
		p.add(instancesPanel, n, name, spreadOf(times[at]).middle, spreadOf(ratios[at]))
	}
	return nil
}

// steady sends rate requests per second to each server for d.
func steady(servers []*server, requests []request, rate int, d time.Duration) ([]load, error) {
	clients := make([]client, len(servers))
	loads := make([]load, len(servers))
	for i, s := range servers {
		conn, err := net.Dial("tcp", s.address)
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		clients[i] = client{conn: conn, answer: make([]byte, 0, largest)}
		loads[i] = load{elapsed: d, cpu: -s.cpu()}
	}
	ticker := time.NewTicker(time.Second / time.Duration(rate))
	defer ticker.Stop()
	start := time.Now()
	for first := 0; time.Since(start) < d; first++ {
		<-ticker.C
		for i := range clients {
			i = (first + i) % len(clients) // the first request after a pause takes more time
			if err := clients[i].request(requests); err != nil {
				return nil, fmt.Errorf("%s: %w", servers[i].kind, err)
			}
			loads[i].requests++
		}
	}
	for i, s := range servers {
		loads[i].cpu += s.cpu()
	}
	return loads, nil
}
