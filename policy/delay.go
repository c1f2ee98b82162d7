package policy

import (
	"strconv"
	"strings"
	"time"
)

// Delay is what a Crawl-delay line asks of a crawler: so much time between two
// fetches. RFC 9309 does not define it; the registry of package uaident says who
// keeps it. The zero Delay asks for nothing.
type Delay struct {
	Every time.Duration // at most [MaxDelay]
	Line  int           // counted from 1; 0 in the zero Delay
}

// MaxDelay bounds what a Crawl-delay may ask for. Longer ones count as this.
const MaxDelay = 24 * time.Hour

// ParseDelay reads the value of a Crawl-delay: a number of seconds, perhaps with a
// fraction. ok is false for what is none, or is negative.
func ParseDelay(value string) (every time.Duration, ok bool) {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || !(seconds >= 0 && seconds < 1e6) {
		return 0, false
	}
	return min(time.Duration(seconds*float64(time.Second)), MaxDelay), true
}

// Delay returns what the group asks of the crawler by Crawl-delay. Of several lines,
// and where crawlers read the file in two ways, it is the least that any parser may
// read, which may be none: nobody is to be blamed for having read less. Lines that
// are no number count for nothing. It does not allocate.
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

// DelayOrGlobal returns Delay or, if the group has no Crawl-delay line with a number, what
// the * group asks for. "Crawl-delay: 0" is such a line. It does not allocate in most files.
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

// delay takes a line of an extension about a group, if it is a Crawl-delay as every
// parser reads it.
func (p *parser) delay(key, value string) {
	r := p.robots
	if every, ok := ParseDelay(value); ok && len(r.groups) > 0 && strings.EqualFold(key, "crawl-delay") {
		r.delays = append(r.delays, delayLine{Delay{Every: every, Line: int(p.line)}, int32(len(r.groups) - 1)})
	}
}

// delayOf returns what the groups of the agents, which are in the order of the file,
// ask for, and whether they have such a line.
func (r *Robots) delayOf(agents []int32) (least Delay, found bool) {
	for _, line := range r.delays {
		if (least.Line == 0 || line.Every < least.Every) && r.isUnder(line, agents) {
			least = line.Delay
		}
	}
	if least.Every == 0 {
		return Delay{}, least.Line > 0 // "Crawl-delay: 0" asks for nothing
	}
	return least, true
}

// isUnder reports whether a line is for one of the agents by all parsers: where an
// extension line parts the user-agent lines of a group it is for those on its side.
func (r *Robots) isUnder(line delayLine, agents []int32) bool {
	group := &r.groups[line.group]
	at := r.firstIn(line.group, agents)
	above := line.Line < int(r.agents[group.splitAt].line) // of the first agent if no extension line splits the group
	for ; at < len(agents) && r.agents[agents[at]].group == line.group; at++ {
		if (agents[at] < group.splitAt) == above {
			return true
		}
	}
	return false
}
