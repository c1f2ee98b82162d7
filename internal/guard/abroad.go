package guard

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Some sites redirect their robots.txt to another one that is guarded here, too. To that
// it is a page like others, which its own rules may forbid, or its own robots.txt, which
// its reader takes for that of the first.

// abroad is where the robots.txt of sites that the configuration names redirect to other
// hosts. The zero value knows nothing.
type abroad struct {
	mu    sync.Mutex
	at    time.Time // when it was looked for
	known map[string]bool
}

const (
	maxAbroad = 1024
	// abroadLasts is how often it is looked for at most, which is done for a request
	// that is blocked.
	abroadLasts = 10 * time.Second
)

// has reports whether the robots.txt of a site redirects to a URL.
func (a *abroad) has(place string, all *policy.Cache, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil || now.Sub(a.at) >= abroadLasts {
		a.at, a.known = now, make(map[string]bool)
		for _, e := range all.Entries() {
			if state := e.State(); state != nil && e.Segment() == policy.Named && e.Key().Source == "" {
				a.add(state.Via)
			}
		}
	}
	return a.known[place]
}

// forget has it looked for again, since the robots.txt of a site redirects elsewhere by now.
func (a *abroad) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known = nil
}

func (a *abroad) add(via []string) {
	for _, place := range via {
		if to := placeAbroad(place); to != "" && len(a.known) < maxAbroad {
			a.known[to] = true
		}
	}
}

// placeAbroad returns a URL of another host in one spelling, "" for a path of the same.
func placeAbroad(place string) string {
	if strings.HasPrefix(place, "/") {
		return ""
	}
	u, err := url.Parse(place)
	if err != nil || u.Host == "" {
		return ""
	}
	return urlOf(u.Host, u.Scheme == "https", u.RequestURI())
}

func urlOf(host string, secure bool, target string) string {
	return request.SchemeOf(secure) + "://" + request.NormalHost(host, secure) + target
}

// leadsHere reports whether the robots.txt of another site redirects to what is asked
// for, as far as its guard knows, or has done so for this client a moment ago.
func (g *Guard) leadsHere(r *http.Request, j *Judgement, now time.Time) bool {
	place := urlOf(j.Site.Own.Host, j.Site.Own.Secure, j.Target)
	if g.shared.abroad.has(place, g.shared.Cache, now) {
		return true
	}
	network := addr.Network(request.ClientAddr(r))
	return g.shared.served.WasLedAbroad(network, place, now) && g.shared.served.Site(j.Site.Own).MayPass(network, now)
}
