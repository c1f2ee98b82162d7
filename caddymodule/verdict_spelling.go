package caddymodule

import (
	"net/http"
	"strconv"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// knownSpelling returns the standing of the authority that an origin knows, where
// a request names the site by another: nil where it does not, or where the origin
// makes no difference.
//
// A site at a port of its own has two authorities, with the port and without, for
// a proxy may map it, and the clients of each have to be judged by its rules. An
// origin that compares hosts byte by byte may know only one of them, and answer
// to the other what it answers to any host, which is then no rule of this site.
// So where the two differ, the guard asks for a third that nobody can mean.
func (g *guard) knownSpelling(r *http.Request, j *judgement, standing *policy.Standing, waits bool, now time.Time, most time.Duration) *policy.Standing {
	key := j.site.own
	listener := listenerPort(r, key.Secure, isTrustedProxy(r))
	if g.sourceKey != "" || listener == 0 || key.Host == "" || standing == nil || standing.Good == nil {
		return nil
	}
	name, port := cutPort(key.Host)
	other, odd := key, key
	if other.Host = name; port == "" {
		other.Host = name + ":" + strconv.Itoa(listener)
	}
	entry := g.state.cache.Get(other)
	if entry == nil {
		return nil
	}
	beside := entry.Standing()
	if beside == nil || beside.Good == nil || beside.Good.Hash == standing.Good.Hash {
		return nil
	}
	odd.Host = name + ":" + strconv.Itoa(oddPort(listener))
	asked := g.state.cache.Add(odd, policy.Invented)
	if asked.Due(now) {
		if read, ok := g.source.prepare(r, odd, witness{}); ok {
			if done := asked.Refresh(g.freshness, timed(read, nil, odd, g.fetchTimeout), nil); done != nil && waits && asked.Standing() == nil {
				awaitClosed(r, done, most)
			}
		}
	}
	if any := asked.Standing(); any == nil || any.Good == nil || any.Good.Hash != standing.Good.Hash {
		return nil
	}
	return beside
}

// oddPort returns a port that is not the listener's and stands in no URL.
func oddPort(listener int) int {
	if listener == 1 {
		return 2
	}
	return 1
}
