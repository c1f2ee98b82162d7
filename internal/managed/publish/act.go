package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
)

// ApplyAction confirms, promotes, stops or rolls back the change with this ID. An empty id selects the pending
// change, or the published change for a rollback. If another instance has replaced the selected change,
// ApplyAction fails with [ErrOther]. The result is served when ApplyAction returns.
func (p *Publisher) ApplyAction(ctx context.Context, verb, id string, by Decision) (*Change, error) {
	shown, _ := p.site.History()
	changed, err := p.updateHistory(ctx, nil, func(s History) (History, *Change, error) {
		if id == "" {
			if err := checkUnreplaced(&s, &shown, verb); err != nil {
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
		_, _ = p.store.ReadHistory(ctx) // to learn the new change
	}
	if err != nil {
		return nil, err
	}
	p.wakeUp() // the trial may end sooner
	return changed, p.applyHistory(context.WithoutCancel(ctx))
}

// checkUnreplaced returns [ErrOther] if a verb without an ID would apply to a new change, which this instance
// has not shown yet.
func checkUnreplaced(now, shown *History, verb string) error {
	was, is := shown.changeForAction(verb), now.changeForAction(verb)
	if was != nil && is != nil && was.Number != is.Number {
		return fmt.Errorf("%w: %s", ErrOther, is.ID)
	}
	return nil
}

// isMissingOrDamaged reports whether a stored value is missing or damaged.
func isMissingOrDamaged(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged)
}

// checkServable returns an error if a step publishes, or puts on trial, an unreadable change. After a restart, the
// change would have no rules.
func (p *Publisher) checkServable(ctx context.Context, before, after *History) error {
	id := after.PublishedID()
	if after.Pending.IsOnTrial() && !before.Pending.IsOnTrial() {
		id = after.Pending.ID
	} else if id == before.PublishedID() {
		return nil
	}
	_, err := p.loadSchedule(ctx, id)
	if isMissingOrDamaged(err) {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return err
}

// History returns the history of the site. The result is false if the history is unknown.
func (p *Publisher) History() (History, bool) { return p.site.History() }

// SiteName returns the name of the site in the history.
func (p *Publisher) SiteName() string { return p.place.Name }

// Hosts returns the hosts of the handler. No hosts means any host.
func (p *Publisher) Hosts() []string { return p.place.Hosts }

// Difference describes the difference between the rules of two changes. from and to are IDs.
func (p *Publisher) Difference(ctx context.Context, from, to string) ([]string, error) {
	before, err := p.loadSchedule(ctx, from)
	if err != nil {
		return nil, err
	}
	after, err := p.loadSchedule(ctx, to)
	if err != nil {
		return nil, err
	}
	return managed.DescribeDifference(before, after), nil
}
