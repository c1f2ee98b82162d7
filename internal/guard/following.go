package guard

import (
	"crypto/sha256"
	"iter"
	"net/http"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// mayNotKnow reports whether a crawler may not know yet that the current version
// forbids what it asks for: it may still follow an older copy that allows it.
func (g *Guard) mayNotKnow(r *http.Request, j *Judgement, state *policy.State, texts []*policy.Version, now time.Time) bool {
	for v := range g.mayFollow(r, j, state, texts, now) {
		if g.allows(r, j, v) {
			return true
		}
	}
	return false
}

// mayFollow yields the versions before the current one that a crawler may still follow.
// texts are those that it was served in place of our copy. For a crawler that was seen to
// read a text these are the versions that the site has served since then: it may have read
// them where nobody saw it. For one that has read a text which nobody knows these are all
// versions within the grace, as if it had read nothing.
func (g *Guard) mayFollow(r *http.Request, j *Judgement, state *policy.State, texts []*policy.Version, now time.Time) iter.Seq[*policy.Version] {
	return func(yield func(*policy.Version) bool) {
		grace := g.graceOf(j)
		if len(state.Held(now, time.Time{}, grace)) == 0 {
			return
		}
		last, _ := g.lastReading(r, j)
		recent := last.Hash != [sha256.Size]byte{} && now.Sub(last.At) < max(policy.MaxAge, grace)
		isLast := func(v *policy.Version) bool { return v.Hash == last.Hash }
		knows := recent && (isLast(state.Good) || slices.ContainsFunc(texts, isLast))
		if !knows && (recent && g.SourceKey == "" || g.Forwarded != nil) {
			last = ledger.Reading{} // nobody knows what it was answered
		}
		served := g.shared.served.Known(*j.Site.Own())
		refused := served != nil && served.IsRefused()
		isOurs := func(v *policy.Version) bool { // the guard was refused the file, and nobody else
			return refused && !v.Served && refusesUs(policy.Answer{Status: v.Status})
		}
		held := state.Held(now, last.At, grace)
		if n := len(held); n > 0 && n < len(state.Past) && isOurs(held[n-1]) {
			held = state.Past[:n+1] // by which others may have gone meanwhile
		}
		for _, v := range held {
			switch {
			case knows && !v.LastRead.After(last.At): // it ended before, or by that
			case isOurs(v):
			case !yield(v):
				return
			}
		}
	}
}
