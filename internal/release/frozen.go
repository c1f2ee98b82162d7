package release

import (
	"context"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
)

// asBefore makes a wish the one that was submitted before, if it is the same but for what
// classes stand for: a registry that knows more is no change.
func (r *Release) asBefore(ctx context.Context, w *wish) error {
	if !w.schedule.IsFrozen() {
		return nil
	}
	state, _ := r.site.State()
	ids := []string{state.Submitted[r.Instance()].ID, state.Latest, state.PublishedID()}
	if c := state.Candidate; c != nil {
		ids = append(ids, c.ID)
	}
	for _, id := range ids {
		if id == "" {
			continue
		}
		before, err := r.schedule(ctx, id, *w)
		if isLost(err) {
			continue // nothing can be said of it
		}
		if err != nil {
			return err
		}
		if before.SameWish(w.schedule) {
			r.adopt(w, before)
			return nil
		}
	}
	return nil
}

// adopt puts another schedule in the place of that of a wish, which is what is wanted
// unless there is another by now.
func (r *Release) adopt(w *wish, s *managed.Schedule) {
	r.mu.Lock()
	defer r.mu.Unlock()
	isWanted := r.wish.schedule == w.schedule
	*w = newWish(s, w.origin, w.Proposal)
	if isWanted {
		r.wish = *w
	}
}
