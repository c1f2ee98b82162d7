package replay

import (
	"net/netip"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/rate"
)

// rateEvent is a request that counts against the rate limits of its client. [orderedResults]
// processes the events in the order of the log, because workers finish chunks in any order.
type rateEvent struct {
	crawler int32
	at      int64
	network netip.Prefix
	limits  rateLimits // limits has the limits that apply to the crawler.
}

// orderedResults collects the results of workers that depend on the order of the log: rates, and
// the numbers of malformed lines.
type orderedResults struct {
	*replayPlan
	tally      *tally
	budgets    *rate.Budgets
	examples   []MalformedLine
	logReports map[*logInput]*LogReport
}

func newOrderedResults(p *replayPlan) *orderedResults {
	return &orderedResults{replayPlan: p, tally: newTally(), budgets: rate.NewBudgets(fromUnixNano(0)), logReports: make(map[*logInput]*LogReport)}
}

// addChunk adds the results of a finished chunk.
func (s *orderedResults) addChunk(k *chunk) {
	log := s.logReports[k.input]
	for _, e := range k.examples {
		if len(s.examples) < maxExamples {
			s.examples = append(s.examples, MalformedLine{
				Log: log.Name, Line: log.Lines + e.line, Problem: e.reason, Text: strings.ToValidUTF8(e.text, "\ufffd"),
			})
		}
	}
	log.Lines += k.lines
	log.Malformed += k.malformed
	for i := range k.events {
		s.countRate(&k.events[i], k)
	}
}

// lookUpKey returns the name and class of the crawler with a number.
func (c *crawlerNumbers) lookUpKey(id int32) crawlerKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.keys[id]
}

// fromUnixNano converts Unix nanoseconds to a time in UTC.
func fromUnixNano(at int64) time.Time { return time.Unix(0, at).UTC() }
