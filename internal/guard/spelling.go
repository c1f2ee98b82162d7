package guard

import (
	"net/http"
	"strconv"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// knownSpelling returns the state of the authority that an origin knows, where
// a request names the site by another: nil where it does not, or where the origin
// makes no difference.
//
// A site at a port of its own has two authorities, with the port and without, for
// a proxy may map it, and the clients of each have to be judged by its rules. An
// origin that compares hosts byte by byte may know only one of them, and answer
// to the other what it answers to any host, which is then no rule of this site.
// So where the two differ, the guard asks for a third that nobody can mean.
func (g *Guard) knownSpelling(r *http.Request, j *Judgement, state *policy.State, waits bool, now, until time.Time) *policy.State {
	key := *j.Site.Own()
	listener := request.ListenerPort(r, key.Secure, request.IsTrustedProxy(r))
	if g.SourceKey != "" || listener == 0 || key.Host == "" || state == nil || state.Good == nil {
		return nil
	}
	entry := g.otherSpelling(j.kept, &key, listener)
	if entry == nil {
		return nil
	}
	beside := entry.State()
	if beside == nil || beside.Good == nil || beside.Good.Hash == state.Good.Hash {
		return nil
	}
	name, _ := addr.CutPort(key.Host)
	odd := key
	odd.Host = name + ":" + strconv.Itoa(oddPort(listener))
	asked := g.shared.Cache.Add(odd, policy.Invented)
	if asked.Due(now) {
		if fetch, ok := g.Source.Prepare(r, odd, origin.Witness{}); ok {
			if done := asked.Refresh(g.Freshness, g.timed(fetch, nil, odd), nil); done != nil && waits && asked.State() == nil {
				awaitClosed(r, done, time.Until(until))
			}
		}
	}
	if third := asked.State(); third == nil || third.Good == nil || third.Good.Hash != state.Good.Hash {
		return nil
	}
	return beside
}

// otherSpelling returns the entry of the same site with the port of its listener where it
// is named without, and without where it is named with it; nil if there is none, which is
// remembered of a site that is kept until the next entry is made.
func (g *Guard) otherSpelling(kept *keptSite, key *policy.Key, listener int) *policy.Entry {
	at := g.shared.Cache.Made()<<16 | uint64(uint16(listener))
	if kept != nil && kept.alone.Load() == at {
		return nil
	}
	other := *key
	name, port := addr.CutPort(key.Host)
	if other.Host = name; port == "" {
		other.Host = name + ":" + strconv.Itoa(listener)
	}
	entry := g.shared.Cache.Get(other)
	if entry == nil && kept != nil {
		kept.alone.Store(at)
	}
	return entry
}

// hasReadHere reports whether our copy is what a crawler was served by the very spelling
// by which it asks now: it is held to that, and to no other, which an owner may keep for a
// port that nobody is to index. Who uses a false name gains nothing by it.
func (g *Guard) hasReadHere(r *http.Request, j *Judgement, state *policy.State, now time.Time) bool {
	last, ok := g.lastReading(r, j)
	return ok && last.Hash == state.Good.Hash && now.Sub(last.At) < policy.MaxAge && j.Identity != verify.Spoofed
}

// oddPort returns a port that is not the listener's and stands in no URL.
func oddPort(listener int) int {
	if listener == 1 {
		return 2
	}
	return 1
}
