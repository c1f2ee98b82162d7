package policy

import (
	"strconv"
	"strings"
	"time"
)

// Delay is the minimum time between two requests that a Crawl-delay line requests. RFC 9309 does
// not define Crawl-delay. The registry of package uaident lists the crawlers that obey it. The zero
// Delay means no delay.
type Delay struct {
	Interval time.Duration // Interval is at most [MaxDelay].
	Line     int           // Line is counted from 1. It is 0 in the zero Delay.
}

// MaxDelay is the maximum Delay. Longer delays are reduced.
const MaxDelay = 24 * time.Hour

// ParseDelay parses the value of a Crawl-delay line: a number of seconds, with or without a
// fraction. The result is at most [MaxDelay]. ok is false for an invalid or negative number, and
// for a million seconds or more.
func ParseDelay(value string) (interval time.Duration, ok bool) {
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || !(seconds >= 0 && seconds < 1e6) {
		return 0, false
	}
	return min(time.Duration(seconds*float64(time.Second)), MaxDelay), true
}

// Delay returns the Crawl-delay of the group. If the group has several lines, or if parsers
// disagree about the group, the result is the shortest delay that any parser finds. Lines without a
// valid number are ignored. Delay does not allocate.
func (s *SelectedGroup) Delay() Delay {
	if s == nil || s.lenient.compiledGroup == nil || s.strict.compiledGroup == nil {
		return Delay{}
	}
	a, b := s.lenient.compiledGroup.delay, s.strict.compiledGroup.delay
	if b.Interval < a.Interval {
		return b
	}
	return a
}

// DelayOrWildcardDelay returns [SelectedGroup.Delay] if the group has a valid Crawl-delay line,
// also "Crawl-delay: 0". Otherwise the result is the delay of the * group. DelayOrWildcardDelay
// does not allocate in most files.
func (s *SelectedGroup) DelayOrWildcardDelay() Delay {
	if s == nil || s.lenient.compiledGroup == nil || s.lenient.compiledGroup.hasDelay || s.strict.compiledGroup != nil && s.strict.compiledGroup.hasDelay {
		return s.Delay()
	}
	return s.lenient.compiledGroup.robots.Select(true).Delay()
}

// delayLine is a Crawl-delay line with a valid number, and the index of its group in Robots.groups.
type delayLine struct {
	Delay
	group int32
}

// addDelay stores an extension line of a group if its key is crawl-delay and its number is valid.
// The spelling crawldelay is ignored, because not every parser knows it.
func (p *parser) addDelay(key, value string) {
	r := p.robots
	if interval, ok := ParseDelay(value); ok && len(r.groups) > 0 && strings.EqualFold(key, "crawl-delay") {
		r.delays = append(r.delays, delayLine{Delay{Interval: interval, Line: int(p.lineNumber)}, int32(len(r.groups) - 1)})
	}
}

// crawlDelay returns the shortest delay of the groups of some user-agent lines, and whether these
// groups have a valid Crawl-delay line. agents must be in file order.
func (r *Robots) crawlDelay(agents []int32) (least Delay, found bool) {
	for _, line := range r.delays {
		if (least.Line == 0 || line.Interval < least.Interval) && r.delayAppliesTo(line, agents) {
			least = line.Delay
		}
	}
	if least.Interval == 0 {
		return Delay{}, least.Line > 0 // "Crawl-delay: 0" means no delay.
	}
	return least, true
}

// delayAppliesTo reports whether all parsers apply a Crawl-delay line to one of the agents. If
// extension lines split the user-agent lines of the group, the line applies only to the user-agent
// lines on its side of the last split.
func (r *Robots) delayAppliesTo(line delayLine, agents []int32) bool {
	group := &r.groups[line.group]
	i := r.firstAgentInGroup(line.group, agents)
	// In a group without a split, splitAt is the first agent, so no line is above the split.
	isAboveSplit := line.Line < int(r.agents[group.splitAt].line)
	for ; i < len(agents) && r.agents[agents[i]].group == line.group; i++ {
		if (agents[i] < group.splitAt) == isAboveSplit {
			return true
		}
	}
	return false
}
