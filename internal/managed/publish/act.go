package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
)

// Act confirms, promotes, stops or rolls back the change with this ID. An empty id selects the pending
// change, or the published change for a rollback. If another instance has replaced the selected change, Act
// fails with [ErrOther]. The result is served when Act returns.
func (p *Publisher) Act(ctx context.Context, verb, id string, by By) (*Change, error) {
	shown, _ := p.site.History()
	changed, err := p.update(ctx, nil, func(s History) (History, *Change, error) {
		if id == "" {
			if err := asShown(&s, &shown, verb); err != nil {
				return s, nil, err
			}
		}
		switch verb {
		case "confirm":
			return s.Confirm(id, by, p.Now())
		case "promote":
			return s.Promote(id, by, p.Now())
		case "stop":
			return s.Stop(id, by, p.Now())
		case "rollback":
			return s.Rollback(id, by, p.Now())
		}
		return s, nil, fmt.Errorf("unknown verb %q", verb)
	})
	if errors.Is(err, ErrOther) {
		_, _ = p.store.Read(ctx) // to learn the new change
	}
	if err != nil {
		return nil, err
	}
	p.wakeUp() // the trial may end sooner
	return changed, p.apply(context.WithoutCancel(ctx))
}

// asShown returns [ErrOther] if a verb without an ID would apply to a new change, which this instance
// has not shown yet.
func asShown(now, shown *History, verb string) error {
	was, is := shown.subject(verb), now.subject(verb)
	if was != nil && is != nil && was.Number != is.Number {
		return fmt.Errorf("%w: %s", ErrOther, is.ID)
	}
	return nil
}

// isLost reports whether a stored value is missing or damaged.
func isLost(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged)
}

// canServe returns an error if a step publishes, or puts on trial, an unreadable change. After a restart, the
// change would have no rules.
func (p *Publisher) canServe(ctx context.Context, before, after *History) error {
	id := after.PublishedID()
	if after.Pending.IsOnTrial() && !before.Pending.IsOnTrial() {
		id = after.Pending.ID
	} else if id == before.PublishedID() {
		return nil
	}
	_, err := p.schedule(ctx, id)
	if isLost(err) {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return err
}

// History returns the history of the site. The result is false if the history is unknown.
func (p *Publisher) History() (History, bool) { return p.site.History() }

// Site returns the name of the site in the history.
func (p *Publisher) Site() string { return p.place.Name }

// Hosts returns the hosts of the handler. No hosts means any host.
func (p *Publisher) Hosts() []string { return p.place.Hosts }

// Difference describes the difference between the rules of two changes. from and to are IDs.
func (p *Publisher) Difference(ctx context.Context, from, to string) ([]string, error) {
	before, err := p.schedule(ctx, from)
	if err != nil {
		return nil, err
	}
	after, err := p.schedule(ctx, to)
	if err != nil {
		return nil, err
	}
	return managed.Difference(before, after), nil
}
