package simulate

import (
	"net/http"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// crawler obeys robots.txt: it requests a page only if its copy of robots.txt allows
// the page, and it refetches robots.txt before the copy is older than keeps. RFC 9309
// allows a copy of up to a day, which is the lag of all crawlers but one.
type crawler struct {
	token     string
	addresses []string // anywhere for a verified crawler, otherwise in one network
	keeps     time.Duration
	lag       time.Duration       // maximum age of a copy that the guard accepts
	sight     sight               // where it fetches robots.txt
	patience  int                 // maximum number of redirects that it follows
	copies    map[string]*reading // by host
}

// reading is a crawler's copy of robots.txt. A nil robots stands for no file.
type reading struct {
	robots *policy.Robots
	text   string
	at     time.Time
	from   *instance
	odd    bool   // the site served different files to others
	seen   string // the file as the guard would fetch it
	unseen bool   // no guard saw the fetch
	apart  bool   // the instance served a different file, as when a CDN caches one file for all
	led    bool   // the crawler followed a redirect, so no guard saw the file
}

// sight is where a crawler fetches robots.txt.
type sight uint8

const (
	always    sight = iota // at an instance, which sees the fetch
	never                  // where no guard sees the fetch, such as at a CDN
	sometimes              // varies
)

// looksAway reports whether no guard sees the next fetch of a crawler.
func (w *world) looksAway(c *crawler) bool {
	return c.sight == never || c.sight == sometimes && w.places.IntN(2) == 0
}

// isBeyond reports whether an instance had no way to see a robots.txt that a crawler
// fetched unseen. The file came and went between two fetches of the instance, or
// changed in the last two minutes. While the file is unavailable, the interval between
// fetches is five minutes.
func (c *crawler) isBeyond(known *reading, i *instance, s *site) bool {
	if known.text == i.shows(s) && s.mode == same {
		const retries = 6 * time.Minute
		cannotBeHad := func(p phase) bool { return !p.mode.isAnswered() }
		return time.Since(s.changed) < 2*time.Minute ||
			time.Since(s.changed) < retries && slices.ContainsFunc(s.since(time.Now().Add(-retries)), cannotBeHad)
	}
	if l, got := i.got[s][known.seen]; got && !parsed(known.text).HasGroups() && l.lasted() < time.Hour {
		return true // a file without rules counts for other clients only if it stays for an hour
	}
	since, got := i.over(s, known.seen)
	return known.odd || !got || !since.IsZero() && known.at.After(since) && time.Since(since) > c.lag
}

// mayBeLost reports whether an instance may not know of a fetch. A process without
// storage loses it at its end, the storage may not have transferred it, and fetches of
// differing files stay in the process that saw them.
func (known *reading) mayBeLost(i *instance) bool {
	if i.storage == nil || known.odd {
		return i != known.from || i.born.After(known.at)
	}
	lost := func(l *link) bool { return l.cut.Load() || l.last.After(known.at) }
	return (i != known.from || i.born.After(known.at)) && (lost(i.storage) || lost(known.from.storage))
}

// cannotKnow reports whether no instance may have the data that proves that the crawler
// obeys. After a clock was set, a copy may look older than it is.
func (w *world) cannotKnow(c *crawler, known *reading, i *instance, s *site) bool {
	if w.setsClocks && time.Since(w.set) < c.lag && time.Since(known.at) > c.lag-maxSkew {
		return true
	}
	return known.apart || (known.unseen || known.led) && c.isBeyond(known, i, s) || known.mayBeLost(i) && (known.odd || s.changed.After(known.at.Add(-c.lag)))
}

var pages = []string{"/", "/a/x", "/a/y?q=1", "/b/", "/b/z", "/c", "/d//e", "/%61/x"}

// allows reports whether robots allows a crawler to fetch a page.
func allows(robots *policy.Robots, token, page string) bool {
	if robots == nil {
		return true
	}
	var target policy.Target
	target.Set(page, false)
	client := uaident.Identify(token + "/1.0")
	return (&judge.Request{Client: client}).GroupQuery(nil, client.WildcardApplies()).Verdict(robots, &target).Allowed
}

// read makes a crawler fetch robots.txt. If unseen, no guard sees the fetch.
func (w *world) read(c *crawler, i *instance, s *site, address string, unseen bool) (status int, text string, hops int) {
	if unseen && w.owner != nil {
		page := i.page(s.host)
		return page.Code, page.Body.String(), 0
	}
	return w.follows(c, i, s, address, unseen)
}

// isOdd reports whether a site serves different files to different clients.
func (w *world) isOdd(s *site) bool {
	return s.mode == turns || s.mode == byAgent || w.owner != nil && w.differAt(s, w.instances)
}

// visit makes a crawler fetch robots.txt if it is due, and then request a page if the
// file allows it. It returns the page, or "" without a request, and whether the page
// was served.
func (w *world) visit(c *crawler, i *instance, s *site, address, page string) (asked string, passed bool) {
	known := c.copies[s.host]
	if known == nil || time.Since(known.at) >= c.keeps {
		unseen := w.looksAway(c)
		code, text, hops := w.read(c, i, s, address, unseen)
		switch {
		case code == http.StatusOK:
			known = &reading{robots: policy.Parse([]byte(text)), text: text, at: time.Now(), from: i, odd: w.isOdd(s), seen: text, unseen: unseen, led: hops > 0}
			known.apart = unseen && w.owner != nil && i.text(s.host) != text
			if hops > mostHops {
				known.seen = ""
			}
		case code >= 300 && code < 500 && code != http.StatusTooManyRequests:
			known = &reading{at: time.Now(), from: i, odd: w.isOdd(s), unseen: unseen, led: hops > 0}
		case known == nil || time.Since(known.at) >= c.lag:
			return "", false // it has no valid copy, so it requests nothing
		}
		c.copies[s.host] = known
	}
	if !allows(known.robots, c.token, page) {
		return "", false
	}
	answer := i.ask(c.token+"/1.0", address, s.host, page)
	w.settle()
	return page, answer.Code == http.StatusNoContent || answer.Code == http.StatusTooManyRequests && w.mayBeSlow(c.token)
}
