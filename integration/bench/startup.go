package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
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
	cpu, clock float64 // nanoseconds until the server listens
	memory     float64 // resident MiB after settled, without requests
}

// startTable measures the start of Caddy with and without a guard in each site, and the
// sizes of the programs.
func startTable(e effort) (string, error) {
	l, err := newLauncher()
	if err != nil {
		return "", err
	}
	defer l.close()
	var b strings.Builder
	b.WriteString("| sites | processor time, stock Caddy | with a guard in each | | until it listens, stock Caddy | with a guard in each | idle memory, stock Caddy | with a guard in each |\n|---|---|---|---|---|---|---|---|\n")
	for _, sites := range startups {
		if sites > e.sites {
			break
		}
		var cpu, clock, memory [2][]float64 // of stock Caddy and of the guard
		var ratios []float64
		for round := range (e.rounds + 1) / 2 {
			var pair [2]startup
			for turn := range pair {
				at := (turn + round) % len(pair) // each goes first in turn
				if pair[at], err = l.startup(sites, []string{"", guard("enforce")}[at]); err != nil {
					return "", err
				}
				cpu[at], clock[at], memory[at] = append(cpu[at], pair[at].cpu), append(clock[at], pair[at].clock), append(memory[at], pair[at].memory)
			}
			ratios = append(ratios, pair[1].cpu/pair[0].cpu)
		}
		median := func(figures []float64) float64 { return spreadOf(figures).middle }
		fmt.Fprintf(&b, "| %s | %s | %s | **×%.2f** | %s | %s | %.0f MiB | %.0f MiB |\n", thousands(sites),
			duration(median(cpu[0])), duration(median(cpu[1])), median(ratios), duration(median(clock[0])), duration(median(clock[1])), median(memory[0]), median(memory[1]))
	}
	sizes, err := l.sizes()
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, "\nThe program has %.1f MB, stock Caddy's %.1f MB.\n", sizes[1]/1e6, sizes[0]/1e6)
	return b.String(), nil
}

// startup starts and stops a server with the given number of sites.
func (l *launcher) startup(sites int, extra string) (startup, error) {
	directory, err := os.MkdirTemp(l.directory, "start")
	if err != nil {
		return startup{}, err
	}
	port, err := harness.ClaimPort()
	if err != nil {
		return startup{}, err
	}
	address, config := "127.0.0.1:"+port, filepath.Join(directory, "config")
	options, first, _ := strings.Cut(caddyfile(address, directory, extra, respond), "\n}\n")
	var text strings.Builder
	text.WriteString(options + "\n}\n")
	for i := range sites {
		text.WriteString(strings.Replace(first, hostOf(0), hostOf(i), 1))
	}
	if err := os.WriteFile(config, []byte(text.String()), 0o600); err != nil {
		return startup{}, err
	}
	began := time.Now()
	s, err := l.start("start", address, directory, l.caddy, "run", "--config", config, "--adapter", "caddyfile")
	if err != nil {
		return startup{}, err
	}
	defer s.stop()
	took := startup{cpu: float64(s.cpu()), clock: float64(time.Since(began))}
	time.Sleep(settled)
	took.memory = s.memory()
	return took, nil
}

// memory returns the resident memory of the server in MiB, 0 if unknown.
func (s *server) memory() float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.ID()))
	for line := range bytes.Lines(status) {
		var kilobytes float64
		if n, _ := fmt.Sscanf(string(line), "VmRSS: %f kB", &kilobytes); n == 1 {
			return kilobytes / 1024
		}
	}
	return 0
}

// sizes returns the sizes in bytes of stock Caddy and of the product.
func (l *launcher) sizes() (sizes [2]float64, err error) {
	root, err := harness.Root()
	if err != nil {
		return sizes, err
	}
	for i, pkg := range []string{"github.com/caddyserver/caddy/v2/cmd/caddy", "./cmd/caddy"} {
		path := filepath.Join(l.directory, fmt.Sprint("size", i))
		if err := harness.Build(root, pkg, path); err != nil {
			return sizes, err
		}
		built, err := os.Stat(path)
		if err != nil {
			return sizes, err
		}
		sizes[i] = float64(built.Size())
	}
	return sizes, nil
}
