package simulate

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// rates are the settings of worlds that enforce rates.
var rates = rate.Settings{MaxCrawlDelay: 30 * time.Second, Burst: 10, Tolerance: 1.5, Window: 5 * time.Minute, Enforce: true, SlowSearch: true}

// delays are the values of Crawl-delay in seconds.
var delays = []string{"10", "20", "30"}

// greedy is a crawler that no file names and that never fetches robots.txt.
const greedy = "MJ12bot"

// newText returns a random robots.txt. If rates are enforced, every second file has a
// Crawl-delay for all crawlers.
func (w *world) newText(dice *rand.Rand) string {
	text := newText(dice)
	if w.holdsRates && len(text)%2 == 0 {
		text = strings.ReplaceAll(text, "User-agent: *\n", "User-agent: *\nCrawl-delay: "+delays[len(text)%len(delays)]+"\n")
	}
	return text
}

// delayOf returns the Crawl-delay of a file for a crawler, at most the longest that the
// guard enforces, or 0.
func delayOf(robots *policy.Robots, token string) time.Duration {
	if robots == nil {
		return 0
	}
	client := uaident.Identify(token + "/1.0")
	group, _, _ := (&judge.Request{Client: client}).GroupQuery(nil, client.WildcardApplies()).Group(robots)
	return judge.CrawlDelay(group, client.CrawlDelay()).Interval
}

// paces makes a crawler that obeys request many pages. It keeps to the Crawl-delay of
// its copy, and sends requests at any rate without a Crawl-delay. This checks the first
// invariant again: the crawler never gets 403 or 429, even if it changes the instance
// in between.
func (w *world) paces(dice *rand.Rand, i *instance, s *site) {
	c := w.crawlers[dice.IntN(len(w.crawlers))]
	first := dice.IntN(len(pages))
	if w.mayBeSlow(c.token) {
		return // see strolls
	}
	stays, told := 5+dice.IntN(60), time.Now()
	for n := range 50 {
		if n > 0 && n%stays == 0 {
			i = w.instances[(slices.Index(w.instances, i)+1)%len(w.instances)]
		}
		address, page := c.addresses[n%len(c.addresses)], pages[(first+n)%len(pages)]
		asked, passed := w.visit(c, i, s, address, page)
		known := c.copies[s.host]
		if known == nil {
			return
		}
		if asked != "" {
			w.counts.pages++
			if !passed && !w.cannotKnow(c, known, i, s) {
				w.tell("%s requests %s%s at %s, page %d, with a delay of %s", c.token, s.host, page, i.id, n+1, delayOf(known.robots, c.token))
				w.fail("%s obeys its copy of robots.txt, which is %s old, but is refused %s%s at %s", c.token, time.Since(known.at), s.host, page, i.id)
				return
			}
		}
		wait := w.every(c.token, known)
		if stays < 50 && time.Since(told) >= 15*time.Second {
			told = time.Now()
			w.share()
			wait -= time.Since(told)
		}
		time.Sleep(wait)
	}
}

// share makes the instances exchange their request counts, as they do every 15 seconds.
func (w *world) share() {
	for _, i := range w.instances {
		i.dirty.Store(true)
	}
	w.rest()
}

// rushes checks the third invariant for rates. It sends requests at three times the
// rate of a Crawl-delay that has applied for two days. In two windows it must get at
// most one page per delay, plus the burst.
func (w *world) rushes(i *instance, s *site) {
	long := 2*policy.MaxAge + max(time.Hour, w.changeGuard)
	w.mu.Lock()
	saw := i.saw[s]
	_, failed := s.answeredUntil() // such time does not count
	known := saw != nil && saw.text == s.text && time.Since(saw.first) > long && time.Since(s.settled) > long && s.mode == same && !failed
	w.mu.Unlock()
	delay := delayOf(parsed(s.text), greedy)
	if w.owner != nil || !known || delay == 0 || !allows(parsed(s.text), greedy, "/") {
		return
	}
	passed, requests := 0, int(3*rates.Window/delay)
	for range requests {
		if answer := i.ask(greedy+"/1.0", "192.0.2.99", s.host, "/"); answer.Code == http.StatusNoContent {
			passed++
		}
		time.Sleep(delay / 3)
	}
	w.settle()
	w.tell("%s sends %d requests for %s/ to %s at three times the allowed rate, and gets %d pages", greedy, requests, s.host, i.id, passed)
	w.counts.slowed += requests - passed
	if most := int(2*rates.Window/delay) + rates.Burst + 1; passed > most {
		w.fail("%s gets %d pages of %s in %s at %s, want at most %d with a Crawl-delay of %s", greedy, passed, s.host, rates.Window, i.id, most, delay)
	}
}
