package release

import (
	"context"

	"github.com/robotsguard/caddy-robots-guard/internal/publication"
)

// Deed is what a person can do about a change.
type Deed string

// The deeds.
const (
	Confirms   Deed = "confirm"
	Promotes   Deed = "promote"
	RollsBack  Deed = "rollback"
	StopsTrial Deed = "stop"
)

// Act does what a person wants with the change that has this ID, "" for the
// candidate, or for what was before. What comes of it is served when Act returns.
func (r *Release) Act(ctx context.Context, deed Deed, id string, by publication.By) (publication.News, error) {
	news, err := r.update(ctx, nil, func(s publication.State) (publication.State, publication.News, error) {
		if c := s.Candidate; c != nil && c.Stage == publication.Shadow {
			s = s.Keep(r.found(c.ID))
		}
		switch deed {
		case Confirms:
			return s.Confirm(id, by, r.Now())
		case Promotes:
			return s.Promote(id, by, r.Now())
		case StopsTrial:
			return s.Stop(id, by, r.Now())
		}
		return s.Rollback(id, by, r.Now())
	})
	if err != nil {
		return news, err
	}
	r.poke() // its time may end sooner
	return news, r.apply(context.WithoutCancel(ctx))
}

// State returns what is known of the site's changes, and whether something is.
func (r *Release) State() (publication.State, bool) { return r.site.State() }

// Place returns where it stands.
func (r *Release) Place() Place { return r.place }

// Spec returns the rules of a change, as they are stored.
func (r *Release) Spec(ctx context.Context, id string) ([]byte, error) { return r.store.Spec(ctx, id) }
