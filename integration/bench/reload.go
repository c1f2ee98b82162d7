package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// reloads are of how many sites, with one route for all, configurations are replaced.
var reloads = []int{fewerSites, 10 * fewerSites, mostSites}

// reloaded is what it took a server to take another configuration.
type reloaded struct {
	load          time.Duration // until it was answered
	cpu           time.Duration // until it had hardly anything to do again
	before, after float64       // requests of crawlers in a second, before it and right after another one
}

// reloadTable tells what a configuration costs that takes the place of another, where
// crawlers have asked at all sites.
func reloadTable(e effort) (string, error) {
	f, err := newFleet()
	if err != nil {
		return "", err
	}
	defer f.stop()
	defer f.apart()()
	f.admins = make(map[string]string)
	var b strings.Builder
	b.WriteString("| sites | loaded within, stock Caddy | with the guard | processor time until idle, stock Caddy | with the guard | requests/s of crawlers after it, of those before: stock Caddy | with the guard |\n|---|---|---|---|---|---|---|\n")
	for _, sites := range reloads {
		if sites > e.sites {
			break
		}
		var both [2]reloaded
		for i, kind := range []string{"stock", "enforce"} {
			m := match{server: kind + " " + thousands(sites), traffic: "crawlers", robots: smallFile, sites: sites}
			if kind == "enforce" {
				m.blocks = byGuard
			}
			if both[i], err = f.reload(m); err != nil {
				return "", fmt.Errorf("%s: %w", m.server, err)
			}
			f.forget(m.server)
		}
		stock, guarded := both[0], both[1]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %.2f | %.2f |\n", thousands(sites), duration(float64(stock.load)), duration(float64(guarded.load)),
			duration(float64(stock.cpu)), duration(float64(guarded.cpu)), stock.after/stock.before, guarded.after/guarded.before)
	}
	return b.String(), nil
}

// reload replaces the configuration of a server twice.
func (f *fleet) reload(m match) (took reloaded, err error) {
	s, err := f.server(m.server, m)
	if err != nil {
		return took, err
	}
	requests := m.trafficOf(true)
	askAll := func() error { // and wait until the server has hardly anything to do
		if err := onceByAll(s.address, requests); err != nil {
			return err
		}
		return s.settle()
	}
	speed := func() (float64, error) {
		asking, err := dial(s.address, requests)
		if err != nil {
			return 0, err
		}
		defer asking.close()
		result, err := asking.drive(time.Second)
		return result.perSecond, err
	}
	if err = askAll(); err != nil {
		return took, err
	}
	began, spent := time.Now(), s.cpu()
	if err = f.load(m, 1); err != nil {
		return took, err
	}
	took.load = time.Since(began)
	if err = s.settle(); err != nil {
		return took, err
	}
	took.cpu = s.cpu() - spent
	if err = askAll(); err != nil {
		return took, err
	}
	if took.before, err = speed(); err != nil {
		return took, err
	}
	if err = f.load(m, 2); err != nil {
		return took, err
	}
	took.after, err = speed()
	return took, err
}

// load has a server take a configuration with a site more, of a name with that number.
func (f *fleet) load(m match, n int) error {
	directory := filepath.Join(f.directory, strings.Map(letters, m.server))
	config, err := os.ReadFile(filepath.Join(directory, "config"))
	if err != nil {
		return err
	}
	one := []byte(`"` + hostOf(0) + `"`)
	config = bytes.Replace(config, one, fmt.Appendf(nil, `%s,"new%d.example"`, one, n), 1)
	answer, err := http.Post("http://"+f.admins[m.server]+"/load", "application/json", bytes.NewReader(config))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if text, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusOK {
		return fmt.Errorf("loading a configuration: %s: %s", answer.Status, text)
	}
	return nil
}

// listenForLoads has a server of a configuration take others, if this fleet replaces them.
func (f *fleet) listenForLoads(name, config string) (string, error) {
	if f.admins == nil {
		return config, nil
	}
	port, err := harness.ClaimPort()
	if err != nil {
		return "", err
	}
	f.admins[name] = "127.0.0.1:" + port
	return strings.Replace(config, "admin off", "admin "+f.admins[name], 1), nil
}
