package publish

import (
	"context"
	"errors"
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Trials judges changes on live requests.
type Trials interface {
	// Try judges a change until end is called.
	Try(*shadow.Candidate) (end func())
	// Changed reports that the file of some hosts has changed.
	Changed(has func(host string) bool)
}

// judge lets Trials judge a change in place of the previous one; c may be nil. The caller holds
// p.applying.
func (p *Publisher) judge(c *Change, published, trial *managed.Schedule) {
	if p.endTrial != nil {
		p.endTrial()
		p.endTrial = nil
	}
	if c == nil || p.Trials == nil {
		return
	}
	has, isPublished := p.place.has(), hasOf(c.Rollout.Hosts)
	p.endTrial = p.Trials.Try(&shadow.Candidate{Source: "change " + c.ID, Has: has, IsPublished: isPublished, Text: func(host string) policy.Answer {
		if isPublished(host) {
			return p.fileOf(published, host)
		}
		return p.fileOf(trial, host)
	}})
}

// errNoBase is returned if the base of a file is unknown.
var errNoBase = errors.New("the base was not read yet")

// fileOf composes the present file of a schedule for a host.
func (p *Publisher) fileOf(s *managed.Schedule, host string) policy.Answer {
	base := p.Base()(host)
	if base == nil && !s.IsStaging(host) {
		return policy.Answer{Err: errNoBase}
	}
	text, err := s.Text(p.Now(), host, base)
	if err != nil {
		return policy.Answer{Err: err}
	}
	return policy.Answer{Status: http.StatusOK, Body: text}
}

// conclude ends a trial: at once if the change shuts out a search engine and nobody has confirmed the
// change, otherwise when its time is over.
func (p *Publisher) conclude(ctx context.Context) error {
	state, _ := p.site.History()
	c := state.Pending
	if !c.OnTrial() {
		return nil
	}
	var why []string
	if c.Confirmed == nil {
		latest, _ := p.submission()
		published, err := p.schedule(ctx, state.PublishedID(), latest)
		trial, lost := p.schedule(ctx, c.ID, latest)
		if err := errors.Join(err, lost); err != nil {
			return err
		}
		why = p.shutOut(published, trial)
	}
	if over := !c.Until.IsZero() && !p.Now().Before(c.Until); len(why) == 0 && !over {
		return nil
	}
	_, err := p.update(ctx, nil, func(s History) (History, *Change, error) {
		if s.Pending == nil || s.Pending.Number != c.Number || s.Pending.State != c.State {
			return s, nil, nil
		}
		if len(why) > 0 {
			return s.Stop(c.ID, By{Who: ByTrial, Why: why[0]}, p.Now())
		}
		s, changed := s.Advance(p.Now())
		return s, changed, nil
	})
	return err
}
