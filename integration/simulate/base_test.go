package simulate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	guardsite "github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// base is the robots.txt that a site serves without the owner's rules. The rules extend
// it.
type base struct {
	text, before string
	mode         baseMode
	changed      time.Time
	apart        bool // instances may have different bases
	read         map[*instance]time.Time
}

// A baseMode is a way in which a site answers requests for its base.
type baseMode uint8

const (
	isServed baseMode = iota
	isGone            // 404
	isDown            // 503
	isMute            // no response
	isPage            // an HTML page
	numBaseModes
)

func (m baseMode) String() string {
	return [...]string{"serves its own text", "has no text of its own", "answers 503", "hangs", "answers a web page"}[m]
}

// isReadable reports whether the response is a base: a file, or 404 for none.
func (m baseMode) isReadable() bool { return m == isServed || m == isGone }

// baseLife is the max-age of a base.
const baseLife = time.Minute

// newBases gives each site a base. The first bases block no search engine.
func (w *world) newBases(dice *rand.Rand) {
	w.owner.bases = make(map[*site]*base)
	for _, s := range w.sites {
		b := &base{read: make(map[*instance]time.Time)}
		for b.text = newText(dice); closes(b.text); b.text = newText(dice) {
		}
		b.before, b.changed = b.text, w.start
		w.owner.bases[s] = b
		w.tell("%s has by itself\n%s", s.host, indent(b.text))
	}
}

// closes reports whether a robots.txt blocks a search engine.
func closes(text string) bool {
	return slices.ContainsFunc(engines, func(engine string) bool { return !allows(parsed(text), engine, "/") })
}

// readsBases makes all instances fetch the bases that are due. In production the
// requests of clients cause these fetches. The invariants are checked afterwards.
func (w *world) readsBases() {
	if w.owner.bases == nil {
		return
	}
	for _, s := range w.sites {
		for _, i := range w.instances {
			i.shows(s)
		}
	}
	w.settle()
}

// builds changes the base of a site, or makes it unreadable.
func (w *world) builds(dice *rand.Rand, s *site) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.owner.bases[s]
	if b.mode.isReadable() {
		for _, i := range w.instances { // an instance that has seen the site fail retries rarely
			b.apart = b.apart || !b.read[i].After(b.changed)
		}
	}
	b.changed = time.Now()
	if b.mode == isServed && dice.IntN(2) == 0 {
		b.mode = 1 + baseMode(dice.IntN(int(numBaseModes)-1))
		w.tell("%s %s", s.host, b.mode)
		return
	}
	next := newText(dice)
	if dice.IntN(3) == 0 {
		next = b.before
	}
	b.mode, b.text, b.before = isServed, next, b.text
	w.tell("%s has by itself\n%s", s.host, indent(next))
}

// answer returns the response of a site to a request for its base.
func (b *base) answer() policy.FetchResult {
	a := policy.FetchResult{Status: http.StatusOK, Header: http.Header{"Cache-Control": {"max-age=" + strconv.Itoa(int(baseLife.Seconds()))}}}
	switch b.mode {
	case isServed:
		a.Body = []byte(b.text)
	case isPage:
		a.Body = []byte(webPage)
	case isGone:
		a.Status = http.StatusNotFound
	default:
		a.Status = http.StatusServiceUnavailable
	}
	return a
}

// ownTexts is the source from which an instance fetches the bases.
type ownTexts struct{ *instance }

// Prepare implements [guardsite.Source].
func (o ownTexts) Prepare(_ *http.Request, key policy.Key) (guardsite.FetchFunc, bool) {
	w := o.world
	b := w.owner.bases[w.site(key.Host)]
	if b == nil {
		return nil, false
	}
	return func(ctx context.Context, _ *policy.Version) policy.FetchResult {
		o.dirty.Store(true)
		w.mu.Lock()
		b.read[o.instance] = time.Now()
		a, hangs := b.answer(), b.mode == isMute
		w.mu.Unlock()
		if hangs {
			<-ctx.Done()
			return policy.FetchResult{Err: context.Cause(ctx)}
		}
		if a.Status == http.StatusServiceUnavailable {
			a.Err = errors.New("the site answered 503")
		}
		return a
	}, true
}

// isSettled reports whether all instances have the same base of a site. Instances keep
// their last base while the site fails, and retry only every five minutes.
func (w *world) isSettled(s *site) bool {
	b := w.owner.bases[s]
	return b == nil || b.mode.isReadable() && time.Since(b.changed) > 10*time.Minute && !b.apart
}

// partsBases records whether instances may have different bases, because one could not
// reach the storage.
func (w *world) partsBases() {
	all := len(w.reaching()) == len(w.instances)
	for s, b := range w.owner.bases {
		if !all {
			b.apart = true
		} else if !w.differAt(s, w.instances) {
			b.apart = false
		}
	}
}

// losesBases records the same for a process that crashes before it has fetched or
// stored a base.
func (i *instance) losesBases() {
	w := i.world
	if w.owner == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.owner.bases {
		b.apart = b.apart || !b.read[i].After(b.changed) || b.read[i].After(i.kept)
	}
}

// holdsText checks the invariant for an unreadable base: the served robots.txt does not
// change while no other change is published. It applies to an instance that has reached
// the storage for three minutes and has not restarted since. After a start without the
// storage an instance may have neither base nor trial.
func (i *instance) holdsText(s *site, before, text string, state *publish.History) {
	published := state.PublishedID()
	if c := state.Pending; c != nil {
		published += fmt.Sprint(" ", c.ID, " ", c.State)
	}
	b := i.world.owner.bases[s]
	last := i.published.under[s]
	i.published.under[s] = seenUnder{time.Now(), published}
	if b == nil || b.mode.isReadable() || last.published != published || !b.changed.Before(last.at.Add(-2*baseLife)) || i.storage.cut.Load() || last.at.Before(i.storage.last.Add(3*time.Minute)) || !i.born.Before(last.at) || before == "" {
		return
	}
	if before != text {
		i.world.fail("%s serves a different robots.txt at %s, although the base has been unreadable for %s", i.id, s.host, time.Since(b.changed))
	}
}

// seenUnder holds the time of the last check of an instance, and the changes that were
// published then.
type seenUnder struct {
	at        time.Time
	published string
}
