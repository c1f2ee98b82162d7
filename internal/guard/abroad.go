package guard

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Some sites redirect their robots.txt to another one that is guarded here, too. To that
// it is a page like others, which its own rules may forbid, or its own robots.txt, which
// its reader takes for that of the first.

// abroad is where the robots.txt of sites that the configuration names redirect to other
// hosts. Nobody waits for who looks for it. The zero value knows nothing.
type abroad struct {
	mu    sync.Mutex    // held by who looks
	news  atomic.Uint64 // how often some site has begun to redirect elsewhere
	known atomic.Pointer[placesAbroad]
}

// placesAbroad are the URLs of other hosts as they were at a time. They do not change.
type placesAbroad struct {
	at     time.Time
	news   uint64 // before it was looked for them
	places map[string]bool
}

const (
	maxAbroad = 1024
	// abroadLasts is how often it is looked for at most, but for what a guard has just
	// read. It is done for a request that is blocked.
	abroadLasts = time.Minute
)

// of returns the URLs to which the robots.txt of sites redirects.
func (a *abroad) of(all *policy.Cache, now time.Time) map[string]bool {
	known, news := a.known.Load(), a.news.Load()
	if known != nil && known.news == news && now.Sub(known.at).Abs() < abroadLasts || !a.mu.TryLock() { // clocks may be set back
		if known == nil {
			return nil
		}
		return known.places
	}
	defer a.mu.Unlock()
	next := &placesAbroad{now, a.news.Load(), make(map[string]bool)}
	for _, e := range all.Entries() {
		if state := e.State(); state != nil && e.Segment() == policy.Named && e.Key().Source == "" {
			next.add(state.Via)
		}
	}
	a.known.Store(next)
	return next.places
}

// forget has it looked for again, since the robots.txt of a site redirects elsewhere by now:
// also where it is being looked for, for that site may have been passed by then.
func (a *abroad) forget() { a.news.Add(1) }

func (p *placesAbroad) add(via []string) {
	for _, place := range via {
		if to := placeAbroad(place); to != "" && len(p.places) < maxAbroad {
			p.places[to] = true
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
	known := g.shared.abroad.of(g.shared.Cache, now)
	if len(known) == 0 && !g.shared.served.Leads(now) {
		return false // as mostly
	}
	place := urlOf(j.Site.Own().Host, j.Site.Own().Secure, j.Target)
	if known[place] {
		return true
	}
	network := addr.Network(request.ClientAddr(r))
	return g.shared.served.WasLedAbroad(network, place, now) && g.shared.served.Site(*j.Site.Own()).MayPass(network, now)
}
