package rate

import (
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Shedding says when a site is under load, and whose requests are then answered in its
// place.
type Shedding struct {
	Thresholds
	Classes judge.Classes
}

// Thresholds say when a site is under load: by the time to the first byte that 95 % of
// its answers do not take longer than, the 95th percentile.
type Thresholds struct {
	Above time.Duration // load begins where it is more than this,
	For   time.Duration // for so long,
	Below time.Duration // and ends where it is less than this,
	Calm  time.Duration // for so long
}

// DefaultThresholds are those where the owner has decided nothing.
var DefaultThresholds = Thresholds{Above: 2 * time.Second, For: 30 * time.Second, Below: time.Second, Calm: 2 * time.Minute}

// Sheddable returns the classes that may be shed: crawlers that choose by themselves
// what to fetch and when, but for those of search engines and of answers that link to
// pages. What acts for a person or for the owner of the site is never shed.
func Sheddable() judge.Classes {
	return judge.ClassesOf(uaident.AITraining, uaident.SEO, uaident.GenericCrawler, uaident.Archive, uaident.Research, uaident.Security)
}

// DefaultClasses returns the classes that are shed where the owner has decided nothing.
func DefaultClasses() judge.Classes {
	return judge.ClassesOf(uaident.AITraining, uaident.SEO, uaident.GenericCrawler, uaident.Archive, uaident.Research)
}

// minSamples is how many answers tell anything: of fewer than twenty a single slow one is
// already more than 5 %.
const minSamples = 20

// Load is how long a site takes to answer. Several goroutines may use it at once, and
// none waits for another. It keeps no times but how many answers were slower than the
// thresholds, by which it knows exactly on which side of them the percentile is: that is
// above two seconds where more than 5 % took longer.
type Load struct {
	Thresholds
	all, slow  window        // in span: of all answers, and of those that took longer than Above
	last, warm window        // in Calm: of all answers, and of those that took Below or longer
	began      atomic.Int64  // since when there is load, 0 while there is none
	asked      atomic.Uint64 // a second in the upper half, in the lower one how many requests had begun in it
}

// NewLoad returns the load of a site of which nothing was seen yet.
func NewLoad(by Thresholds) *Load { return &Load{Thresholds: by} }

// A site that answers often tells enough by some of its answers: by so many in a second,
// and by one of so many more.
const (
	sampledEach = 100
	sampledOf   = 16
)

// Samples reports whether the answer to a request that begins now is to be observed: of the
// first hundred in a second each, and then one of sixteen.
func (l *Load) Samples(now time.Duration) bool {
	second := uint64(now / time.Second)
	before := l.asked.Load()
	if before>>32 < second && l.asked.CompareAndSwap(before, second<<32+1) {
		return true
	}
	n := uint32(l.asked.Add(1)) // in the second that some other has begun, perhaps
	return n <= sampledEach || n%sampledOf == 0
}

// Seen is what was seen of a site.
type Seen struct {
	Answers int // how many in the time
	Slow    int // of these, how many were on the wrong side of the threshold
}

// high reports whether the percentile is on the wrong side of the threshold.
func (s Seen) high() bool { return s.Slow*20 > s.Answers }

// Observe counts an answer at now, by a clock that does not go back, whose first byte
// took so long. began says that the site is under load since now.
func (l *Load) Observe(now, took time.Duration) (began bool) {
	l.all.add(now, l.span())
	l.last.add(now, l.Calm)
	if took >= l.Below {
		l.warm.add(now, l.Calm)
	}
	if took <= l.Above {
		return false
	}
	l.slow.add(now, l.span())
	return l.began.Load() == 0 && l.begins(now) && l.began.CompareAndSwap(0, int64(max(now, 1)))
}

// span is how long is looked back for whether load begins: so long that from anywhere in
// the first third of it there is no less than For to the last part.
func (l *Load) span() time.Duration { return l.For * 5 / 3 }

// begins reports whether the percentile was above the threshold for long enough: in the
// span as a whole, in which there have to be answers enough, and in each third of it, so
// that no burst that is long over counts for longer than it was.
func (l *Load) begins(now time.Duration) bool {
	part := partOf(now, l.span())
	if whole := l.seen(part, parts); part < parts || whole.Answers < minSamples || !whole.high() {
		return false
	}
	return l.seen(part, 4).high() && l.seen(part-4, 3).high() && l.seen(part-7, 3).high()
}

// seen returns what was seen in a part of the span and those before it, so many together.
func (l *Load) seen(part, n uint64) Seen {
	return Seen{l.all.sumOf(part, n), l.slow.sumOf(part, n)}
}

// Recent returns what was seen in the time by which load begins, by its threshold.
func (l *Load) Recent(now time.Duration) Seen { return l.seen(partOf(now, l.span()), parts) }

// Under reports whether the site is under load, by what Observe and Settle have found.
func (l *Load) Under() bool { return l.began.Load() != 0 }

// Settle ends the load where the percentile was below the threshold for all of Calm, or
// too little was asked for to tell: no answers are no load. It is to be called again
// and again while there is load. ended says that it has ended just now, and lasted how
// long it was.
func (l *Load) Settle(now time.Duration) (lasted time.Duration, ended bool) {
	began := l.began.Load()
	if lasted = now - time.Duration(began); began == 0 || lasted < l.Calm {
		return lasted, false
	}
	part := partOf(now, l.Calm)
	if s := (Seen{l.last.sum(part), l.warm.sum(part)}); s.Answers >= minSamples && s.high() {
		return lasted, false
	}
	return lasted, l.began.CompareAndSwap(began, 0)
}

// Stop ends the load whatever was seen, and reports whether there was any.
func (l *Load) Stop() bool { return l.began.Swap(0) != 0 }
