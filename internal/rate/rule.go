package rate

import "time"

// Rule says how fast a crawler may ask: a mean and never a least gap. The zero Rule
// asks for nothing.
type Rule struct {
	// Interval is how much time there is for each request in the mean.
	Interval time.Duration
	// Burst is how many may come at once; less than 1 counts as 1.
	Burst int
}

// Rules are what one crawler is held to. The stricter of both holds.
type Rules struct {
	// File is what the robots.txt asks for by Crawl-delay. It is acted upon while the
	// crawler asks more than Over times as fast, in the mean of the last Window: who
	// keeps a delay as a window in which one fetch falls anywhere, as Bing does, may
	// fetch two pages at once.
	File   Rule
	Over   float64
	Window time.Duration
	// Owner is what the owner of the site has set. It is acted upon at once.
	Owner Rule
	// Concurrent is how many requests may be under way at once by the owner, 0 for as
	// many as there are.
	Concurrent int
	// Advisory says that the crawler's operator does not read what the file asks for, so
	// that it is counted and never acted upon.
	Advisory bool
	// Mode is what is done about those that are one too many.
	Mode Mode
}

// Mode is what is done about requests that are one too many.
type Mode uint8

const (
	Observe Mode = iota // they are counted
	Enforce             // they are slowed
	Spare               // few of them are slowed, as those of a search engine; see [Budgets.Spend]
)

// Most returns how many requests a window may have before what the file asks for is
// acted upon. It is no less than a burst: an interval longer than the window leaves
// room for none.
func (r *Rules) Most() int { return r.mostIn(r.Window) }

// mostIn is Most for another time than a window.
func (r *Rules) mostIn(span time.Duration) int {
	return int(max(float64(r.File.Burst), r.Over*float64(span)/float64(r.File.Interval)))
}

// Pace is how fast somebody is who asks again.
type Pace struct {
	// Seen is how many requests there were in the window, this one included; 0 if it
	// comes no sooner than the file asks.
	Seen int
	// Wait is how long it is until another one is none too many, if nobody else asks
	// before; 0 if not Over.
	Wait time.Duration
	// Place is where this one has taken a place, which is to be given back; nil if it
	// has taken none.
	Place *Places
	// Over says that this request is one too many.
	Over bool
	// Limited says that it is Over by what the owner has set rather than by the file.
	Limited bool
	// Full says that it is Over, and Limited, since too many are under way.
	Full bool
	// Slowed says that this one is to be answered in place of the site.
	Slowed bool
	// Ended says that a search engine was slowed for so long that it is slowed no more,
	// beginning with this request.
	Ended bool
}

// stops reports whether a request is one too many by what its operator reads, or by what
// the owner has set.
func (p *Pace) stops(rules *Rules) bool { return p.Over && (p.Limited || !rules.Advisory) }

// Quota returns a mean as a number of requests in a window of whole seconds, the
// shortest that is exact, or about one in the interval where none is.
func Quota(interval time.Duration) (requests int, window time.Duration) {
	const most = 1000
	for n := 1; n <= most; n++ {
		if window = time.Duration(n) * interval; window%time.Second == 0 {
			return n, window
		}
	}
	if interval < time.Second {
		return int(time.Second / interval), time.Second
	}
	return 1, interval.Truncate(time.Second) + time.Second
}
