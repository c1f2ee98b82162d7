package caddymodule

import (
	"context"
	"crypto/sha256"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// servedTo returns the texts that a crawler was served in the last day and is
// held to in place of our copy: none if it has read nothing, or what we have. A
// verified crawler may have several, of which the operator's crawlers share some.
// pending says that it is not known yet what it was served. The request waits
// for that, for most at most.
func (g *guard) servedTo(r *http.Request, j *judgement, entry *policy.Entry, standing *policy.Standing, now time.Time, most time.Duration) (texts []*policy.Version, pending bool) {
	if g.sourceKey != "" || !entry.ServesOthers(now) && !g.state.readElsewhere.Load() {
		return nil, false // with a source, whatever the site serves counts for nothing
	}
	var all [3]ledger.Reading
	for _, read := range all[:g.readings(r, j, &all)] {
		switch {
		case read.Hash == [sha256.Size]byte{} || now.Sub(read.At) >= policy.MaxAge:
			continue
		case standing != nil && standing.Good != nil && read.Hash == standing.Good.Hash:
			return nil, false // it knows what we have
		}
		text := g.textOf(j, read.Hash, standing, now)
		if text == nil {
			var wait bool
			text, wait = g.askFor(r, j, read.Hash, standing, now, most)
			pending = pending || wait
		}
		if text != nil {
			texts = append(texts, text)
		}
	}
	return texts, pending && len(texts) == 0
}

// textOf returns the text of a hash if it is known that the site serves it to
// this crawler: as a version that was ours within the grace, or from asking.
func (g *guard) textOf(j *judgement, hash [sha256.Size]byte, standing *policy.Standing, now time.Time) *policy.Version {
	if standing != nil {
		for _, v := range standing.Held(now, time.Time{}, g.grace) {
			if v.Hash == hash {
				return v
			}
		}
	}
	site := g.state.served.site(j.site)
	if j.identity == identityVerified {
		if text := site.text(operatorName(j), hash, now); text != nil {
			return text
		}
	}
	return site.text(servedName(j), hash, now)
}

// askFor asks the site for its robots.txt as it is served to this crawler, with
// its User-Agent and nothing else of its request, and waits for the answer.
func (g *guard) askFor(r *http.Request, j *judgement, hash [sha256.Size]byte, standing *policy.Standing, now time.Time, most time.Duration) (text *policy.Version, pending bool) {
	done, pending := g.askSite(r, j, hash, now)
	if !pending {
		return nil, false
	}
	if done != nil {
		timer := time.NewTimer(most)
		defer timer.Stop()
		select {
		case <-done:
			return g.textOf(j, hash, standing, now), false
		case <-timer.C:
		case <-r.Context().Done():
		}
	}
	return nil, g.state.served.site(j.site).pending.AllowN(now, 1)
}

// askSite begins to ask the site as a crawler, if that is not going on already.
func (g *guard) askSite(r *http.Request, j *judgement, hash [sha256.Size]byte, now time.Time) (done <-chan struct{}, pending bool) {
	who := witnessOf(r)
	name, key := servedName(j), j.site.own
	site := g.state.served.site(j.site)
	read, ok := g.source.prepare(r, key, witness{userAgent: who.userAgent})
	outside, _ := g.source.prepare(r, key, who)
	if !ok {
		return nil, false
	}
	return site.ask(name, now, func() {
		for range maxAsks {
			answer := timed(read, nil, key, g.fetchTimeout)()
			if refusesUs(answer) {
				answer = timed(outside, nil, key, g.fetchTimeout)()
			}
			g.state.served.confirm(j.site, name, answer, now)
			if v := policy.VersionOf(answer, now); v == nil || v.Hash == hash {
				return
			}
		}
	})
}

// operatorName and servedName are the names under which it is kept what a crawler
// is served. Names that clients can invent push out one another only.
func operatorName(j *judgement) string { return "operator " + operatorOf(j) }

func servedName(j *judgement) string { return shortened(foldName(j.client.Name()), maxServedName) }

// maxServedName bounds a name that a client may have invented, in bytes.
const maxServedName = 64

// witness is a client that was served the robots.txt of a site: all that the
// guard takes from it to be served the same.
type witness struct {
	userAgent  string // "" for the guard's own
	remoteAddr string // "" for the guard's own
	clientIP   string // behind a trusted proxy
	at         time.Time
}

// witnessOf returns the client of a request.
func witnessOf(r *http.Request) witness {
	w := witness{userAgent: shortened(userAgentOf(r), maxLoggedUserAgent), remoteAddr: r.RemoteAddr}
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
	// Its address alone, if that is enough: by its User-Agent it could choose a
	// text for all.
	stranger := who
	stranger.userAgent = ""
	outside, ok := g.source.prepare(r, s.key, stranger)
	disguised, _ := g.source.prepare(r, s.key, who)
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
		for _, read := range []reader{outside, disguised} {
			again := read(ctx, have)
			if meaning := again.Meaning(); meaning == policy.Rules || meaning == policy.Unchanged {
				if known.setRefused(true) {
					g.logRefused(s, answer)
				}
				return again
			}
		}
		return answer
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
func (s *servedSite) saw(w witness, now time.Time) (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = s.witness.at.IsZero() || now.Sub(s.witness.at) >= policy.MaxAge
	w.at = now
	s.witness = w
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
