package simulate

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// happen executes an event and checks the invariants.
func (w *world) happen(e event) {
	dice := rand.New(rand.NewPCG(e.seed, 3))
	s, i := w.sites[dice.IntN(len(w.sites))], w.instances[dice.IntN(len(w.instances))]
	w.places = rand.New(rand.NewPCG(e.seed, 7))
	now := time.Now()
	switch e.what {
	case acts:
		w.acts(dice, i)
	case paces:
		w.paces(dice, i, s)
	case hurries:
		w.hurries(dice, i, s)
	case crowds:
		w.crowds(dice, i, s)
	case strolls:
		w.strolls(dice)
	case leads:
		w.leads(dice, s, elsewhere)
	case crosses:
		w.leads(dice, s, w.sites[1-slices.Index(w.sites, s)].host)
	case builds:
		w.builds(dice, s)
	case sets:
		w.sets(dice, i)
	case fills:
		w.fill(dice, i)
	case rushes:
		w.rushes(i, s)
	case empties:
		text := []string{"\n", "# nothing\n", webPage}[dice.IntN(3)]
		w.edit(s, same, text, now)
		w.tell("%s serves\n%s", s.host, indent(text))
	case edits:
		if w.owner != nil {
			w.publishes(dice, i)
			return
		}
		text := w.newText(dice)
		if dice.IntN(3) == 0 && s.before != "" {
			text = s.before // restored
		}
		w.edit(s, same, text, now)
		w.tell("%s serves\n%s", s.host, indent(text))
	case breaks:
		if w.owner != nil {
			return
		}
		m := mode(1 + dice.IntN(int(numModes)-1))
		w.edit(s, m, s.text, now)
		w.tell("%s %s", s.host, m)
	case mends:
		if s.mode != same {
			w.edit(s, same, s.text, now)
			w.tell("%s answers as before", s.host)
		}
	case reloads:
		i.load()
		w.tell("%s reloads", i.id)
	case crashes:
		i.crash()
		w.tell("%s crashes and starts again", i.id)
	case cuts:
		if i.storage != nil {
			i.storage.cut.Store(true)
			w.tell("%s is cut off from the storage", i.id)
		}
	case joins:
		for _, i := range w.instances {
			if i.storage != nil && i.storage.cut.Load() {
				i.storage.cut.Store(false)
				i.storage.last = now
				if i.unsaid { // the submission of these rules follows all changes made in the meantime
					i.unsaid, w.owner.back = false, ""
				}
				i.dirty.Store(true)
				w.tell("%s reaches the storage again", i.id)
			}
		}
	case comes:
		w.comes(dice, i, s)
	case passes:
		w.passes(dice, i, s)
	case reads:
		w.lies(dice, i, s, true)
	case ignores:
		w.lies(dice, i, s, false)
	}
}

// edit changes the response of a site.
func (w *world) edit(s *site, m mode, text string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.before == "" {
		s.before = s.text
	}
	s.change(m, text, now)
}

// comes checks the first invariant: a crawler that obeys robots.txt is never blocked.
func (w *world) comes(dice *rand.Rand, i *instance, s *site) {
	c := w.crawlers[dice.IntN(len(w.crawlers))]
	address, page := c.addresses[dice.IntN(len(c.addresses))], pages[dice.IntN(len(pages))]
	had := c.copies[s.host]
	asked, passed := w.visit(c, i, s, address, page)
	if known := c.copies[s.host]; known != nil && known != had {
		w.tell("%s reads %s at %s from %s, unseen: %t\n%s", c.token, s.host, i.id, address, known.unseen, indent(known.text))
	}
	if asked == "" {
		return
	}
	w.counts.pages++
	w.tell("%s requests %s%s at %s", c.token, s.host, page, i.id)
	if !passed && !w.cannotKnow(c, c.copies[s.host], i, s) {
		w.fail("%s obeys its copy of robots.txt, which is %s old, but is blocked from %s%s at %s", c.token, time.Since(c.copies[s.host].at), s.host, page, i.id)
	}
}

// passes checks the second invariant: a page that no robots.txt of the site has ever
// disallowed is not blocked, whatever fails.
func (w *world) passes(dice *rand.Rand, i *instance, s *site) {
	token, page := tokens[5+dice.IntN(3)], pages[dice.IntN(len(pages))]
	w.mu.Lock()
	for _, known := range s.past {
		if !allows(parsed(known.text), token, page) {
			w.mu.Unlock()
			return
		}
	}
	w.mu.Unlock()
	never := !allows(parsed(i.shows(s)), token, page)
	if never {
		return
	}
	w.counts.strangers++
	answer := i.ask(token+"/1.0", "192.0.2.7", s.host, page)
	w.settle()
	w.tell("%s, without a copy of robots.txt, requests %s%s at %s", token, s.host, page, i.id)
	if answer.Code == http.StatusForbidden {
		w.fail("%s is blocked from %s%s at %s, which no robots.txt has ever disallowed", token, s.host, page, i.id)
	}
}

func parsed(text string) *policy.Robots { return policy.Parse([]byte(text)) }
