package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// served counts services that are blocked.
type served struct {
	all, get, post int
	of, blocked    map[string]int // by family
}

// families lists how many of each family are blocked.
func (v *served) families() string {
	var list []string
	for _, family := range slices.Sorted(maps.Keys(v.of)) {
		list = append(list, fmt.Sprintf("%s %d/%d", family, v.blocked[family], v.of[family]))
	}
	return strings.Join(list, ", ")
}

func measureServices(rows []string, h half, verbose bool) served {
	v := served{of: map[string]int{}, blocked: map[string]int{}}
	robots := policy.Parse([]byte("User-agent: *\nDisallow: /\n"))
	var target policy.Target
	for _, row := range rows {
		f := strings.Split(row, "\t")
		if len(f) < 2 || !h.has(f[0]) {
			continue
		}
		client := uaident.Identify(f[0])
		v.all++
		v.of[f[1]]++
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			subject := (&judge.Request{Client: client, Method: method, Target: "/a"}).Subject(nil, client.Wildcard())
			target.Set("/a", false)
			switch {
			case client.Class == uaident.Browser || subject.Verdict(robots, &target).Allowed:
			case method == http.MethodPost:
				v.post++
			default:
				v.get++
				v.blocked[f[1]]++
				if verbose {
					fmt.Printf("blocked %s %s by %s: %q: %s\n", f[1], client.Class, client.Evidence, client.Token, f[0])
				}
			}
		}
	}
	return v
}
