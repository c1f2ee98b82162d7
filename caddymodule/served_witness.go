package caddymodule

import (
	"context"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// witness is a client that was served the robots.txt of a site: all that the
// guard takes from it to be served the same. The zero witness is the guard.
type witness struct {
	userAgent  string // "" for the guard's own
	remoteAddr string // "" for the guard's own
	clientIP   string // behind a trusted proxy
	verified   bool
	at         time.Time
}

// maxWitnessed bounds a User-Agent that the guard takes over, in bytes.
const maxWitnessed = 2048

// witnessOf returns the client of a request.
func witnessOf(r *http.Request) witness {
	userAgent := userAgentOf(r)
	w := witness{userAgent: userAgent[:min(len(userAgent), maxWitnessed)], remoteAddr: r.RemoteAddr}
	if addr := clientAddr(r); addr.IsValid() && isTrustedProxy(r) {
		w.clientIP = addr.String()
	}
	return w
}

// refusesUs reports whether an answer refuses the guard the robots.txt, as a
// firewall or a rate limit before it does, and not the file to everybody.
func refusesUs(a policy.Answer) bool {
	switch {
	case a.Status == http.StatusNotFound, a.Status == http.StatusGone:
		return false
	}
	return a.Status >= 400 && a.Status < 500 || a.Err == errBrokeOff
}

// asWitness returns what reads a robots.txt as the guard, and, where that is
// refused, as the client that was served it last: what crawlers get, we get.
func (g *guard) asWitness(r *http.Request, s site, read reader) reader {
	if g.sourceKey != "" {
		return read
	}
	known := g.state.served.site(s)
	who, ok := known.lastWitness(time.Now())
	if !ok {
		return read
	}
	if !who.verified {
		who.userAgent = "" // by which it could choose a text for all
	}
	outside, ok := g.source.prepare(r, s.key, who)
	if !ok {
		return read
	}
	return func(ctx context.Context, have *policy.Version) policy.Answer {
		answer := read(ctx, have)
		if !refusesUs(answer) {
			if answer.Meaning().Known() {
				known.setRefused(false)
			}
			return answer
		}
		again := outside(ctx, have)
		if meaning := again.Meaning(); meaning != policy.Rules && meaning != policy.Unchanged {
			return answer
		}
		if known.setRefused(true) {
			g.logRefused(s, answer)
		}
		return again
	}
}

// lastWitness returns the client that was served the file last, less than a day
// ago.
func (s *servedSite) lastWitness(now time.Time) (witness, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.witness, !s.witness.at.IsZero() && now.Sub(s.witness.at) < policy.MaxAge
}

// saw notes who was served the file, and reports whether nobody was for a day.
func (s *servedSite) saw(w witness, verified bool, now time.Time) (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = s.witness.at.IsZero() || now.Sub(s.witness.at) >= policy.MaxAge
	if w.at, w.verified = now, verified; first || verified || !s.witness.verified {
		s.witness = w
	}
	return first
}

func (s *servedSite) isRefused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// setRefused notes whether the guard is refused what clients are served, and
// reports whether that is new.
func (s *servedSite) setRefused(refused bool) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed = s.refused != refused
	s.refused = refused
	return changed
}
