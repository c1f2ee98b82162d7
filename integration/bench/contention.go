package main

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// contentionTable runs the handlers on more and more processors at once, as Go
// sees them, and tells how long requests waited for one another.
func contentionTable(e effort) (string, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var b strings.Builder
	b.WriteString("| GOMAXPROCS | processor time a request, stock | with the guard | waiting a request, stock | with the guard | of it in the guard |\n|---|---|---|---|---|---|\n")
	places := make(map[string]time.Duration)
	for processors := 1; processors <= 32; processors *= 2 {
		runtime.GOMAXPROCS(processors)
		c, err := startChains() // anew, for some things are made for each processor
		if err != nil {
			return "", err
		}
		stock := contend(c.stock, processors, e.load)
		guarded := contend(c.guarded, processors, e.load)
		c.stop()
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s |\n", processors, duration(stock.cpu), duration(guarded.cpu),
			duration(stock.waited), duration(guarded.waited), duration(guarded.ours))
		for place, waited := range guarded.places {
			places[place] += waited
		}
	}
	b.WriteString("\nWhere requests waited in the guard, in all of these runs together:\n\n")
	for _, place := range slices.SortedFunc(maps.Keys(places), func(x, y string) int { return int(places[y] - places[x]) }) {
		fmt.Fprintf(&b, "- `%s`: %v\n", place, places[place].Round(time.Microsecond))
	}
	if len(places) == 0 {
		b.WriteString("- nowhere\n")
	}
	return b.String(), nil
}

// contended is what requests cost when they run at once.
type contended struct {
	cpu, waited, ours float64 // nanoseconds a request
	places            map[string]time.Duration
}

// contend has as many goroutines as there are processors ask a server.
func contend(s *caddyhttp.Server, goroutines int, d time.Duration) contended {
	agents := mixedAgents(1000, 1000)
	lists := make([][]*http.Request, goroutines)
	for i := range lists {
		lists[i] = chainRequests(agents)
	}
	runtime.SetBlockProfileRate(1)
	before := waits()
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
	runtime.SetBlockProfileRate(0)
	total := 0
	for _, n := range counts {
		total += n
	}
	result := contended{cpu: float64(used) / float64(total), places: make(map[string]time.Duration)}
	for place, waited := range waits() {
		if waited -= before[place]; waited <= 0 {
			continue
		}
		result.waited += float64(waited) / float64(total)
		if strings.Contains(place, product) {
			result.ours += float64(waited) / float64(total)
			result.places[strings.TrimPrefix(place, product)] += waited
		}
	}
	return result
}

const product = "github.com/robotsguard/caddy-robots-guard/"

// waits returns how long requests have waited so far, for mutexes and channels,
// by the innermost function of the product on the stack, or else "elsewhere".
// The profile of blocking has both, told by those who wait.
func waits() map[string]time.Duration {
	var text bytes.Buffer
	_ = pprof.Lookup("block").WriteTo(&text, 1)
	return waitsIn(text.String())
}

var (
	cyclesPerSecond = regexp.MustCompile(`cycles/second=(\d+)`)
	waitRecord      = regexp.MustCompile(`^(\d+) \d+ @`)
)

// waitsIn reads a profile of blocking in the form for people.
func waitsIn(profile string) map[string]time.Duration {
	rate := 1e9
	if m := cyclesPerSecond.FindStringSubmatch(profile); m != nil {
		rate, _ = strconv.ParseFloat(m[1], 64)
	}
	total := make(map[string]time.Duration)
	for record := range strings.SplitSeq(profile, "\n\n") {
		record = strings.TrimPrefix(record, strings.Join(headerLines(record), ""))
		m := waitRecord.FindStringSubmatch(record)
		if m == nil || !strings.Contains(record, "caddyhttp.(*Server).ServeHTTP") {
			continue // not a request
		}
		cycles, _ := strconv.ParseFloat(m[1], 64)
		place := "elsewhere"
		for line := range strings.Lines(record) {
			_, function, _ := strings.Cut(line, product)
			if function != "" && !strings.HasPrefix(function, "integration/") {
				function, _, _ = strings.Cut(function, "+0x")
				place = product + strings.TrimSpace(function)
				break
			}
		}
		total[place] += time.Duration(cycles / rate * 1e9)
	}
	return total
}

// headerLines returns the lines before the first record.
func headerLines(record string) (lines []string) {
	for line := range strings.Lines(record) {
		if waitRecord.MatchString(line) {
			break
		}
		lines = append(lines, line)
	}
	return lines
}
