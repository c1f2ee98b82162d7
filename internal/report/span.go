package report

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// span is a window on the clock.
type span struct {
	resolution ledger.Resolution
	steps      int
	from, now  time.Time
	counted    time.Time // see Head.CountedFrom
	previous   time.Time // see Head.PreviousFrom
}

func (s *Source) span(w Window) span {
	p := span{resolution: ledger.Hours, steps: 24, now: s.Now.UTC()}
	switch w {
	case Hour:
		p.resolution, p.steps = ledger.Minutes, 60
	case Week:
		p.steps = 7 * 24
	case Month:
		p.resolution, p.steps = ledger.Days, 30
	}
	step := p.resolution.Step()
	p.from = p.now.Truncate(step).Add(-time.Duration(p.steps-1) * step)
	since := ledger.Time(s.Ledger.Since)
	if kept := p.now.Add(-s.Ledger.Retention); s.Ledger.Retention > 0 && kept.After(since) {
		since = kept
	}
	if p.counted = p.from; since.After(p.from) {
		p.counted = since
	}
	previous := p.from.Add(-time.Duration(p.steps) * step)
	if !since.After(previous) && !since.IsZero() {
		p.previous = previous
	}
	return p
}
