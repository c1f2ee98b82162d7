package publish

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
)

// tries bounds how often something is submitted while others publish at the same time.
const tries = 5

// errMoved says that another change was published than the one compared with.
var errMoved = errors.New("another change is published by now")

// submitPending submits what is wanted, if it was not submitted yet.
func (r *Release) submitPending(ctx context.Context, isLatest func() bool) error {
	w, pending := r.wanted()
	if state, _ := r.site.History(); !pending || !isLatest() || w.lacks && state.Published != nil {
		return nil
	}
	if err := r.submitAlone(ctx, isLatest); err != nil {
		return err
	}
	if err := r.submit(ctx, &w, isLatest); err != nil {
		return err
	}
	r.submitted(w)
	return nil
}

// errEnded says that another configuration has taken over.
var errEnded = errors.New("another configuration decides by now")

// submit submits what is wanted, unless another configuration has taken over.
func (r *Release) submit(ctx context.Context, w *wish, isLatest func() bool) error {
	in := Change{ID: w.id, Origin: w.origin, Made: By{Who: string(w.origin)}, Rollout: r.Rollout}
	for range tries {
		state, _ := r.site.History()
		base, isNews := state.PublishedID(), state.IsNews(r.Instance(), &in)
		if isNews {
			r.awaitStored(ctx)
			published, err := r.schedule(ctx, base, *w)
			if isLost(err) {
				published, err = r.nothing(), nil // they are lost; what they were cannot be told
			}
			if err != nil {
				return err
			}
			in.Reasons = r.reasons(published, *w, state.Published == nil)
			in.Difference = managed.Difference(published, w.schedule)
		}
		_, err := r.update(ctx, w.spec, func(s History) (History, *Change, error) {
			switch {
			case !isLatest():
				return s, nil, errEnded
			case s.PublishedID() != base || s.IsNews(r.Instance(), &in) != isNews:
				return s, nil, errMoved // nothing was compared with this
			}
			s, changed := s.Submit(r.Instance(), in, r.Now())
			return s, changed, nil
		})
		if errors.Is(err, errEnded) {
			return nil
		}
		if !errors.Is(err, errMoved) {
			return err
		}
		if _, err := r.store.Read(ctx); err != nil {
			return err
		}
	}
	return errMoved
}

// serveAlone serves what [Release.Otherwise] returns where nobody has published anything and a
// submission has failed, unless that was for want of time.
func (r *Release) serveAlone(ctx context.Context, failed error) {
	if ctx.Err() != nil || errors.Is(failed, errMoved) {
		return
	}
	r.refused.Store(true)
	next := r.Otherwise()
	r.applying.Lock()
	defer r.applying.Unlock()
	if served := r.publisher.Serving(); r.over || served != nil && bytes.Equal(served.Spec(), next.Spec()) {
		return
	}
	r.publisher.Serve(ctx, next, nil, nil)
}

// storedWait is how long a submission waits for what is stored of visits. Nobody waits for that:
// what is published stays meanwhile.
const storedWait = 10 * time.Second

// awaitStored waits a little until it is known which pages search engines were served before
// the start, as by the configuration that a wish is to replace.
func (r *Release) awaitStored(ctx context.Context) {
	if r.Stored == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storedWait)
	defer cancel()
	select {
	case <-r.Stored:
	case <-ctx.Done():
	}
}

// submitAlone makes what was served while no history was known the first change, where there
// is none: it was in force, and a wish is compared with it.
func (r *Release) submitAlone(ctx context.Context, isLatest func() bool) error {
	if state, _ := r.site.History(); state.Changes > 0 {
		return nil
	}
	served, alone := r.lastServed()
	if !alone {
		return nil
	}
	w := newWish(served, FromConfiguration, false)
	in := Change{ID: w.id, Origin: w.origin, Made: By{Who: string(w.origin)}}
	in.Difference = managed.Difference(r.nothing(), served)
	_, err := r.update(ctx, w.spec, func(s History) (History, *Change, error) {
		if s.Changes > 0 || !isLatest() { // another instance has begun one
			return s, nil, nil
		}
		s, changed := s.Submit(r.Instance(), in, r.Now())
		return s, changed, nil
	})
	return err
}
