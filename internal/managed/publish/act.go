package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
)

// ApplyAction confirms, promotes, stops or rolls back the change with an ID; verb is the action.
// Without an ID, it selects the pending change, or the published change for a rollback. It fails
// with [ErrOther] if another instance has replaced the selected change. The result is served when
// ApplyAction returns.
func (p *Publisher) ApplyAction(ctx context.Context, verb, id string, by Decision) (*Change, error) {
	shown, _ := p.site.History()
	changed, err := p.updateHistory(ctx, nil, func(s History) (History, *Change, error) {
		if id == "" {
			if err := checkSameChange(&s, &shown, verb); err != nil {
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
		_, _ = p.store.ReadHistory(ctx) // The next action then sees the new change.
	}
	if err != nil {
		return nil, err
	}
	p.wakeUp() // The trial may end earlier than at the time of the next step.
	return changed, p.applyHistory(context.WithoutCancel(ctx))
}

// checkSameChange returns [ErrOther] if an action without an ID would apply to another change than
// this instance has reported. now is the stored history, and shown is the history that was
// reported.
func checkSameChange(now, shown *History, verb string) error {
	was, is := shown.changeForAction(verb), now.changeForAction(verb)
	if was != nil && is != nil && was.Number != is.Number {
		return fmt.Errorf("%w: %s", ErrOther, is.ID)
	}
	return nil
}

// isMissingOrDamaged reports whether a stored history or spec is missing or damaged.
func isMissingOrDamaged(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged)
}

// checkServable returns an error if the step from before to after publishes a change, or puts one
// on trial, whose rules cannot be read. After a restart, such a change would have no rules.
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

// History returns the history of the site. known is false while the history was not read.
func (p *Publisher) History() (history History, known bool) { return p.site.History() }

// SiteName returns the name of the site in the storage. See [HandlerPlace].
func (p *Publisher) SiteName() string { return p.place.Name }

// Hosts returns the hosts of the handler's site. An empty result means any host.
func (p *Publisher) Hosts() []string { return p.place.Hosts }

// DescribeDifference returns a line for each rule that only one of two changes has. from and to are
// the IDs of the changes.
func (p *Publisher) DescribeDifference(ctx context.Context, from, to string) ([]string, error) {
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
