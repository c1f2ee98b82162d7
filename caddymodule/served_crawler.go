package caddymodule

import (
	"crypto/sha256"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// servedTo returns the texts that a crawler was served in the last day and is
// held to in place of our copy: none if it has read nothing, or what we have. A
// verified crawler may have several, of which the operator's crawlers share some,
// our copy among them. pending says that it is not known yet what it was served.
// A request that waits at all waits for that, for most at most.
func (g *guard) servedTo(r *http.Request, j *judgement, entry *policy.Entry, standing *policy.Standing, waits bool, now time.Time, most time.Duration) (texts []*policy.Version, pending bool) {
	if g.sourceKey != "" || standing == nil || standing.Good == nil || !entry.ServesOthers(now) {
		return nil, false // with a source, whatever the site serves counts for nothing
	}
	if !waits {
		most = 0
	}
	var all [3]ledger.Reading
	hasOurs := false
	for _, read := range all[:g.readings(r, j, &all)] {
		switch {
		case read.Hash == [sha256.Size]byte{} || now.Sub(read.At) >= policy.MaxAge:
			continue
		case read.Hash == standing.Good.Hash:
			hasOurs = true
			continue
		}
		text := g.textOf(r, j, read.Hash, standing, now)
		if text == nil {
			var wait bool
			text, wait = g.askFor(r, j, read, standing, now, most)
			pending = pending || wait
		}
		if text != nil {
			texts = append(texts, text)
		}
	}
	if hasOurs && len(texts) > 0 {
		texts = append(texts, standing.Good)
	}
	return texts, pending && len(texts) == 0 && !hasOurs
}

// textOf returns the text of a hash if it is known that the site serves it to
// this crawler: as a version that was ours within the grace, or from asking.
func (g *guard) textOf(r *http.Request, j *judgement, hash [sha256.Size]byte, standing *policy.Standing, now time.Time) *policy.Version {
	for _, v := range standing.Held(now, time.Time{}, g.grace) {
		if v.Hash == hash {
			return v
		}
	}
	site := g.state.served.site(j.site)
	if j.identity == identityVerified {
		if text := site.text(operatorClient(j), hash, now); text != nil {
			return text
		}
	}
	return site.text(claimedClient(r), hash, now)
}

// askFor asks the site for its robots.txt as it is served to this crawler, with
// its User-Agent and nothing else of its request, and waits for the answer.
func (g *guard) askFor(r *http.Request, j *judgement, read ledger.Reading, standing *policy.Standing, now time.Time, most time.Duration) (text *policy.Version, pending bool) {
	done, pending := g.askSite(r, j, read.Hash, now, g.unpacks(read, g.readersOf(r, j)))
	if !pending {
		return nil, false
	}
	if done != nil {
		awaitClosed(r, done, most)
		select {
		case <-done:
			if read.Hash == codedText {
				read, _ = g.lastReading(r, j)
			}
			if read.Hash == standing.Good.Hash {
				return standing.Good, false
			}
			return g.textOf(r, j, read.Hash, standing, now), false
		default:
		}
	}
	return nil, g.state.served.site(j.site).mayPass(ledger.Network(clientAddr(r)), now)
}

// askSite begins to ask the site as a crawler, if that is not going on already: by
// its User-Agent, and where that yields another text by its address, too, by
// which a proxy may choose an upstream. found, if it is not nil, is told the text
// that the site serves, and then any will do.
func (g *guard) askSite(r *http.Request, j *judgement, hash [sha256.Size]byte, now time.Time, found func(hash [sha256.Size]byte)) (done <-chan struct{}, pending bool) {
	who, network := witnessOf(r), ledger.Network(clientAddr(r))
	if maybeInvented(r) {
		who.clientIP = ""
	}
	client, of := claimedClient(r), j.site
	read, ok := g.source.prepare(r, of.own, witness{userAgent: who.userAgent})
	outside, _ := g.source.prepare(r, of.own, who)
	if !ok {
		return nil, false
	}
	begin := func() bool { return g.state.served.begin(of.segment) }
	return g.state.served.site(of).ask(client, network, hash, now, begin, func() {
		defer g.state.served.end(of.segment)
		as := read
		for range maxAsks {
			answer := timed(as, nil, of.own, g.fetchTimeout)()
			if as = outside; refusesUs(answer) {
				continue
			}
			g.state.served.confirm(of, client, network, answer, now)
			got, ok := policy.HashOf(answer)
			if ok && found != nil {
				found(got)
			}
			if !ok || got == hash || found != nil {
				return
			}
		}
	})
}

// operatorClient is all crawlers of an operator, for a verified one, and
// claimedClient is whoever sends the User-Agent of a request.
func operatorClient(j *judgement) servedClient { return servedClient{operator: operatorOf(j)} }

func claimedClient(r *http.Request) servedClient {
	return servedClient{userAgent: sha256.Sum256([]byte(userAgentOf(r)))}
}
