package main

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// newStore returns a cache with a parsed robots.txt for each of the given number of
// sites. The files are all equal or all different. Their groups are compiled.
func newStore(sites int, equal bool) *policy.Cache {
	roomy := policy.Bounds{Entries: sites + 1, Bytes: 1 << 40, ConcurrentFetches: 16}
	c := policy.NewCache(roomy, roomy, time.Now, nil)
	fresh := policy.FreshnessPolicy{Default: time.Hour, Min: time.Hour, Max: time.Hour}
	for i := range sites {
		text := smallFile
		if !equal {
			text += fmt.Sprintf("# site %d\n", i)
		}
		e := c.GetOrCreate(policy.Key{Site: hostOf(i), Host: hostOf(i)}, policy.ConfiguredHosts) // as the guard does
		<-e.Refresh(fresh, func() policy.FetchResult {
			return policy.FetchResult{Status: 200, Header: http.Header{}, Body: []byte(text)}
		}, nil)
		robots := e.State().Current.Robots
		robots.Select(true, "Googlebot").Judge("/products/")
		robots.Select(true, "bingbot").Judge("/products/")
	}
	return c
}

// heap returns the number of heap bytes in use.
func heap() float64 {
	var m runtime.MemStats
	for range 2 { // the runtime empties pools in two cycles
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// memoryTable measures the memory per site with equal and with different files.
func memoryTable(e effort) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "| sites | bytes a site, texts equal | bytes a site, texts differ |\n|---|---|---|\n")
	for sites := 1; sites <= e.sites; sites *= 10 {
		var bytes [2]float64
		for i, equal := range []bool{true, false} {
			before := heap()
			store := newStore(sites, equal)
			bytes[i] = (heap() - before) / float64(sites)
			if got := store.Stats(policy.ConfiguredHosts).Entries; got != sites {
				return "", fmt.Errorf("%d of %d sites were kept", got, sites)
			}
		}
		fmt.Fprintf(&b, "| %d | %.0f | %.0f |\n", sites, bytes[0], bytes[1])
	}
	return b.String(), nil
}
