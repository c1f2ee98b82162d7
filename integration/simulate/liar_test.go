package simulate

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// lies checks the third invariant: a page is blocked if robots.txt has disallowed it
// for longer than any copy may last, even while the file is unavailable. An available
// file is refetched before a copy is older than a day.
func (w *world) lies(dice *rand.Rand, i *instance, s *site, reads bool) {
	token, page := tokens[5+dice.IntN(3)], pages[dice.IntN(len(pages))]
	address := fmt.Sprintf("192.0.2.%d", 1+dice.IntN(2))
	if reads {
		i.ask(token+"/1.0", address, s.host, "/robots.txt")
		w.settle()
		w.tell("%s reads %s at %s from %s, and will not obey", token, s.host, i.id, address)
	}
	long := 2*policy.MaxAge + max(time.Hour, w.changeGuard) // counts from the guard's first fetch of the change
	if w.setsClocks {
		long += maxSkew
	}
	if w.gets(i, token, address, s.host, page) {
		return
	}
	text := i.shows(s)
	if w.owner != nil && i.published.shown[s] != text {
		return // the file has changed since the last check
	}
	w.mu.Lock()
	saw := i.saw[s]
	// Time in which the file is unavailable does not count. If a site had no file and
	// fails now, its rules are unknown.
	end, failed := s.answeredUntil()
	known := saw != nil && saw.text == text && !saw.last.Before(s.settled) && end.Sub(saw.first) > long && end.Sub(s.settled) > long && s.mode.hasOneText() && !s.way.isLong() && !failed
	if led, ok := s.led[token+"/1.0"]; ok && !led.Before(end) {
		known = false // the file was unavailable when the site redirected this crawler, which may have got other rules
	}
	old := saw != nil && s.mode == same && time.Since(s.changed) > time.Hour && time.Since(saw.last) > policy.MaxAge && len(w.instances) == 1
	w.mu.Unlock()
	switch {
	case known && !allows(parsed(text), token, page):
		w.fail("%s gets %s%s at %s, although it has been disallowed since %s; %s %s", token, s.host, page, i.id, s.settled.Sub(w.start), s.host, s.mode)
	case old:
		w.fail("%s uses a copy that is %s old", i.id, time.Since(saw.last))
	}
}

// gets makes a crawler that does not obey request a page several times, because a due
// copy is refetched in the background of a request. It reports whether the crawler is
// blocked in the end.
func (w *world) gets(i *instance, token, address, host, page string) (refused bool) {
	w.tell("%s requests %s%s at %s from %s", token, host, page, i.id, address)
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
