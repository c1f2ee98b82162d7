package guard

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// maxWitnessed bounds a User-Agent that the guard takes over, in bytes.
const maxWitnessed = 2048

// witnessOf returns the client of a request.
func witnessOf(r *http.Request) origin.Witness {
	userAgent := request.UserAgentOf(r)
	w := origin.Witness{UserAgent: userAgent[:min(len(userAgent), maxWitnessed)], RemoteAddr: r.RemoteAddr}
	if addr := request.ClientAddr(r); addr.IsValid() && request.IsTrustedProxy(r) {
		w.ClientIP = addr.String()
	}
	return w
}

// refusesUs reports whether an answer refuses the guard the robots.txt, as a
// firewall or a rate limit before it does, and not the file to everybody.
func refusesUs(a policy.Answer) bool {
	if a.Status == http.StatusNotFound || a.Status == http.StatusGone {
		return false
	}
	return a.Status >= 400 && a.Status < 500 || errors.Is(a.Err, origin.ErrBrokeOff)
}

// asWitness returns what fetches a robots.txt as the guard, and, where that is
// refused, as the client that was served it last: what crawlers get, we get.
func (g *Guard) asWitness(r *http.Request, s *request.Site, fetch origin.Fetch) origin.Fetch {
	if g.SourceKey != "" {
		return fetch
	}
	known := g.shared.served.Known(*s.Own())
	if known == nil {
		return fetch
	}
	who, ok := known.LastWitness(time.Now())
	if !ok {
		return fetch
	}
	if !who.Verified {
		who.UserAgent = "" // by which it could choose a text for all
	}
	outside, ok := g.Source.Prepare(r, s.Key, who)
	if !ok {
		return fetch
	}
	return func(ctx context.Context, have *policy.Version) policy.Answer {
		answer := fetch(ctx, have)
		if !refusesUs(answer) {
			if answer.Meaning().Known() {
				known.SetRefused(false)
			}
			return answer
		}
		again := outside(ctx, have)
		if meaning := again.Meaning(); meaning != policy.Rules && meaning != policy.Unchanged {
			return answer
		}
		if known.SetRefused(true) {
			g.logRefused(s, answer)
		}
		return again
	}
}
