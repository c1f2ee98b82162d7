package publish

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
)

// maxAttempts is the maximum number of attempts to submit while other instances publish changes.
const maxAttempts = 5

var (
	// errMoved is returned if another change was published during the comparison.
	errMoved = errors.New("another change was published meanwhile")
	// errEnded is returned if another configuration has replaced this configuration.
	errEnded = errors.New("another configuration has replaced this configuration")
)

// submitPending submits the latest schedule. It does nothing if the latest schedule was submitted
// already, if this configuration is not the latest, or if a list of the schedule could not be
// loaded and another change is published.
func (p *Publisher) submitPending(ctx context.Context, isLatest func() bool) error {
	next, pending := p.currentSubmission()
	if state, _ := p.site.History(); !pending || !isLatest() || next.lacksRules && state.Published != nil {
		return nil
	}
	if err := p.submitServedSchedule(ctx, isLatest); err != nil {
		return err
	}
	if err := p.submit(ctx, &next, isLatest); err != nil {
		return err
	}
	p.clearPendingSubmission(next)
	return nil
}

// submit submits a schedule to the history. It tries again if another instance publishes at the
// same time.
func (p *Publisher) submit(ctx context.Context, next *submission, isLatest func() bool) error {
	in := next.newChange()
	in.Rollout = p.Rollout
	for range maxAttempts {
		state, _ := p.site.History()
		base, isNews := state.PublishedID(), state.IsNewSubmission(p.Instance(), &in)
		if isNews {
			p.awaitStorageRead(ctx, backgroundWait)
			published, err := p.loadSchedule(ctx, base)
			if isMissingOrDamaged(err) {
				published, err = p.emptySchedule(), nil
			}
			if err != nil {
				return err
			}
			in.Reasons = p.confirmationReasons(published, *next, state.Published == nil)
			in.Difference = managed.DescribeDifference(published, next.schedule)
		}
		_, err := p.updateHistory(ctx, next.spec, func(s History) (History, *Change, error) {
			switch {
			case !isLatest():
				return s, nil, errEnded
			case s.PublishedID() != base || s.IsNewSubmission(p.Instance(), &in) != isNews:
				return s, nil, errMoved
			}
			s, changed := s.Submit(p.Instance(), in, p.Now())
			return s, changed, nil
		})
		if errors.Is(err, errEnded) {
			return nil
		}
		if !errors.Is(err, errMoved) {
			return err
		}
		if _, err := p.store.ReadHistory(ctx); err != nil {
			return err
		}
	}
	return errMoved
}

// newChange returns a change with the rules of the submission.
func (s *submission) newChange() Change {
	return Change{ID: s.id, Origin: s.origin, Submitted: Decision{User: string(s.origin)}}
}

// serveWithoutHistory serves the fallback schedule after a submission has failed and nothing was
// ever published.
func (p *Publisher) serveWithoutHistory(ctx context.Context, failed error) {
	if ctx.Err() != nil || errors.Is(failed, errMoved) {
		return
	}
	p.isSubmissionRefused.Store(true)
	next := p.fallbackSchedule()
	p.applyMu.Lock()
	defer p.applyMu.Unlock()
	if served := p.ServedSchedule(); p.hasEnded || served != nil && bytes.Equal(served.EncodeSpec(), next.EncodeSpec()) {
		return
	}
	p.setServedRules(p.newServedRules(next))
}

// The maximum wait for the first read of the storage. During backgroundWait, the published file
// stays.
const (
	requestWait    = 2 * time.Second
	backgroundWait = 10 * time.Second
)

// awaitStorageRead waits until bases and visits have been read from the storage, but at most
// maxWait.
func (p *Publisher) awaitStorageRead(ctx context.Context, maxWait time.Duration) {
	if p.StorageRead == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	select {
	case <-p.StorageRead:
	case <-ctx.Done():
	}
}

// submitServedSchedule makes the schedule that was served while the history was unknown the first
// change of an empty history. The next submission is then compared with what was served.
func (p *Publisher) submitServedSchedule(ctx context.Context, isLatest func() bool) error {
	if state, _ := p.site.History(); state.ChangeCount > 0 {
		return nil
	}
	served := p.scheduleServedWithoutHistory()
	if served == nil {
		return nil
	}
	first := newSubmission(served, FromConfiguration, false)
	in := first.newChange()
	in.Difference = managed.DescribeDifference(p.emptySchedule(), served)
	_, err := p.updateHistory(ctx, first.spec, func(s History) (History, *Change, error) {
		if s.ChangeCount > 0 || !isLatest() { // Another instance was first.
			return s, nil, nil
		}
		s, changed := s.Submit(p.Instance(), in, p.Now())
		return s, changed, nil
	})
	return err
}
