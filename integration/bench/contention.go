package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// traffic is what clients ask for.
type traffic struct {
	name     string
	requests func() []*http.Request
}

// contending are the kinds of traffic for which waiting is told.
var contending = []traffic{
	{"browsers", func() []*http.Request { return chainRequests(agentsOf(1000, 1000, browserKinds...)) }},
	{"mixed", func() []*http.Request { return chainRequests(mixedAgents(1000, 1000)) }},
	{"crawlers", crawlerRequests},
}

// crawlerRequests returns requests of crawlers only, each tenth for a forbidden
// page and each hundredth for the robots.txt.
func crawlerRequests() []*http.Request {
	requests := chainRequests(agentsOf(1000, 1000, knownKinds...))
	for i, r := range requests {
		switch {
		case i%100 == 50:
			requests[i] = chainRequest(r.UserAgent(), "/robots.txt")
		case i%10 == 0:
			requests[i] = chainRequest(r.UserAgent(), fmt.Sprintf("/private/%d", i))
		}
	}
	return requests
}

// contentionTable runs the handlers on more and more processors at once, as Go
// sees them, and tells how long requests waited for one another, and where.
func contentionTable(e effort) (string, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var b strings.Builder
	b.WriteString("| GOMAXPROCS | traffic | processor time a request, stock | with the guard | waiting a request, stock | with the guard | of it in the guard | in the guard, by the profile of mutexes |\n" +
		"|---|---|---|---|---|---|---|---|\n")
	sums := make([]contended, len(contending))
	for processors := 1; processors <= 32; processors *= 2 {
		runtime.GOMAXPROCS(processors)
		c, err := startChains() // anew, for some things are made for each processor
		if err != nil {
			return "", err
		}
		for i, t := range contending {
			stock := contend(c.stock, t, processors, e.load)
			guarded := contend(c.guarded, t, processors, e.load)
			blocked, guards := guarded.each(guarded.blocked)
			_, mutexes := guarded.each(guarded.unlocked)
			stocks, _ := stock.each(stock.blocked)
			fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s | %s | %s |\n", processors, t.name,
				duration(stock.cpu), duration(guarded.cpu), duration(stocks), duration(blocked), duration(guards), duration(mutexes))
			sums[i].add(guarded)
		}
		c.stop()
	}
	b.WriteString("\nWhere requests waited in the guard, in all of these runs together:\n\n| traffic | requests | profile | place | waiting | a request |\n|---|---|---|---|---|---|\n")
	for i, t := range contending {
		sums[i].places(&b, t.name, "blocking", sums[i].blocked)
		sums[i].places(&b, t.name, "mutexes", sums[i].unlocked)
	}
	return b.String(), nil
}

// contended is what requests cost when they run at once.
type contended struct {
	requests int
	cpu      float64 // nanoseconds a request
	// How long requests waited, by place: told by those that waited, and of
	// mutexes by those that released them.
	blocked, unlocked map[string]time.Duration
}

func (c *contended) add(other contended) {
	if c.requests += other.requests; c.blocked == nil {
		c.blocked, c.unlocked = make(map[string]time.Duration), make(map[string]time.Duration)
	}
	for place, waited := range other.blocked {
		c.blocked[place] += waited
	}
	for place, waited := range other.unlocked {
		c.unlocked[place] += waited
	}
}

// each returns for how many nanoseconds a request waited, and how many of them
// in the guard.
func (c *contended) each(waits map[string]time.Duration) (all, ours float64) {
	for place, waited := range waits {
		all += float64(waited) / float64(c.requests)
		if strings.Contains(place, product) {
			ours += float64(waited) / float64(c.requests)
		}
	}
	return all, ours
}

// places writes a row for each place in the guard where requests waited.
func (c *contended) places(b *strings.Builder, traffic, profile string, waits map[string]time.Duration) {
	ours := maps.Clone(waits)
	maps.DeleteFunc(ours, func(place string, _ time.Duration) bool { return !strings.Contains(place, product) })
	for _, place := range slices.SortedFunc(maps.Keys(ours), func(x, y string) int {
		return cmp.Or(cmp.Compare(ours[y], ours[x]), strings.Compare(x, y))
	}) {
		fmt.Fprintf(b, "| %s | %d | %s | `%s` | %v | %s |\n", traffic, c.requests, profile, strings.ReplaceAll(place, product, ""),
			ours[place].Round(100*time.Nanosecond), duration(float64(ours[place])/float64(c.requests)))
	}
	if len(ours) == 0 {
		fmt.Fprintf(b, "| %s | %d | %s | nowhere | 0 s | 0 ns |\n", traffic, c.requests, profile)
	}
}

// contend has as many goroutines as there are processors ask a server.
func contend(s *caddyhttp.Server, t traffic, goroutines int, d time.Duration) contended {
	lists := make([][]*http.Request, goroutines)
	for i := range lists {
		lists[i] = t.requests()
	}
	runtime.SetBlockProfileRate(1)
	mutexes := runtime.SetMutexProfileFraction(1)
	blocked, unlocked := waits("block"), waits("mutex")
	used := cpuTime()
	var group sync.WaitGroup
	counts := make([]int, goroutines)
	deadline := time.Now().Add(d)
	for i, list := range lists {
		group.Go(func() {
			w := newNowhere()
			n := i * len(list) / goroutines
			for start := n; n == start || time.Now().Before(deadline); n++ {
				s.ServeHTTP(w, list[n%len(list)])
			}
			counts[i] = n - i*len(list)/goroutines
		})
	}
	group.Wait()
	used = cpuTime() - used
	result := contended{blocked: since(blocked, waits("block")), unlocked: since(unlocked, waits("mutex"))}
	runtime.SetBlockProfileRate(0)
	runtime.SetMutexProfileFraction(mutexes)
	for _, n := range counts {
		result.requests += n
	}
	result.cpu = float64(used) / float64(result.requests)
	return result
}
