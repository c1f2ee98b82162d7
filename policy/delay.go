package policy

import (
	"strconv"
	"strings"
	"time"
)

// Delay is the time between two fetches in a Crawl-delay line. RFC 9309 does not define
// Crawl-delay. The registry of package uaident lists the crawlers that obey. The zero value
// means no delay.
type Delay struct {
	Every time.Duration // at most [MaxDelay]
	Line  int           // counted from 1; 0 in the zero Delay
}

// MaxDelay is the maximum Delay. Longer delays are reduced.
const MaxDelay = 24 * time.Hour

// ParseDelay parses a Crawl-delay: a number of seconds, with or without a fraction. ok is
// false for a negative or invalid number.
func ParseDelay(value string) (every time.Duration, ok bool) {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || !(seconds >= 0 && seconds < 1e6) {
		return 0, false
	}
	return min(time.Duration(seconds*float64(time.Second)), MaxDelay), true
}

// Delay returns the Crawl-delay of the group. Of several lines or interpretations it returns
// the shortest delay that any parser reads, which can be none. It ignores lines without a
// valid number. It does not allocate.
func (s *Selection) Delay() Delay {
	if s == nil || s.forgiving.choice == nil || s.strict.choice == nil {
		return Delay{}
	}
	a, b := s.forgiving.choice.delay, s.strict.choice.delay
	if b.Every < a.Every {
		return b
	}
	return a
}

// DelayOrGlobal returns Delay, or the delay of the * group if the group has no valid
// Crawl-delay line. "Crawl-delay: 0" is valid. It does not allocate in most files.
func (s *Selection) DelayOrGlobal() Delay {
	if s == nil || s.forgiving.choice == nil || s.forgiving.choice.hasDelay || s.strict.choice != nil && s.strict.choice.hasDelay {
		return s.Delay()
	}
	return s.forgiving.choice.robots.Select(true).Delay()
}

// delayLine is a Crawl-delay line with a number in a group.
type delayLine struct {
	Delay
	group int32
}

// delay handles an extension line of a group, if every parser reads it as Crawl-delay.
func (p *parser) delay(key, value string) {
	r := p.robots
	if every, ok := ParseDelay(value); ok && len(r.groups) > 0 && strings.EqualFold(key, "crawl-delay") {
		r.delays = append(r.delays, delayLine{Delay{Every: every, Line: int(p.line)}, int32(len(r.groups) - 1)})
	}
}

// delayOf returns the delay of the groups of the agents, and whether they have one. agents
// must be in file order.
func (r *Robots) delayOf(agents []int32) (least Delay, found bool) {
	for _, line := range r.delays {
		if (least.Line == 0 || line.Every < least.Every) && r.isUnder(line, agents) {
			least = line.Delay
		}
	}
	if least.Every == 0 {
		return Delay{}, least.Line > 0 // "Crawl-delay: 0" is no delay
	}
	return least, true
}

// isUnder reports whether a line applies to one of the agents in all parsers. If extension
// lines split the user-agent lines of a group, the line applies to its own part.
func (r *Robots) isUnder(line delayLine, agents []int32) bool {
	group := &r.groups[line.group]
	at := r.firstIn(line.group, agents)
	above := line.Line < int(r.agents[group.splitAt].line) // the line of the first agent if no extension line splits the group
	for ; at < len(agents) && r.agents[agents[at]].group == line.group; at++ {
		if (agents[at] < group.splitAt) == above {
			return true
		}
	}
	return false
}
