package managed

import (
	"context"
	"net/http"
	"slices"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// How long a base holds that does not say it itself, and how long a request waits
// for one that was never read.
const (
	baseLife = 10 * time.Minute
	baseWait = 5 * time.Second
)

// isBase reports whether a version can be built on: a web page in place of a
// robots.txt is a mistake.
func isBase(v *policy.Version) bool {
	findings, _ := v.Robots.Findings()
	return !slices.ContainsFunc(findings, func(f policy.Finding) bool { return f.Code == policy.HTML || f.Code == policy.UTF16 })
}

// base returns what is known of a base. One that is due is read in the background;
// a request waits only for the first.
func (p *Publisher) base(r *http.Request, key policy.Key, first bool) *policy.State {
	entry := p.Bases.Add(key, key.Segment())
	entry.Use(p.Now())
	if first && !isUsable(entry.State()) {
		entry.MakeDue() // who loads a configuration may have mended the base
	}
	if state := entry.State(); !entry.Due(p.Now()) {
		return state
	}
	asks := r.WithContext(context.WithValue(context.WithoutCancel(r.Context()), forBase{}, true))
	fetch, ok := p.Source.Prepare(asks, key, origin.Witness{})
	if !ok {
		return entry.State()
	}
	var have *policy.Version
	if state := entry.State(); state != nil {
		have = state.Good
	}
	done := entry.Refresh(policy.Freshness{Default: baseLife, Min: time.Minute, Max: policy.MaxAge}, func() policy.Answer {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		timer := time.AfterFunc(baseWait, func() { cancel(origin.ErrFetchTimeout) })
		defer timer.Stop()
		return fetch(ctx, have)
	}, p.onRead(key))
	if entry.State() == nil && done != nil {
		select {
		case <-done:
		case <-time.After(baseWait):
		case <-r.Context().Done():
		}
	}
	return entry.State()
}

// isUsable reports whether what was read last can be built on.
func isUsable(s *policy.State) bool {
	return s != nil && s.Failures == 0 && s.Good != nil && isBase(s.Good)
}

// onRead returns what tells the owner that a base cannot be used any more, or
// again.
func (p *Publisher) onRead(key policy.Key) func(before, after policy.State) {
	return func(before, after policy.State) {
		if isUsable(&after) && key.Source == "" {
			at := p.spotOf(key, p.Now())
			at.ahead = true
			p.composed(after.Good, at) // before a request has to
		}
		if !isUsable(&after) {
			p.Observer.TextFailed(StageBase)
		}
		log := p.Logger.With(zap.String("base", key.String()))
		known := before.Failures > 0 || before.Good != nil
		switch {
		case isUsable(&after) && known && !isUsable(&before):
			log.Log(levelFor(key.Segment(), zap.InfoLevel), "the base of the robots.txt can be read again")
		case isUsable(&after), known && !isUsable(&before): // it was told before
		case after.Failures > 0:
			log.Log(levelFor(key.Segment(), zap.WarnLevel), "the base of the robots.txt cannot be read; "+inForce(after), zap.Error(after.Err))
		default:
			log.Log(levelFor(key.Segment(), zap.WarnLevel), "the base of the robots.txt is a web page or no text; "+inForce(after))
		}
	}
}

// levelFor returns the level of what is logged about a site: hosts that clients
// invent must not fill the log.
func levelFor(segment policy.Segment, level zapcore.Level) zapcore.Level {
	if segment == policy.Invented {
		return zap.DebugLevel
	}
	return level
}

func inForce(s policy.State) string {
	if s.Good != nil && isBase(s.Good) || slices.ContainsFunc(s.Past, isBase) {
		return "the last good one is used"
	}
	return "what the site answers is passed on without the rules of robots_txt; if there is none to build on, write base none"
}
