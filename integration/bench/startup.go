package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// startups are the numbers of sites in the measured configurations. Each site has its
// own block.
var startups = []int{1, 1000, 10_000}

// settled is the time between the start of a server and the measurement of its memory.
const settled = 3 * time.Second

// startup holds the costs of a server's start.
type startup struct {
	cpu, clock time.Duration // until the server listens
	memory     int64         // resident bytes after settled
}

// startTable measures the time to load a configuration with and without a guard in each
// site, and the sizes of the programs.
func startTable(e effort) (outcome, error) {
	f, err := newFleet()
	if err != nil {
		return outcome{}, err
	}
	defer f.stop()
	var b strings.Builder
	b.WriteString("| sites | processor time, stock Caddy | with a guard in each | | until it listens, stock Caddy | with a guard in each | memory, stock Caddy | with a guard in each |\n|---|---|---|---|---|---|---|---|\n")
	ratio := 0.0
	for _, sites := range startups {
		if sites > e.sites {
			break
		}
		var stock, guarded []startup
		for range (e.rounds + 2) / 3 {
			for _, s := range []struct {
				extra string
				all   *[]startup
			}{{"", &stock}, {guard("enforce"), &guarded}} {
				took, err := f.startup(sites, s.extra)
				if err != nil {
					return outcome{}, err
				}
				*s.all = append(*s.all, took)
			}
		}
		least := func(all []startup, of func(startup) float64) float64 {
			figures := make([]float64, len(all))
			for i, s := range all {
				figures[i] = of(s)
			}
			return slices.Min(figures)
		}
		cpu := func(s startup) float64 { return float64(s.cpu) }
		clock := func(s startup) float64 { return float64(s.clock) }
		memory := func(s startup) float64 { return float64(s.memory) / (1 << 20) }
		if before := least(stock, cpu); before > 0 {
			ratio = least(guarded, cpu) / before
		}
		fmt.Fprintf(&b, "| %s | %s | %s | **%s** | %s | %s | %.0f MiB | %.0f MiB |\n", thousands(sites),
			duration(least(stock, cpu)), duration(least(guarded, cpu)), times(ratio), duration(least(stock, clock)), duration(least(guarded, clock)), least(stock, memory), least(guarded, memory))
	}
	sizes, err := f.sizes()
	if err != nil {
		return outcome{}, err
	}
	fmt.Fprintf(&b, "\nThe program has %.1f MB, stock Caddy's %.1f MB.\n", float64(sizes[1])/1e6, float64(sizes[0])/1e6)
	many := startups[len(startups)-1]
	goal := thousands(many) + " sites load in at most 1.2 times stock Caddy's processor time"
	loading := aim{goal, "not measured", "open"}
	if many <= e.sites && ratio > 0 {
		loading = atMost(goal, ratio, 1.2, times(ratio))
	}
	return outcome{text: b.String(), aims: []aim{loading}}, nil
}

// startup starts and stops a server with the given number of sites.
func (f *fleet) startup(sites int, extra string) (startup, error) {
	directory, err := os.MkdirTemp(f.directory, "start")
	if err != nil {
		return startup{}, err
	}
	port, err := harness.ClaimPort()
	if err != nil {
		return startup{}, err
	}
	address, config := "127.0.0.1:"+port, filepath.Join(directory, "config")
	options, first, _ := strings.Cut(caddyfile(address, directory, extra, respond), "\n}\n")
	text := options + "\n}\n"
	for i := range sites {
		text += strings.Replace(first, hostOf(0), hostOf(i), 1)
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return startup{}, err
	}
	began := time.Now()
	s, err := start("start", address, directory, f.processor, f.caddy, "run", "--config", config, "--adapter", "caddyfile")
	if err != nil {
		return startup{}, err
	}
	defer s.stop()
	took := startup{cpu: s.cpu(), clock: time.Since(began)}
	time.Sleep(settled)
	took.memory = residentOf(s.process.ID())
	return took, nil
}

// residentOf returns the resident memory of a process in bytes, 0 if unknown.
func residentOf(pid int) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range bytes.Lines(status) {
		var kilobytes int64
		if n, _ := fmt.Sscanf(string(line), "VmRSS: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10
		}
	}
	return 0
}

// sizes returns the sizes in bytes of stock Caddy and of the product.
func (f *fleet) sizes() (sizes [2]int64, err error) {
	root, err := harness.Root()
	if err != nil {
		return sizes, err
	}
	for i, pkg := range []string{"github.com/caddyserver/caddy/v2/cmd/caddy", "./cmd/caddy"} {
		path := filepath.Join(f.directory, fmt.Sprint("size", i))
		if err := harness.Build(root, pkg, path); err != nil {
			return sizes, err
		}
		built, err := os.Stat(path)
		if err != nil {
			return sizes, err
		}
		sizes[i] = built.Size()
	}
	return sizes, nil
}
