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

// The default intervals between two reads of the history, and the wait after the first failure.
const (
	readInterval  = time.Minute
	trialInterval = 10 * time.Second // during a trial
	firstRetry    = 4 * time.Second
)

// run submits and publishes until ctx ends.
func (p *Publisher) run(ctx context.Context) {
	retry := firstRetry
	_, err := p.store.Read(ctx)
	if !p.awaitRunning(ctx) {
		return
	}
	// A configuration that fails to load does not call Begin, so the previous one remains the latest.
	isLatest := p.site.BecomeLatest()
	for {
		if errors.Is(err, ErrLost) || errors.Is(err, ErrDamaged) {
			err = p.restore(ctx)
		}
		if err == nil {
			err = p.step(ctx, isLatest)
		}
		if ctx.Err() != nil {
			return
		}
		wait := p.untilNext()
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
		_, err = p.store.Read(ctx)
	}
}

// awaitRunning waits until the configuration runs. It returns false if ctx ends first.
func (p *Publisher) awaitRunning(ctx context.Context) bool {
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

// step submits pending rules, ends a trial whose time is over, and serves the published change.
func (p *Publisher) step(ctx context.Context, isLatest func() bool) error {
	if err := p.submitPending(ctx, isLatest); err != nil {
		if state, _ := p.site.History(); state.Changes == 0 {
			p.serveWithoutHistory(ctx, err)
			return err
		}
		return errors.Join(err, p.apply(ctx)) // this instance may have read access only
	}
	if err := p.endTrialIfDue(ctx); err != nil {
		return err
	}
	return p.apply(ctx)
}

// untilNext returns the time until the next step.
func (p *Publisher) untilNext() time.Duration {
	state, _ := p.site.History()
	most := cmp.Or(p.Interval, readInterval)
	if state.Pending.IsOnTrial() {
		most = cmp.Or(p.Interval, trialInterval)
	}
	if c := state.Pending; c != nil && !c.Until.IsZero() {
		return max(time.Millisecond, min(most, c.Until.Sub(p.Now())))
	}
	return most
}

// restore writes a lost or damaged history again from memory.
func (p *Publisher) restore(ctx context.Context) error {
	_, err := p.update(ctx, nil, func(s History) (History, *Change, error) {
		return s, nil, nil
	})
	return err
}

// update runs a step on the history. update logs a changed change, and reports the change to the observer.
func (p *Publisher) update(ctx context.Context, spec []byte, step Step) (*Change, error) {
	var before History
	_, changed, err := p.store.Update(ctx, spec, func(s History) (History, *Change, error) {
		before = s
		after, changed, err := step(s)
		if err == nil && spec == nil {
			err = p.canServe(ctx, &s, &after)
		}
		return p.recordReaders(before, after), changed, err
	})
	if err != nil || changed == nil {
		return nil, err
	}
	p.Observer.Changed(p.place.Name, *changed)
	p.log(changed)
	return changed, nil
}

// apply serves the published change and starts its trial, unless the configuration has ended. If ctx
// has ended, apply reads nothing and serves the previous change.
func (p *Publisher) apply(ctx context.Context) error {
	p.applying.Lock()
	defer p.applying.Unlock()
	state, known := p.site.History()
	if !known || p.ended {
		return nil
	}
	if p.serving.Load().isOf(&state) {
		return nil
	}
	next, err := p.rulesOf(ctx, &state)
	if err != nil {
		return err
	}
	p.compareOnRequests(next)
	if ctx.Err() == nil {
		p.setServedRules(next)
		p.site.SetServedWithoutHistory(nil)
		if p.Trials != nil {
			p.Trials.ExpireCopies(p.place.has())
		}
	}
	return nil
}

// rulesOf returns the rules to serve for a history.
func (p *Publisher) rulesOf(ctx context.Context, h *History) (_ *servedRules, err error) {
	since := func(c *Change) time.Time {
		if now := p.Now(); c.Since.After(now) { // by the clock of another instance
			return now
		}
		return c.Since
	}
	e := &servedRules{published: servedSchedule{id: h.PublishedID(), since: p.since}}
	if h.Published != nil {
		e.published.since = since(h.Published)
	}
	if e.published.schedule, err = p.schedule(ctx, e.published.id); err != nil || !h.Pending.IsOnTrial() {
		return e, err
	}
	e.onTrial, e.trial = h.Pending, servedSchedule{id: h.Pending.ID, since: since(h.Pending)}
	if h.Pending.State == Canary {
		e.canaryHosts = hostsOf(h.Pending.Rollout.Hosts)
	}
	e.trial.schedule, err = p.schedule(ctx, e.trial.id)
	return e, err
}

// continueTrial continues the trial of the previous configuration without waiting for the storage. A
// gap would drop the results of the trial.
func (p *Publisher) continueTrial() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.apply(ended) // after an error, the trial continues when the history is read
}

// schedule returns the schedule of a spec.
func (p *Publisher) schedule(ctx context.Context, id string) (*managed.Schedule, error) {
	if latest, _ := p.submission(); id == latest.id {
		return latest.schedule, nil
	}
	if e := p.serving.Load(); e != nil {
		for _, c := range []*servedSchedule{&e.published, &e.trial} {
			if c.id == id {
				return c.schedule, nil
			}
		}
	}
	spec, err := p.store.Spec(ctx, id)
	if err != nil {
		return nil, err
	}
	s, err := managed.ParseSpec(p.Registry, spec)
	if err != nil { // for example a crawler that the registry does not have any more
		return nil, fmt.Errorf("%w: the rules of change %s: %w", ErrDamaged, id, err)
	}
	return s, nil
}

// logStorageError logs the first failure of the history, and the recovery.
func (p *Publisher) logStorageError(err error) {
	p.Observer.HistoryFailed(p.place.Name, err)
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

// log logs the new state of a change.
func (p *Publisher) log(c *Change) {
	fields := []zap.Field{zap.String("site", p.place.Name), zap.String("change", c.ID), zap.String("who", c.Made.Who)}
	switch c.State {
	case Waiting:
		p.Logger.Warn("a change of a robots_txt waits for confirmation; the published file stays",
			append(fields, zap.Strings("reasons", c.Reasons), zap.String("advice", "caddy robots-guard managed confirm --site "+p.place.Name+" --why <text>"))...)
	case Rejected:
		if !c.IsRejectedByTrial() {
			p.Logger.Info("a change of a robots_txt was rejected", append(fields, zap.String("by", c.Ended.Who), zap.String("why", c.Ended.Why))...)
			return
		}
		p.Logger.Warn("a trial has rejected a change of a robots_txt", append(fields, zap.String("why", c.Ended.Why))...)
	default:
		p.Logger.Info("a change of a robots_txt is "+string(c.State), fields...)
	}
}
