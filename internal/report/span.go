package report

import (
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
)

// timeSpan is the window of a view in absolute times.
type timeSpan struct {
	resolution   ledger.Resolution
	steps        int
	from, end    time.Time // These are the bounds of the steps. The last step can be in the future.
	now          time.Time
	countedFrom  time.Time // countedFrom is the start of the counted part of the window.
	previousFrom time.Time // previousFrom is the start of the previous period, or zero if not all of it was counted.
}

func (s *Source) newTimeSpan(f Filter) timeSpan {
	p := timeSpan{resolution: ledger.Hours, steps: 24, now: s.Now.UTC()}
	switch f.Window {
	case Hour:
		p.resolution, p.steps = ledger.Minutes, 60
	case Week:
		p.steps = 7 * 24
	case Month:
		p.resolution, p.steps = ledger.Days, 30
	}
	step := p.resolution.StepLength()
	p.from = p.now.Truncate(step).Add(-time.Duration(p.steps-1) * step)
	if f.Window == Range {
		step = p.setRange(f.From, f.To)
	}
	p.end = p.from.Add(time.Duration(p.steps) * step)
	since := ledger.FromUnixMilli(s.Ledger.Since)
	if kept := p.now.Add(-s.Ledger.Retention); s.Ledger.Retention > 0 && kept.After(since) {
		since = kept
	}
	if p.countedFrom = p.from; since.After(p.from) {
		p.countedFrom = since
	}
	previous := p.from.Add(-time.Duration(p.steps) * step)
	if !since.After(previous) && !since.IsZero() && !previous.Before(p.oldestStoredStep()) {
		p.previousFrom = previous
	}
	return p
}

// maxMinutes is the longest range that is shown in steps of minutes.
const maxMinutes = 3 * time.Hour

// setRange sets the window to the time from from to to. A zero to means now. The steps are the
// finest ones that are stored for the whole range. The result is the length of a step.
func (p *timeSpan) setRange(from, to time.Time) (step time.Duration) {
	if to.IsZero() || to.After(p.now) {
		to = p.now
	}
	for p.resolution = ledger.Minutes; ; p.resolution++ {
		step = p.resolution.StepLength()
		last, oldest := p.now.Truncate(step), p.oldestStoredStep()
		p.from = from.UTC().Truncate(step)
		if p.resolution < ledger.Days && (p.from.Before(oldest) || p.resolution == ledger.Minutes && to.Sub(from) > maxMinutes) {
			continue
		}
		if p.from.Before(oldest) {
			p.from = oldest
		}
		if p.from.After(last) {
			p.from = last
		}
		break
	}
	// The end includes the step of to, unless to is the start of a step.
	p.steps = max(1, int((to.Sub(p.from)+step-1)/step))
	return step
}

// oldestStoredStep returns the start of the first step that can be stored.
func (p timeSpan) oldestStoredStep() time.Time {
	step := p.resolution.StepLength()
	return p.now.Truncate(step).Add(-time.Duration(p.resolution.NumSteps()-1) * step)
}

// endOrNow returns the end of the window, or now if the window has not ended.
func (p timeSpan) endOrNow() time.Time {
	if p.end.After(p.now) {
		return p.now
	}
	return p.end
}

// contains reports whether t is in the window.
func (p timeSpan) contains(t time.Time) bool { return !t.Before(p.from) && t.Before(p.end) }
