package replay

import (
	"net/netip"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// event is something whose meaning depends on what came before it in the log.
// Workers see chunks in any order, so they leave events to the one who goes
// through the chunks in order. With a single version of the robots.txt there are
// none but for how fast crawlers ask.
type event struct {
	kind    eventKind
	crawler int32
	at      int64
	network netip.Prefix
	status  int
	version int32 // that was current

	grace time.Duration // of the crawler, for what is looked at later

	asked asked // of the crawler, if it is looked at how fast that asks

	// Of a request that a version forbids which the crawler need not know yet.
	spared bool
	passes bool   // the server lets it pass nevertheless
	allows uint16 // see worker.heldThatAllow
	rule   policy.Rule
	group  string
	path   [2]int // in chunk.paths
}

type eventKind uint8

const (
	readEvent  eventKind = iota // a crawler read the robots.txt
	heldEvent                   // a crawler broke the current one, but may hold an older one
	pacedEvent                  // a request of a crawler that counts for how fast it asks
)

// maxReaders bounds how many crawlers' readings are remembered.
const maxReaders = 100000

// sequence goes through what workers found, in the order of the log.
type sequence struct {
	*plan
	tally    *tally
	readers  *ledger.Readers
	budgets  *rate.Budgets
	examples []Example
	lines    map[*input]*LogReport
}

func newSequence(p *plan) *sequence {
	return &sequence{plan: p, tally: newTally(), budgets: rate.NewBudgets(timeOf(0)), readers: ledger.NewReadersInOrder(maxReaders/ledger.ReaderParts, 1), lines: make(map[*input]*LogReport)}
}

// take takes in a chunk that a worker is through with.
func (s *sequence) take(k *chunk) {
	log := s.lines[k.in]
	for _, e := range k.examples {
		if len(s.examples) < maxExamples {
			s.examples = append(s.examples, Example{
				Log: log.Name, Line: log.Lines + e.line, Problem: e.why, Text: strings.ToValidUTF8(e.text, "\ufffd"),
			})
		}
	}
	log.Lines += k.lines
	log.Malformed += k.malformed
	for i := range k.events {
		s.event(&k.events[i], k)
	}
}

func (s *sequence) event(e *event, k *chunk) {
	reader := ledger.Reader{Crawler: strings.ToLower(s.crawlers.key(e.crawler).name), Network: e.network}
	if host := s.versions[e.version].host; host != "" {
		reader.Crawler += " " + host // who read one host's need not know another's
	}
	if e.kind == readEvent {
		s.readers.Read(reader, ledger.Reading{At: timeOf(e.at), Status: e.status})
		return
	}
	last, _ := s.readers.Last(reader)
	switch e.kind {
	case pacedEvent:
		s.pace(e, k, last.At)
		return
	}
	for i := range s.versions[e.version].state.Held(timeOf(e.at), noTime, e.grace) {
		if e.allows&(1<<i) != 0 {
			s.tally.crawler(e.crawler).stale++
			s.pace(e, k, last.At)
			return
		}
	}
	if e.passes {
		s.pace(e, k, last.At)
	}
	if e.spared {
		s.tally.crawler(e.crawler).spared++
	}
	s.tally.outside(e.crawler, e.version, e.rule, e.group, k.paths[e.path[0]:e.path[1]], e.at, true)
}

// key returns the crawler with a number.
func (c *crawlers) key(id int32) crawlerKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.keys[id]
}

var noTime time.Time

// timeOf returns the time of a Unix time in nanoseconds.
func timeOf(at int64) time.Time { return time.Unix(0, at).UTC() }
