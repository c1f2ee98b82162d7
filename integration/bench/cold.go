package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// between is how much memory is written between two requests, as a network, other handlers
// and other processes do: none of it, as much as the caches of a core have, and more than
// these.
var between = []int{0, 256 << 10, 1 << 20, 2 << 20, 8 << 20}

// lineSize is how many bytes a processor's cache takes in at once.
const lineSize = 64

// coldTable tells what a request costs once less and less of what it needs is in the
// caches of the processor. A benchmark of one thing alone has all of it there.
func coldTable(e effort) (string, error) {
	c, err := startChains()
	if err != nil {
		return "", err
	}
	defer c.stop()
	var b strings.Builder
	b.WriteString("| traffic | written between two requests | stock Caddy | with an empty handler | with the guard | over the empty handler |\n|---|---|---|---|---|---|\n")
	for _, t := range []struct {
		name   string
		agents []string
	}{{"browsers", agentsOf(1000, 1000, browserKinds...)}, {"crawlers", agentsOf(1000, 1000, knownKinds...)}} {
		for _, bytes := range between {
			ns := c.cold(t.agents, bytes, e.load)
			fmt.Fprintf(&b, "| %s | %d KiB | %s | %s | %s | %s |\n", t.name, bytes>>10,
				duration(ns[0]), duration(ns[1]), duration(ns[2]), duration(max(0, ns[2]-ns[1])))
		}
	}
	return b.String(), nil
}

// cold returns nanoseconds a request by the clock at stock Caddy, with an empty handler
// and with the guard, in turn: of four requests three take longer.
func (c *chains) cold(agents []string, bytes int, during time.Duration) (ns [3]float64) {
	memory, requests, w := make([]byte, bytes), chainRequests(agents), newNowhere()
	var all [3][]float64
	servers := [3]*caddyhttp.Server{c.stock, c.empty, c.guarded}
	for i, until := 0, time.Now().Add(during); i < 10*len(servers) || time.Now().Before(until); i++ {
		for j := 0; j < len(memory); j += lineSize {
			memory[j]++
		}
		at, r := i%len(servers), requests[i/len(servers)%len(requests)]
		began := time.Now()
		servers[at].ServeHTTP(w, r)
		all[at] = append(all[at], float64(time.Since(began)))
	}
	for at := range all {
		ns[at] = spreadOf(all[at]).low
	}
	return ns
}
