package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
)

// These are the default intervals between two reads of the history, and the wait after the first
// failure.
const (
	readInterval  = time.Minute
	trialInterval = 10 * time.Second // This interval applies during a trial.
	firstRetry    = 4 * time.Second
)

// run submits rules and follows the history of the site until ctx ends.
func (p *Publisher) run(ctx context.Context) {
	retry := firstRetry
	_, err := p.store.ReadHistory(ctx)
	if !p.awaitConfigRunning(ctx) {
		return
	}
	// Only a configuration that runs may become the latest. One that fails to load does not call
	// Begin.
	isLatest := p.site.BecomeLatest()
	for {
		if errors.Is(err, ErrLost) || errors.Is(err, ErrDamaged) {
			err = p.restoreHistory(ctx)
		}
		if err == nil {
			err = p.runStep(ctx, isLatest)
		}
		if ctx.Err() != nil {
			return
		}
		wait := p.timeUntilNextStep()
		if p.logStorageError(err); err != nil {
			wait, retry = retry, min(2*retry, readInterval)
		} else {
			retry = firstRetry
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-p.wake:
			timer.Stop()
		case <-timer.C:
		}
		_, err = p.store.ReadHistory(ctx)
	}
}

// awaitConfigRunning waits until Caddy runs the configuration. awaitConfigRunning returns false if
// ctx ends first.
func (p *Publisher) awaitConfigRunning(ctx context.Context) bool {
	const longest = time.Second
	for wait := time.Millisecond; !p.IsRunning(); wait = min(2*wait, longest) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
		}
	}
	return ctx.Err() == nil
}

// runStep submits rules that are still pending, ends a trial whose time is over, and serves the
// published change.
func (p *Publisher) runStep(ctx context.Context, isLatest func() bool) error {
	if err := p.submitPending(ctx, isLatest); err != nil {
		if state, _ := p.site.History(); state.ChangeCount == 0 {
			p.serveWithoutHistory(ctx, err)
			return err
		}
		return errors.Join(err, p.applyHistory(ctx)) // The instance may only have read access to the storage.
	}
	if err := p.endTrialIfDue(ctx); err != nil {
		return err
	}
	return p.applyHistory(ctx)
}

// timeUntilNextStep returns the time for which run waits before it reads the history again.
func (p *Publisher) timeUntilNextStep() time.Duration {
	state, _ := p.site.History()
	most := cmp.Or(p.Interval, readInterval)
	if state.Pending.IsOnTrial() {
		most = cmp.Or(p.Interval, trialInterval)
	}
	if c := state.Pending; c != nil && !c.TrialEnd.IsZero() {
		return max(time.Millisecond, min(most, c.TrialEnd.Sub(p.Now())))
	}
	return most
}

// restoreHistory writes the history in memory to the storage again, if the storage has lost or
// damaged it.
func (p *Publisher) restoreHistory(ctx context.Context) error {
	_, err := p.updateHistory(ctx, nil, func(s History) (History, *Change, error) {
		return s, nil, nil
	})
	return err
}

// updateHistory applies a step to the stored history. A change with a new state is logged and
// reported to the observer. spec is the submitted spec, or nil.
func (p *Publisher) updateHistory(ctx context.Context, spec []byte, step HistoryStep) (*Change, error) {
	var before History
	_, changed, err := p.store.Update(ctx, spec, func(s History) (History, *Change, error) {
		before = s
		after, changed, err := step(s)
		if err == nil && spec == nil {
			err = p.checkServable(ctx, &s, &after)
		}
		return p.recordFetchers(before, after), changed, err
	})
	if err != nil || changed == nil {
		return nil, err
	}
	p.Observer.OnChangeState(p.place.Name, *changed)
	p.logChange(changed)
	return changed, nil
}

// applyHistory serves the published change, and starts its comparison if a change is on trial. It
// does nothing after the configuration has ended. If ctx has ended, it only continues a trial whose
// rules are in memory.
func (p *Publisher) applyHistory(ctx context.Context) error {
	p.applyMu.Lock()
	defer p.applyMu.Unlock()
	state, known := p.site.History()
	if !known || p.hasEnded {
		return nil
	}
	if p.servedRules.Load().matchesHistory(&state) {
		return nil
	}
	next, err := p.loadServedRules(ctx, &state)
	if err != nil {
		return err
	}
	next.postponeStarts(p.servedRules.Load(), p.Now())
	p.replaceTrial(next)
	if ctx.Err() == nil {
		p.setServedRules(next)
		p.site.SetServedWithoutHistory(nil)
		if p.Trials != nil {
			p.Trials.ExpireCopies(p.place.hostMatcher())
		}
	}
	return nil
}

