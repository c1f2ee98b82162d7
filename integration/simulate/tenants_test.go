package simulate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Sizes of the robots.txt files of large tenants.
const (
	largeHosts    = 9
	largeFile     = 505 << 10
	changingFile  = 100 << 10
	changingTimes = 20
)

// isLargeTenant reports whether a host belongs to a tenant whose files are large. Such a tenant
// shares the wildcard *.test with the sites of the world, but no crawler that obeys visits it.
func isLargeTenant(host string) bool { return strings.HasSuffix(host, "-large.test") }

// fetchLarge returns the robots.txt of a large tenant. The file has another first rule each time if the
// host begins with "changing".
func fetchLarge(host string) policy.FetchResult {
	first, rules := host, largeRules()
	if strings.HasPrefix(host, "changing") {
		first, rules = time.Now().Format(time.RFC3339), rules[:changingFile]
	}
	body := append([]byte("User-agent: *\nDisallow: /"+first+"\n"), rules...)
	return policy.FetchResult{Status: http.StatusOK, Body: body, Header: http.Header{"Cache-Control": {"max-age=60"}}}
}

// largeRules returns rules of largeFile bytes.
var largeRules = sync.OnceValue(func() []byte {
	var rules bytes.Buffer
	for n := 0; rules.Len() < largeFile; n++ {
		fmt.Fprintf(&rules, "Disallow: /%d/a-directory-of-this-tenant/\n", n)
	}
	return rules.Bytes()
})

// fill lets a large tenant cause fetches of its files: one file at each of nine hosts, or files that
// change each minute. Neither may evict what the guard knows of the other sites.
func (w *world) fill(dice *rand.Rand, i *instance) {
	hosts, pause := []string{fmt.Sprintf("changing%d-large.test", dice.IntN(2))}, time.Minute
	times := changingTimes
	if dice.IntN(2) == 0 {
		hosts, pause, times = nil, 0, 1
		for n := range largeHosts {
			hosts = append(hosts, fmt.Sprintf("%d-large.test", n))
		}
	}
	w.tell("crawlers visit %d large tenants at %s %d times", len(hosts), i.id, times)
	for range times {
		for _, host := range hosts {
			i.ask("AhrefsBot/1.0", "192.0.2.8", host, "/page")
			w.settle()
		}
		time.Sleep(pause)
	}
}
