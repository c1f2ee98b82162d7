package replay

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// How fast crawlers asked, counted by what the server counts by. Whether a request is
// one too many depends on those before it, so workers only find out what is asked,
// and the one who goes through the chunks in order counts.

// asked is what is asked of the crawler of a request.
type asked struct {
	delay time.Duration // by the current version, 0 where the request does not count
	held  [2]int        // in chunk.delays: by those before it that the crawler may still follow
	host  [2]int        // in chunk.paths
}

// asks returns what is asked of the crawler of the record, which was just judged by
// the current version.
func (w *worker) asks(k *chunk, current *version, who *identity) (a asked) {
	r := &w.record
	if w.rate == nil || !r.HasTime || w.result.Group == nil || w.result.Verdict == judge.Exempt {
		return a
	}
	delay := w.result.Group.Delay().Every
	q := w.requestOf(who)
	if delay == 0 || !w.rate.Counts(q.Method, q.Path, current.robots) {
		return a
	}
	a.delay = delay
	a.host[0] = len(k.paths)
	k.paths = append(k.paths, bytes.ToLower(r.Host)...)
	a.host[1] = len(k.paths)
	q.Bound = nil // which is for the current version
	a.held[0] = len(k.delays)
	for _, v := range current.state.Held(timeOf(r.At), noTime, w.grace) {
		var scratch judge.Scratch
		var result judge.Result
		w.settings.Judge(&q, judge.Rules{Robots: v.Robots}, &scratch, &result)
		k.delays = append(k.delays, result.Group.Delay().Every)
	}
	a.held[1] = len(k.delays)
	return a
}

// passes reports whether the server lets the request pass that was just judged, so
// that it counts.
func (w *worker) passes() bool { return w.result.Action != judge.Blocked }

// pace counts a request of which something is asked, by the versions that its crawler
// may follow, which has last read the robots.txt at read.
func (s *sequence) pace(e *event, k *chunk, read time.Time) {
	if e.asked.delay == 0 {
		return
	}
	delay, held := e.asked.delay, k.delays[e.asked.held[0]:e.asked.held[1]]
	for i := range s.versions[e.version].state.Held(timeOf(e.at), read, s.grace) {
		delay = min(delay, held[i])
	}
	if delay == 0 {
		return
	}
	name := s.crawlers.key(e.crawler).name
	if name == otherName {
		name = ""
	}
	rules := s.rate.Rules(delay)
	who := rate.Spender{
		Site:  &policy.Key{Host: unsafeString(k.paths[e.asked.host[0]:e.asked.host[1]])},
		Token: name, Identity: verify.Claimed, Network: e.network,
	}
	c := s.tally.crawler(e.crawler)
	c.paced++
	c.delay = delay
	if s.budgets.Spend(timeOf(e.at), &who, &rules).Over {
		c.over++
	}
}

// RateReport is about how fast a crawler asked of which the robots.txt asks for a
// delay.
type RateReport struct {
	CrawlDelay float64 `json:"crawl_delay"` // seconds, what was asked last
	Habit      string  `json:"habit"`       // what its operator says it does with that: obeys, ignores or undocumented
	Requests   uint64  `json:"requests"`    // that count
	Over       uint64  `json:"over"`        // of these, how many were one too many
}

// rateOf returns the report of a crawler, nil where nothing was asked.
func (p *plan) rateOf(c *crawlerCount, token string) *RateReport {
	if c.paced == 0 {
		return nil
	}
	r := &RateReport{CrawlDelay: c.delay.Seconds(), Requests: c.paced, Over: c.over, Habit: "undocumented"}
	if known := p.registry.Lookup(token); known != nil {
		r.Habit = known.CrawlDelay.Habit.String()
	}
	return r
}

// rates writes the table of how fast crawlers asked, the fastest first.
func (t *tables) rates(r *Report) {
	var paced []*CrawlerReport
	for i := range r.Crawlers {
		if r.Crawlers[i].Rate != nil {
			paced = append(paced, &r.Crawlers[i])
		}
	}
	if len(paced) == 0 {
		return
	}
	slices.SortStableFunc(paced, func(a, b *CrawlerReport) int {
		return cmp.Or(cmp.Compare(b.Rate.Over, a.Rate.Over), cmp.Compare(b.Rate.Requests, a.Rate.Requests))
	})
	t.say("\n")
	t.table("CRAWLER", "CRAWL-DELAY", "READS IT", "COUNTED", "TOO MANY")
	for _, c := range paced[:min(len(paced), tableCrawlers)] {
		t.row(c.Token, c.Rate.CrawlDelay, habits[c.Rate.Habit], c.Rate.Requests, c.Rate.Over)
	}
	t.more(len(paced), tableCrawlers)
}

// habits puts what an operator says into words.
var habits = map[string]string{"obeys": "yes", "ignores": "no", "undocumented": "not said"}
