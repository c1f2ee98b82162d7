package simulate

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// liar is a crawler that has read a robots.txt, and does not keep to it.
type liar struct {
	token, address string
	from           *instance
	site           *site
	at             time.Time
}

// maxLiars is how many are remembered; those that have read long ago are forgotten.
const maxLiars = 20

// lies is the third invariant: who has read that a page is forbidden, or could have, for
// longer than a copy may last, gets 403, also while the file cannot be read; and a copy is
// never used for longer than a day while it can be read.
func (w *world) lies(dice *rand.Rand, i *instance, s *site, reads bool) {
	token, page := tokens[5+dice.IntN(3)], pages[dice.IntN(len(pages))]
	address := fmt.Sprintf("192.0.2.%d", 1+dice.IntN(2))
	if reads {
		address = fmt.Sprintf("198.51.100.%d", 1+dice.IntN(2))
		answer := i.ask(token+"/1.0", address, s.host, "/robots.txt")
		w.settle()
		w.tell("%s reads %s at %s from %s, and will not obey", token, s.host, i.id, address)
		if reads = answer.Code == http.StatusOK; answer.Header().Get("Location") != "" { // what it has read before is forgotten by that
			w.liars = slices.DeleteFunc(w.liars, func(l liar) bool { return l.token == token && l.site == s })
		}
		if reads && s.mode == same && time.Since(s.changed) > 10*time.Minute {
			w.liars = append(w.liars[max(0, len(w.liars)-maxLiars+1):], liar{token, address, i, s, time.Now()})
		}
	}
	long := 2*policy.MaxAge + max(time.Hour, w.changeGuard) // which begins when the guard has read the change
	short := time.Hour
	if w.setsClocks {
		long += maxSkew
	}
	if w.changeGuard > 0 {
		short = long
	}
	if w.gets(i, token, address, s.host, page) {
		return
	}
	text := i.shows(s)
	if w.owner != nil && i.published.shown[s] != text {
		return // it is another one since it was looked at last
	}
	w.mu.Lock()
	saw := i.saw[s]
	// Of a site that had no file, and fails now, nobody knows the text.
	known := saw != nil && saw.text == text && !saw.last.Before(s.settled) && time.Since(saw.first) > long && time.Since(s.settled) > long && s.mode.hasOneText() && !s.way.isLong()
	holds := known || reads && s.mode == same && time.Since(s.changed) > short && time.Since(s.settled) > short
	old := saw != nil && s.mode == same && time.Since(s.changed) > time.Hour && time.Since(saw.last) > policy.MaxAge && len(w.instances) == 1
	w.mu.Unlock()
	switch {
	case holds && !allows(parsed(text), token, page):
		w.fail("%s gets %s%s at %s, which has been forbidden since %s; it has read so: %t; %s %s", token, s.host, page, i.id, s.settled.Sub(w.start), reads, s.host, s.mode)
	case old:
		w.fail("%s uses a copy that it read %s ago", i.id, time.Since(saw.last))
	}
}

// gets lets a liar ask for a page a few times, since a copy that is due is read in the
// background, because of a request. It reports whether it is refused in the end.
func (w *world) gets(i *instance, token, address, host, page string) (refused bool) {
	w.tell("%s asks for %s%s at %s from %s", token, host, page, i.id, address)
	for range 3 {
		time.Sleep(20 * time.Second)
		answer := i.ask(token+"/1.0", address, host, page)
		w.settle()
		if answer.Code == http.StatusForbidden {
			w.counts.blocked++
			return true
		}
	}
	return false
}

// returns is the third one for who has read some time ago: what each text since then
// forbids is forbidden to it, at the instance that has seen it read, which knows that again
// after a crash. It goes for what was allowed in the day before.
func (w *world) returns(dice *rand.Rand) {
	if len(w.liars) == 0 || w.owner != nil {
		return
	}
	l, first := w.liars[dice.IntN(len(w.liars))], dice.IntN(len(pages))
	storage := l.from.storage
	forgotten := l.from.born.After(l.at) && (storage == nil || storage.cut.Load() || storage.last.After(l.at))
	if time.Since(l.at) > policy.MaxAge-time.Hour || forgotten || w.changeGuard > 0 {
		return
	}
	since, before := l.site.since(l.at), l.site.since(time.Now().Add(-policy.MaxAge))
	forbids := func(page string) bool {
		return !slices.ContainsFunc(since, func(p phase) bool { return !p.hasOneText() || allows(parsed(p.text), l.token, page) })
	}
	page := ""
	for n := range pages {
		next := pages[(first+n)%len(pages)]
		if wasAllowed := slices.ContainsFunc(before, func(p phase) bool { return allows(parsed(p.text), l.token, next) }); forbids(next) && (page == "" || wasAllowed) {
			page = next
		}
	}
	if page != "" && !w.gets(l.from, l.token, l.address, l.site.host, page) {
		w.fail("%s gets %s%s at %s, although it was forbidden when it read so %s ago, and in each of %d texts since", l.token, l.site.host, page, l.from.id, time.Since(l.at), len(since))
	}
}
