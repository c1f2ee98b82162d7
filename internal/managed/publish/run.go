package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
)

// How often the history is read again if [Config.Interval] does not say so, and how soon
// after a failure.
const (
	readInterval = time.Minute
	lookInterval = 10 * time.Second // while a change is tried
	firstRetry   = 4 * time.Second
)

// run submits and serves until ctx ends.
func (r *Release) run(ctx context.Context) {
	retry := firstRetry
	_, err := r.store.Read(ctx)
	if !r.awaitRunning(ctx) {
		return
	}
	// Not before: one that fails to load has taken nobody's turn.
	isLatest := r.site.Begin()
	for {
		if errors.Is(err, ErrLost) || errors.Is(err, ErrDamaged) {
			err = r.restore(ctx)
		}
		if err == nil {
			err = r.step(ctx, isLatest)
		}
		if ctx.Err() != nil {
			return
		}
		wait := r.untilNext()
		if r.tell(err); err != nil {
			wait, retry = retry, min(2*retry, readInterval)
		} else {
			retry = firstRetry
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-r.wake:
			timer.Stop()
		case <-timer.C:
		}
		_, err = r.store.Read(ctx)
	}
}

// awaitRunning waits until the configuration runs, and reports whether it does.
func (r *Release) awaitRunning(ctx context.Context) bool {
	const longest = time.Second
	for wait := time.Millisecond; !r.IsRunning(); wait = min(2*wait, longest) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
		}
	}
	return ctx.Err() == nil
}

// step does what is due once the history was read.
func (r *Release) step(ctx context.Context, isLatest func() bool) error {
	if err := r.submitPending(ctx, isLatest); err != nil {
		if state, _ := r.site.History(); state.Changes == 0 {
			r.serveAlone(ctx, err)
			return err
		}
		return errors.Join(err, r.apply(ctx)) // others may publish what this instance can only read
	}
	if err := r.conclude(ctx); err != nil {
		return err
	}
	return r.apply(ctx)
}

// untilNext returns how long nothing is due.
func (r *Release) untilNext() time.Duration {
	state, _ := r.site.History()
	most := cmp.Or(r.Interval, readInterval)
	if state.Pending.IsTried() {
		most = cmp.Or(r.Interval, lookInterval)
	}
	if c := state.Pending; c != nil && !c.Until.IsZero() {
		return max(time.Millisecond, min(most, c.Until.Sub(r.Now())))
	}
	return most
}

// restore brings back a state that is lost or damaged, as far as this instance knows
// it.
func (r *Release) restore(ctx context.Context) error {
	_, err := r.update(ctx, nil, func(s History) (History, *Change, error) {
		return s, nil, nil
	})
	return err
}

// update takes a step in the history and tells what came of it.
func (r *Release) update(ctx context.Context, spec []byte, step Step) (*Change, error) {
	var before History
	_, changed, err := r.store.Update(ctx, spec, func(s History) (History, *Change, error) {
		before = s
		after, changed, err := step(s)
		if err == nil && spec == nil {
			err = r.canServe(ctx, &s, &after)
		}
		return r.noteReaders(before, after), changed, err
	})
	if err != nil || changed == nil {
		return nil, err
	}
	r.Observer.Changed(r.place.Name, *changed)
	r.log(changed)
	return changed, nil
}

// apply serves what the history says, until the configuration has ended: who acts may come
// after that.
func (r *Release) apply(ctx context.Context) error {
	r.applying.Lock()
	defer r.applying.Unlock()
	state, known := r.site.History()
	if !known || r.over {
		return nil
	}
	next := served{published: state.PublishedID()}
	w, _ := r.wanted()
	published, err := r.schedule(ctx, next.published, w)
	if err != nil {
		return err
	}
	var candidate *Change
	var tried *managed.Schedule
	if state.Pending.IsTried() {
		candidate = state.Pending
		next.tried, next.number = candidate.ID, candidate.Number
		if tried, err = r.schedule(ctx, next.tried, w); err != nil {
			return err
		}
	}
	if next.number != r.judged {
		r.judge(candidate, published, tried)
		r.judged = next.number
	}
	if next != r.served {
		canary := candidate
		if canary != nil && canary.State != Canary {
			canary, tried = nil, nil
		}
		r.publisher.Serve(ctx, published, canary, tried)
		if ctx.Err() == nil {
			r.served = next
			r.site.Serve(published.Spec(), false)
			r.changed()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.parsed, func(id string, _ *managed.Schedule) bool {
		return id != next.published && id != next.tried
	})
	return nil
}

// schedule returns the schedule of a spec.
func (r *Release) schedule(ctx context.Context, id string, w wish) (*managed.Schedule, error) {
	if id == w.id {
		return w.schedule, nil
	}
	r.mu.Lock()
	known := r.parsed[id]
	r.mu.Unlock()
	if known != nil {
		return known, nil
	}
	spec, err := r.store.Spec(ctx, id)
	if err != nil {
		return nil, err
	}
	s, err := managed.ParseSpec(r.Registry, spec)
	if err != nil { // such as of a crawler that the registry has no more
		return nil, fmt.Errorf("%w: the rules of change %s: %w", ErrDamaged, id, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parsed[id] = s
	return s, nil
}
