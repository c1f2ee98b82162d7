package simulate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// The owner's limits: for a crawler, for a class, and for a search engine.
var ownersLimits = []rate.Limit{
	newLimit("GPTBot", 30, time.Minute, 5, 2),
	newLimit("seo", 20, time.Minute, 4, 0),
	newLimit(engine, 12, time.Hour, 3, 0),
}

// engine is the crawler of a search engine.
const engine = "Googlebot"

func newLimit(client string, requests int, per time.Duration, burst, concurrent int) rate.Limit {
	clients, err := judge.ParseSelector(uaident.Default(), []string{client}, false)
	if err != nil {
		panic(err) // the registry contains all clients
	}
	return rate.Limit{
		Client: client, Clients: clients, Requests: requests, Per: per,
		Rule: rate.Rule{Interval: per / time.Duration(requests), Burst: burst}, Concurrent: concurrent,
	}
}

// rateSettings returns the rate settings of all guards of a world.
func (w *world) rateSettings() *rate.Settings {
	switch {
	case !w.holdsRates:
		return nil
	case !w.hasLimits:
		return &rates
	}
	s := rates
	s.Limits = ownersLimits
	return &s
}

// limitOf returns the limit of a crawler, nil for none.
func (w *world) limitOf(token string) *rate.Limit {
	if s := w.rateSettings(); s != nil {
		return s.FirstLimitForClient(uaident.Identify(token + "/1.0"))
	}
	return nil
}

// every returns the interval between two pages of a crawler that obeys all limits.
// known is its copy of robots.txt, nil for none.
func (w *world) every(token string, known *reading) time.Duration {
	least := 200 * time.Millisecond
	if known != nil {
		least = max(least, delayOf(known.robots, token))
	}
	if l := w.limitOf(token); l != nil {
		least = max(least, l.Rule.Interval)
	}
	return least
}

// mayBeSlow reports whether a crawler that obeys robots.txt may get 429. This applies
// only to the crawler of the search engine, which does not know its limit and sends
// requests at any rate. For this crawler pace checks two invariants instead.
func (w *world) mayBeSlow(token string) bool { return w.hasLimits && token == engine }

// pace records the requests of a search engine at a site of an instance, and those that
// got 429.
type pace struct {
	born          time.Time // start of the instance, which has no older data
	asked, slowed []time.Time
	began         time.Time // when it first got 429 since the last pause
}

// paceOf returns the pace of the search engine.
func (w *world) paceOf(i *instance, s *site) *pace {
	key := i.id + s.host
	if w.enginePaces[key] == nil || w.enginePaces[key].born != i.born {
		w.enginePaces[key] = &pace{born: i.born}
	}
	return w.enginePaces[key]
}

// asks records a request of the search engine and checks two invariants. At most one in
// twenty of its requests of a day gets 429. After a day of 429 without a pause none
// does. The window of a day varies between nine tenths and the whole of it.
func (p *pace) asks(w *world, i *instance, slowed bool) {
	now := time.Now()
	if n := len(p.asked); n > 0 && now.Sub(p.asked[n-1]) > 10*time.Minute {
		p.began = time.Time{}
	}
	p.asked = append(p.asked, now)
	if !slowed {
		return
	}
	if n := len(p.slowed); n > 0 && now.Sub(p.slowed[n-1]) > time.Hour {
		p.began = time.Time{} // an hour without 429 is a pause as well
	}
	w.counts.slowed++
	p.slowed = append(p.slowed, now)
	since := func(all []time.Time, d time.Duration) (n int) {
		for _, at := range all {
			if now.Sub(at) < d {
				n++
			}
		}
		return n
	}
	if asked, slowed := since(p.asked, 24*time.Hour), since(p.slowed, 24*time.Hour*9/10); slowed*20 > asked {
		w.fail("%s gets 429 for %d requests in a day at %s, of %d requests", engine, slowed, i.id, asked)
	}
	if p.began.IsZero() {
		p.began = now
	}
	if lasts := now.Sub(p.began); lasts > 24*time.Hour+time.Minute {
		w.fail("%s gets 429 at %s for %s without a pause", engine, i.id, lasts)
	}
}

// strolls makes the search engine request a page. A series of these events lasts more
// than a day, at twice the allowed rate.
func (w *world) strolls(dice *rand.Rand) {
	i, s := w.instances[0], w.sites[0]
	c := w.crawlers[0]
	page := pages[dice.IntN(len(pages))]
	if asked, passed := w.visit(c, i, s, c.addresses[0], page); asked != "" {
		w.counts.pages++
		if !passed && !w.cannotKnow(c, c.copies[s.host], i, s) {
			w.fail("%s obeys its copy of robots.txt, but is blocked from %s%s at %s", c.token, s.host, page, i.id)
		}
	}
}

