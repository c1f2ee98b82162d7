package guard

import (
	"crypto/sha256"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/readers"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// servedTo returns the texts that a crawler was served in the last day and is held to in
// place of our copy: none if it has read nothing, or our copy alone. A verified crawler may
// have several, since its operator's crawlers may share what they read; our copy is then among
// them if one has read that. pending says that it is not known yet what it was served: with
// waits the request waits for that, until the given time at most.
func (g *Guard) servedTo(r *http.Request, j *Judgement, entry *policy.Entry, state *policy.State, waits bool, now, until time.Time) (texts []*policy.Version, pending bool) {
	if g.SourceKey != "" || state == nil || state.Good == nil || !entry.ServesOthers(now) {
		return nil, false // with a source, whatever the site serves counts for nothing
	}
	if !waits {
		until = now
	}
	var all [3]ledger.Reading
	hasOurs := false
	for _, read := range all[:g.readings(r, j, &all)] {
		switch {
		case read.Hash == [sha256.Size]byte{} || now.Sub(read.At) >= policy.MaxAge:
			continue
		case read.Hash == state.Good.Hash:
			hasOurs = true
			continue
		}
		text := g.textOf(r, j, read, state, now)
		if text == nil {
			var wait bool
			text, wait = g.askFor(r, j, read, state, now, until)
			pending = pending || wait
		}
		if text != nil {
			texts = append(texts, text)
		}
	}
	if hasOurs && len(texts) > 0 {
		texts = append(texts, state.Good)
	}
	return texts, pending && len(texts) == 0 && !hasOurs
}

// textOf returns the text that a crawler has read if it is known that the site served it to
// such a crawler at that time: since it was our copy within the grace before, or since the
// site was asked. If a version was read after it had been replaced, as from a cache, its grace
// counts from the reading.
func (g *Guard) textOf(r *http.Request, j *Judgement, read ledger.Reading, state *policy.State, now time.Time) *policy.Version {
	grace := g.graceOf(j)
	for _, v := range state.Past {
		from := v.Until
		if read.At.After(from) {
			from = read.At
		}
		if v.Hash == read.Hash && read.At.Sub(v.Until) < grace && now.Sub(from) < grace {
			return v
		}
	}
	site := g.shared.served.Site(*j.Site.Own())
	if j.Identity == verify.Verified {
		if text := site.Text(operatorClient(j), read.Hash, read.At); text != nil {
			return text
		}
	}
	return site.Text(claimedClient(r), read.Hash, read.At)
}

// askFor asks the site for its robots.txt as it is served to this crawler, with its
// User-Agent and nothing else of its request, and waits for the answer. Where the site is
// already being asked as such a crawler, on account of another text, it is asked again after
// that.
func (g *Guard) askFor(r *http.Request, j *Judgement, read ledger.Reading, state *policy.State, now, until time.Time) (text *policy.Version, pending bool) {
	for text == nil {
		done, pending := g.askSite(r, j, read.Hash, now, g.unpacks(read, g.readersOf(r, j)))
		if !pending {
			return g.textOf(r, j, read, state, now), false // it may have just been found
		}
		if !closedBy(r, done, until) {
			return nil, g.shared.served.Site(*j.Site.Own()).MayPass(addr.Network(request.ClientAddr(r)), now)
		}
		if read.Hash == codedText {
			read, _ = g.lastReading(r, j)
		}
		if read.Hash == state.Good.Hash {
			return state.Good, false
		}
		text = g.textOf(r, j, read, state, now)
	}
	return text, false
}

// closedBy waits until a channel is closed, which is nil for one that never is, or the
// request has gone, until a time at most, and reports whether it is closed.
func closedBy(r *http.Request, done <-chan struct{}, until time.Time) bool {
	if done == nil {
		return false
	}
	awaitClosed(r, done, time.Until(until))
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// askSite begins to ask the site as a crawler, if that is not going on already: with its
// User-Agent, and where that yields another text than the one with this hash, with its address
// as well, by which a proxy may choose an upstream. If found is not nil any text will do, and
// found is told its hash.
func (g *Guard) askSite(r *http.Request, j *Judgement, hash [sha256.Size]byte, now time.Time, found func(hash [sha256.Size]byte)) (done <-chan struct{}, pending bool) {
	who, network := witnessOf(r), addr.Network(request.ClientAddr(r))
	if request.MaybeInvented(r) {
		who.ClientIP = ""
	}
	client, of := claimedClient(r), j.Site
	if j.Identity == verify.Verified {
		client, who.Operator = operatorClient(j), operatorOf(j)
	}
	fetch, ok := g.Source.Prepare(r, *of.Own(), origin.Witness{UserAgent: who.UserAgent, Operator: who.Operator})
	outside, _ := g.Source.Prepare(r, *of.Own(), who)
	if !ok {
		return nil, false
	}
	begin := func() bool { return g.shared.served.Begin(of.Segment) }
	return g.shared.served.Site(*of.Own()).Ask(client, network, hash, now, begin, func() {
		defer g.shared.served.End(of.Segment)
		as := fetch
		for range readers.MaxAsks {
			answer := g.timed(as, nil, *of.Own())()
			if as = outside; refusesUs(answer) {
				continue
			}
			g.shared.served.Confirm(*of.Own(), client, network, answer, now)
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
func operatorClient(j *Judgement) readers.Client { return readers.Client{Operator: operatorOf(j)} }

func claimedClient(r *http.Request) readers.Client {
	return readers.Client{UserAgent: sha256.Sum256([]byte(request.UserAgentOf(r)))}
}