// loadServedRules returns the rules that a history publishes and puts on trial.
func (p *Publisher) loadServedRules(ctx context.Context, h *History) (_ *servedRules, err error) {
	since := func(c *Change) time.Time {
		if now := p.Now(); c.Since.After(now) { // Another instance set this time by its own clock.
			return now
		}
		return c.Since
	}
	e := &servedRules{published: servedSchedule{id: h.PublishedID(), since: p.minFileDate}}
	if h.Published != nil {
		e.published.since = since(h.Published)
	}
	if len(h.Past) > 0 { // The canary on this instance may have ended.
		e.published.since = laterTime(e.published.since, since(&h.Past[0]))
	}
	if e.published.schedule, err = p.loadSchedule(ctx, e.published.id); err != nil || !h.Pending.IsOnTrial() {
		return e, err
	}
	e.onTrial, e.trial = h.Pending, servedSchedule{id: h.Pending.ID, since: since(h.Pending)}
	if h.Pending.State == Canary {
		e.canaryHosts = newHostSet(h.Pending.Rollout.Hosts)
	}
	e.trial.schedule, err = p.loadSchedule(ctx, e.trial.id)
	return e, err
}

// continueTrial continues the trial of the previous configuration without waiting for the storage,
// because a gap would drop the results of the trial.
func (p *Publisher) continueTrial() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.applyHistory(ended) // After an error, the trial continues when the history is read.
}

// loadSchedule returns the schedule of the spec with an ID, from memory or from the storage.
func (p *Publisher) loadSchedule(ctx context.Context, id string) (*managed.Schedule, error) {
	if latest, _ := p.currentSubmission(); id == latest.id {
		return latest.schedule, nil
	}
	if e := p.servedRules.Load(); e != nil {
		for _, c := range []*servedSchedule{&e.published, &e.trial} {
			if c.id == id {
				return c.schedule, nil
			}
		}
	}
	spec, err := p.store.ReadSpec(ctx, id)
	if err != nil {
		return nil, err
	}
	s, err := managed.ParseSpec(p.Registry, spec)
	if err != nil { // For example, the registry may not have the crawler any more.
		return nil, fmt.Errorf("%w: the rules of change %s: %w", ErrDamaged, id, err)
	}
	return s, nil
}

// logStorageError logs a new error of the history, and the recovery. err may be nil.
func (p *Publisher) logStorageError(err error) {
	p.Observer.OnHistoryFailed(p.place.Name, err)
	message := ""
	if err != nil {
		message = err.Error()
	}
	switch {
	case message == p.lastError:
	case err != nil:
		p.Logger.Warn("the history of a robots_txt cannot be read or written; the published file stays, and the guard tries again",
			zap.String("site", p.place.Name), zap.Error(err))
	default:
		p.Logger.Info("the history of a robots_txt can be read and written again", zap.String("site", p.place.Name))
	}
	p.lastError = message
}

// logChange logs the new state of a change.
func (p *Publisher) logChange(c *Change) {
	fields := []zap.Field{zap.String("site", p.place.Name), zap.String("change", c.ID), zap.String("who", c.Submitted.User)}
	switch c.State {
	case Waiting:
		p.Logger.Warn("a change of a robots_txt waits for confirmation; the published file stays",
			append(fields, zap.Strings("reasons", c.Reasons), zap.String("advice", "caddy robots-guard managed confirm --site "+p.place.Name+" --why <text>"))...)
	case Rejected:
		if !c.IsRejectedByTrial() {
			p.Logger.Info("a change of a robots_txt was rejected", append(fields, zap.String("by", c.EndedBy.User), zap.String("why", c.EndedBy.Reason))...)
			return
		}
		p.Logger.Warn("a trial has rejected a change of a robots_txt", append(fields, zap.String("why", c.EndedBy.Reason))...)
	default:
		p.Logger.Info("a change of a robots_txt is "+string(c.State), fields...)
	}
}