// hurries makes a crawler send requests at ten times its limit. It must not get more
// pages than the limit allows. After waiting for Retry-After it must get the next page.
func (w *world) hurries(dice *rand.Rand, i *instance, s *site) {
	c := w.crawlers[[]int{2, 5, 6}[dice.IntN(3)]]
	limit, page := w.limitOf(c.token), w.open(s, c.token)
	if limit == nil || page == "" {
		return
	}
	time.Sleep(2 * time.Minute)
	passed, began := 0, time.Now()
	for range 60 {
		answer := i.ask(c.token+"/1.0", c.addresses[0], s.host, page)
		switch answer.Code {
		case http.StatusNoContent:
			passed++
		case http.StatusTooManyRequests:
			w.counts.slowed++
			if dice.IntN(8) > 0 {
				break
			}
			wait, err := toWait(answer)
			time.Sleep(time.Duration(wait) * time.Second)
			if again := i.ask(c.token+"/1.0", c.addresses[0], s.host, page); err != nil || again.Code != http.StatusNoContent {
				w.fail("%s gets %d at %s after waiting for the %d seconds in the response", c.token, again.Code, i.id, wait)
				return
			}
			passed++
		}
		time.Sleep(limit.Rule.Interval / 10)
	}
	w.settle()
	if most := int(time.Since(began)/limit.Rule.Interval) + limit.Rule.Burst + 1; passed > most {
		w.fail("%s gets %d pages in %s at %s, but its limit %s allows %d", c.token, passed, time.Since(began), i.id, limit, most)
	}
}

// crowds makes a crawler request several slow pages concurrently. Only the allowed
// number may pass. If clients are not verified, one network may use half of that
// number. All places must be free afterwards.
func (w *world) crowds(dice *rand.Rand, i *instance, s *site) {
	c, page := w.crawlers[2], w.open(s, "GPTBot")
	if page == "" {
		return
	}
	places := w.limitOf(c.token).Concurrent
	if w.verifier == nil {
		places = (places + 1) / 2
	}
	time.Sleep(2 * time.Minute)
	n := 1 + dice.IntN(4)
	var passed atomic.Int32
	var all sync.WaitGroup
	w.takes.Store(int64(3 * time.Second))
	for range n {
		i.asked++
		all.Go(func() {
			if i.send(c.token+"/1.0", c.addresses[0], s.host, page).Code == http.StatusNoContent {
				passed.Add(1)
			}
		})
	}
	all.Wait()
	w.takes.Store(0)
	w.counts.slowed += n - int(passed.Load())
	w.tell("%s sends %d concurrent requests to %s, and gets %d pages", c.token, n, i.id, passed.Load())
	if want := min(n, places); int(passed.Load()) != want {
		w.fail("%s requests %d pages concurrently at %s and gets %d, want %d at most", c.token, n, i.id, passed.Load(), places)
	}
	if again := i.ask(c.token+"/1.0", c.addresses[0], s.host, page); again.Code != http.StatusNoContent {
		w.fail("%s requests a page at %s after all concurrent requests and gets %d", c.token, i.id, again.Code)
	}
}

// open returns a page that no robots.txt of the site has ever disallowed for a crawler,
// or "". It also returns "" if one of the files has a Crawl-delay for the crawler.
func (w *world) open(s *site, token string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*policy.Robots
	for _, known := range append([]served{{text: s.shown()}}, s.past...) {
		if all = append(all, parsed(known.text)); delayOf(all[len(all)-1], token) > 0 {
			return ""
		}
	}
	for _, page := range pages {
		if !slices.ContainsFunc(all, func(robots *policy.Robots) bool { return !allows(robots, token, page) }) {
			return page
		}
	}
	return ""
}

// toWait returns the delay in the RateLimit field of a response, and checks
// Retry-After. Retry-After is up to a tenth longer by chance, which would make runs of
// a seed differ.
func toWait(answer *httptest.ResponseRecorder) (seconds int, err error) {
	header := answer.Header()
	_, least, ok := strings.Cut(header.Get("RateLimit"), ";t=")
	if !ok {
		return 0, errors.New("the response has no RateLimit field")
	}
	asked, err := strconv.Atoi(header.Get("Retry-After"))
	n, wrong := strconv.Atoi(least)
	if err = errors.Join(err, wrong); err == nil && (asked < n || asked > n+n/10) {
		err = fmt.Errorf("Retry-After is %d, but RateLimit has %d seconds", asked, n)
	}
	return n, err
}
