package guard

import (
	"crypto/sha256"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// holdToUse holds a crawler to a preference about use, if the configuration says so and
// the crawler is known to have read it.
func (g *Guard) holdToUse(r *http.Request, j *Judgement, state *policy.State, now time.Time) {
	if against := g.againstUse(j, j.Version, &j.Result); against != nil && g.hasReadUse(r, j, state, now) {
		g.Settings.HoldToUse(&j.Request, &j.Result, against)
	}
}

// againstUse returns the line of a version that a request is against by what it is made
// for, nil for none. result is what that version says of it.
func (g *Guard) againstUse(j *Judgement, version *policy.Version, result *judge.Result) *policy.Statement {
	if version == nil {
		return nil
	}
	return g.Settings.AgainstUse(&j.Request, version.Robots, result)
}

// hasReadUse reports whether the text that a crawler has read last is against the use of
// what it asks for, as the one in force is. Other than for a rule, time alone teaches
// nobody a preference: who has read nothing, or a text that nobody knows, is not held to
// any, and what other crawlers of its operator have read counts for nothing.
func (g *Guard) hasReadUse(r *http.Request, j *Judgement, state *policy.State, now time.Time) bool {
	last := g.ownReading(r, j)
	switch {
	case last.Hash == [sha256.Size]byte{}, last.Hash == codedText:
		return false
	case last.Hash == j.Version.Hash:
		return true
	case state == nil:
		return false
	}
	read := state.Good
	if read == nil || read.Hash != last.Hash {
		read = g.textOf(r, j, last, state, now)
	}
	if read == nil {
		return false
	}
	var scratch judge.Scratch
	var result judge.Result
	g.Settings.Judge(&j.Request, judge.Rules{Robots: read.Robots}, &scratch, &result)
	return g.againstUse(j, read, &result) != nil
}

// ownReading returns what a crawler has read last by itself, the zero Reading if nothing
// is known.
func (g *Guard) ownReading(r *http.Request, j *Judgement) (last ledger.Reading) {
	own := []ledger.Reader{g.claimedReader(r, j)}
	if j.Identity == verify.Verified {
		own = append(own, g.readersOf(r, j)[0]) // the other one is all of its operator
	}
	for _, reader := range own {
		if read, ok := g.lastRead(reader); ok && read.At.After(last.At) {
			last = read
		}
	}
	return last
}
