package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
)

// Act does what a person wants with the change that has this ID, "" for the
// candidate, or for what was before: confirm, promote, stop or rollback. What comes of
// it is served when Act returns. Without an ID nothing is decided about a change that has
// come since this instance has told what waits or is published.
func (r *Release) Act(ctx context.Context, verb, id string, by By) (*Change, error) {
	shown, _ := r.site.History()
	changed, err := r.update(ctx, nil, func(s History) (History, *Change, error) {
		if id == "" {
			if err := asShown(&s, &shown, verb); err != nil {
				return s, nil, err
			}
		}
		switch verb {
		case "confirm":
			return s.Confirm(id, by, r.Now())
		case "promote":
			return s.Promote(id, by, r.Now())
		case "stop":
			return s.Stop(id, by, r.Now())
		case "rollback":
			return s.Rollback(id, by, r.Now())
		}
		return s, nil, fmt.Errorf("unknown verb %q", verb)
	})
	if errors.Is(err, ErrOther) {
		_, _ = r.store.Read(ctx) // so that it is told from now on
	}
	if err != nil {
		return nil, err
	}
	r.poke() // its time may end sooner
	return changed, r.apply(context.WithoutCancel(ctx))
}

// asShown returns an error if a verb without an ID is by now about another change than when
// this instance showed the history.
func asShown(now, shown *History, verb string) error {
	was, is := shown.subject(verb), now.subject(verb)
	if was != nil && is != nil && was.Number != is.Number {
		return fmt.Errorf("%w: %s", ErrOther, is.ID)
	}
	return nil
}

// isLost reports whether a stored value will never be read.
func isLost(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged)
}

// canServe tells why a step cannot publish a change, or begin to try it: nobody could serve it,
// and after a restart there would be no rule at all.
func (r *Release) canServe(ctx context.Context, before, after *History) error {
	id := after.PublishedID()
	if after.Pending.IsTried() && !before.Pending.IsTried() {
		id = after.Pending.ID
	} else if id == before.PublishedID() {
		return nil
	}
	w, _ := r.wanted()
	_, err := r.schedule(ctx, id, w)
	if isLost(err) {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return err
}

// History returns what is known of the site's changes, and whether something is.
func (r *Release) History() (History, bool) { return r.site.History() }

// Site returns the name of the site in the history.
func (r *Release) Site() string { return r.place.Name }

// Hosts returns where it stands, none for any host.
func (r *Release) Hosts() []string { return r.place.Hosts }

// Difference returns in words what the rules of a change say otherwise than those of
// another, by their IDs.
func (r *Release) Difference(ctx context.Context, from, to string) ([]string, error) {
	w, _ := r.wanted()
	before, err := r.schedule(ctx, from, w)
	if err != nil {
		return nil, err
	}
	after, err := r.schedule(ctx, to, w)
	if err != nil {
		return nil, err
	}
	return managed.Difference(before, after), nil
}
