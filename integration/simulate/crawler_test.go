package simulate

import (
	"net/http"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// crawler keeps to the protocol: it asks for a page only if the robots.txt that it has
// read allows it, and reads that again before its copy is older than keeps. RFC 9309 lets
// it keep one for a day, which is the lag of all but one.
type crawler struct {
	token     string
	addresses []string // of a verified one anywhere, else in one network
	keeps     time.Duration
	lag       time.Duration       // the longest that it may
	sight     sight               // where it reads the file
	patience  int                 // how many redirects it follows
	copies    map[string]*reading // by host
}

// reading is what a crawler has read. A nil robots is that there is no file.
type reading struct {
	robots *policy.Robots
	text   string
	at     time.Time
	from   *instance
	odd    bool   // the site served others another text
	seen   string // the text as the guard gets it
	unseen bool   // no guard saw it read
	apart  bool   // nor is it what its operator's crawlers are served, as a CDN keeps one text for all
	led    bool   // it was redirected there, so that nobody saw what it read
}

// sight is where a crawler reads the robots.txt.
type sight uint8

const (
	always    sight = iota // at an instance, which sees that
	never                  // where no guard sees it, as at a CDN
	sometimes              // now there and now here
)

// looksAway reports whether a crawler reads the file where no guard sees that, this time.
func (w *world) looksAway(c *crawler) bool {
	return c.sight == never || c.sight == sometimes && w.places.IntN(2) == 0
}

// isBeyond reports whether nobody could tell an instance of a text: the crawler has read
// it where no guard sees that, and it came and went between two looks of the instance, or
// in the last minute, or in the last five, between two tries to have a file that cannot be had.
func (c *crawler) isBeyond(known *reading, i *instance, s *site) bool {
	if known.text == i.shows(s) && s.mode == same {
		const retries = 6 * time.Minute
		cannotBeHad := func(p phase) bool { return !p.mode.isAnswered() }
		return time.Since(s.changed) < 2*time.Minute ||
			time.Since(s.changed) < retries && slices.ContainsFunc(s.since(time.Now().Add(-retries)), cannotBeHad)
	}
	if l, got := i.got[s][known.seen]; got && !parsed(known.text).HasGroups() && l.lasted() < time.Hour {
		return true // a file without rules counts for others only if it stays for an hour
	}
	since, got := i.over(s, known.seen)
	return known.odd || !got || !since.IsZero() && known.at.After(since) && time.Since(since) > c.lag
}

// mayBeLost reports whether an instance cannot know of a reading: it was lost with the
// process that keeps nothing, the storage did not bring it over, or it was of a text that
// not everybody is served, which each process knows by itself.
func (known *reading) mayBeLost(i *instance) bool {
	if i.storage == nil || known.odd {
		return i != known.from || i.born.After(known.at)
	}
	lost := func(l *link) bool { return l.cut.Load() || l.last.After(known.at) }
	return (i != known.from || i.born.After(known.at)) && (lost(i.storage) || lost(known.from.storage))
}

// cannotKnow reports whether no instance can know of a reading what it takes to let its
// crawler in. By a clock that was set, a copy may be older than it is.
func (w *world) cannotKnow(c *crawler, known *reading, i *instance, s *site) bool {
	if w.setsClocks && time.Since(w.set) < c.lag && time.Since(known.at) > c.lag-maxSkew {
		return true
	}
	return known.apart || (known.unseen || known.led) && c.isBeyond(known, i, s) || known.mayBeLost(i) && (known.odd || s.changed.After(known.at.Add(-c.lag)))
}

var pages = []string{"/", "/a/x", "/a/y?q=1", "/b/", "/b/z", "/c", "/d//e", "/%61/x"}

// allows reports whether a text allows a crawler a page.
func allows(robots *policy.Robots, token, page string) bool {
	if robots == nil {
		return true
	}
	var target policy.Target
	target.Set(page, false)
	client := uaident.Identify(token + "/1.0")
	return (&judge.Request{Client: client}).Subject(nil, client.Wildcard()).Verdict(robots, &target).Allowed
}

// read lets a crawler read the robots.txt, where no guard sees that if it is unseen.
func (w *world) read(c *crawler, i *instance, s *site, address string, unseen bool) (status int, text string, hops int) {
	if unseen && w.owner != nil {
		page := i.page(s.host)
		return page.Code, page.Body.String(), 0
	}
	return w.follows(c, i, s, address, unseen)
}

// isOdd reports whether a site serves different texts.
func (w *world) isOdd(s *site) bool {
	return s.mode == turns || s.mode == byAgent || w.owner != nil && w.differAt(s, w.instances)
}

// visit lets a crawler read what it has to read, and ask for a page if it may. It returns
// the page, "" if it asked for none, and whether it was let in.
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
			return "", false // it knows nothing, so it asks for nothing
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
