package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
)

// duel holds the result of a match. Ratios are relative to the base.
type duel struct {
	match
	perSecond            float64  // median requests per second of the subject
	cpu, baseCPU         float64  // median nanoseconds per request; 0 if unknown
	requests, cpuTo, p99 estimate // ratios
	memory, baseMemory   int64    // resident memory in bytes at the end; 0 if unknown
}

// taken is the result of one turn of a server.
type taken struct {
	loadResult
	cpu time.Duration
}

// fight runs the two servers of a match in turns: base, subject, subject, base. This
// order makes drift affect both servers equally. fight restarts the servers several
// times, because two processes of one program differ as well. Servers with mostSites
// sites take a minute to start, so they start only once.
func (f *fleet) fight(m match, e effort) (d duel, err error) {
	d = duel{match: m}
	traffic := [2][]request{m.trafficOf(false), m.trafficOf(true)}
	var perSecond, cpu, baseCPU []float64
	var requests, cpuTo, p99 [][]float64
	for start := range e.starts {
		if start > 0 && m.sites < mostSites {
			f.forget(m.base)
			f.forget(m.server)
		}
		rounds, err := f.turns(m, traffic, e.turns, e.turn)
		if err != nil {
			return d, err
		}
		var ofRequests, ofCPU, ofP99 []float64
		for _, round := range rounds {
			base, subject := sum(round[0]), sum(round[1])
			perSecond = append(perSecond, subject.perSecond/2)
			ofRequests = append(ofRequests, subject.perSecond/base.perSecond)
			ofP99 = append(ofP99, float64(subject.p99)/float64(base.p99))
			if base.cpu > 0 && subject.cpu > 0 {
				own, its := float64(subject.cpu)/float64(subject.requests), float64(base.cpu)/float64(base.requests)
				cpu, baseCPU, ofCPU = append(cpu, own), append(baseCPU, its), append(ofCPU, own/its)
			}
		}
		requests, cpuTo, p99 = append(requests, ofRequests), append(cpuTo, ofCPU), append(p99, ofP99)
	}
	d.memory, d.baseMemory = residentOf(f.servers[m.server].process.ID()), residentOf(f.servers[m.base].process.ID())
	d.perSecond, d.requests, d.p99 = spreadOf(perSecond).middle, estimateOf(requests), estimateOf(p99)
	if len(cpu) > 0 {
		d.cpu, d.baseCPU, d.cpuTo = spreadOf(cpu).middle, spreadOf(baseCPU).middle, estimateOf(cpuTo)
	}
	return d, nil
}

// turns measures rounds, each with two turns of the base and two of the subject. One
// unmeasured round warms up.
func (f *fleet) turns(m match, traffic [2][]request, rounds int, d time.Duration) (list [][2][2]taken, err error) {
	var servers [2]*server
	var askers [2]*clients
	for at, name := range []string{m.base, m.server} {
		if servers[at], err = f.server(name, m); err != nil {
			return nil, err
		}
		if m.sites == mostSites && !servers[at].visited[m.traffic] { // fill the per-client state of each site before the measurement
			if err = onceByAll(servers[at].address, traffic[at]); err != nil {
				return nil, err
			}
			servers[at].visited[m.traffic] = true
		}
	}
	for at := range askers {
		if askers[at], err = dial(servers[at].address, traffic[at]); err != nil {
			return nil, err
		}
		defer askers[at].close()
	}
	for round := range rounds + 1 {
		var both [2][2]taken
		for turn, at := range []int{0, 1, 1, 0} {
			before := servers[at].cpu()
			result, err := askers[at].drive(d)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", servers[at].name, m.traffic, err)
			}
			both[at][turn/2] = taken{result, servers[at].cpu() - before}
		}
		if round > 0 {
			list = append(list, both)
		}
	}
	return list, nil
}

func sum(two [2]taken) taken {
	return taken{loadResult{two[0].requests + two[1].requests, two[0].perSecond + two[1].perSecond, two[0].p99 + two[1].p99}, two[0].cpu + two[1].cpu}
}

// apart pins servers to one CPU and this process to the others, until end is called.
func (f *fleet) apart() (end func()) {
	list := processors()
	if len(list) < 2 || stayOn(list[1:]) != nil {
		return func() {}
	}
	f.processor = list[0]
	before := runtime.GOMAXPROCS(2) // one for the clients, one for the origin
	return func() {
		runtime.GOMAXPROCS(before)
		_ = stayOn(list)
	}
}

// fightAll runs all matches. If a match fails, the others still run, and err includes
// its error.
func fightAll(e effort) (duels []duel, err error) {
	f, err := newFleet()
	if err != nil {
		return nil, err
	}
	defer f.stop()
	defer f.apart()()
	var errs []error
	for _, m := range matches() {
		if m.server == "nginx" && nginxBinary() == "" || m.sites > e.sites {
			duels = append(duels, duel{match: m})
			continue
		}
		d, err := f.fight(m, e)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m.subject, err))
			d = duel{match: m}
			f.forget(m.server) // the server may have caused the error
		}
		duels = append(duels, d)
	}
	return duels, errors.Join(errs...)
}

// requestsTable renders the duels as Markdown for the page.
func requestsTable(duels []duel, e effort) string {
	var b strings.Builder
	b.WriteString("| server | traffic | requests/s | processor time a request |\n|---|---|---|---|\n")
	for _, d := range duels {
		if d.perSecond == 0 {
			fmt.Fprintf(&b, "| %s | %s | not measured | |\n", d.subject, d.traffic)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", d.subject, d.traffic, d.requests, d.cpuRatio())
	}
	fmt.Fprintf(&b, "\n%d starts of both servers with %d rounds each (one start and %d rounds with %s sites); %d connections.\n",
		e.starts, e.turns, e.starts*e.turns, thousands(mostSites), connections)
	for _, d := range duels {
		if d.sites > 1 && d.blocks != nil && d.traffic == "crawlers" && d.memory > 0 {
			fmt.Fprintf(&b, "\nMain memory with %s sites that crawlers have requested: %d MiB, stock Caddy %d MiB.\n", thousands(d.sites), d.memory>>20, d.baseMemory>>20)
		}
	}
	return b.String()
}

// requestsDetails renders all duels with absolute figures.
func requestsDetails(duels []duel) string {
	var b strings.Builder
	b.WriteString("| server | traffic | requests/s | of stock | processor time a request | of stock | p99 of stock |\n|---|---|---|---|---|---|---|\n")
	for _, d := range duels {
		if d.perSecond > 0 {
			fmt.Fprintf(&b, "| %s | %s | %.0f | %s | %s, stock %s | %s | %s |\n",
				d.subject, d.traffic, d.perSecond, d.requests, duration(d.cpu), duration(d.baseCPU), d.cpuRatio(), d.p99)
		}
	}
	return b.String()
}

// cpuRatio renders the ratio of CPU times.
func (d duel) cpuRatio() string {
	if d.cpu == 0 {
		return "unknown"
	}
	return d.cpuTo.String()
}
