package caddymodule

import (
	"net/http"
	"strconv"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// besideSpelling returns the version of the other authority by which a site can
// be asked for at a listener, with its port or without, if the origin gives it
// another text and the crawler has not read the one of its own: else it could
// choose the milder of two spellings.
func (g *guard) besideSpelling(r *http.Request, j *judgement, ours *policy.Version, now time.Time) *policy.Version {
	key := j.site.own
	listener := listenerPort(r, key.Secure, isTrustedProxy(r))
	if g.sourceKey != "" || listener == 0 || key.Host == "" {
		return nil
	}
	if name, port := cutPort(key.Host); port != "" {
		key.Host = name
	} else {
		key.Host = name + ":" + strconv.Itoa(listener)
	}
	entry := g.state.cache.Get(key)
	if entry == nil {
		return nil
	}
	beside, _ := inForce(entry.Standing(), now, g.fallback)
	if beside == nil || beside.Hash == ours.Hash {
		return nil
	}
	if last, ok := g.lastReading(r, j); ok && last.Hash == ours.Hash && now.Sub(last.At) < policy.MaxAge {
		return nil
	}
	return beside
}
