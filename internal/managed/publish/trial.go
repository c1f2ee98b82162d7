package publish

import (
	"context"
	"errors"
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Trials let changes be judged on live requests beside what is published.
type Trials interface {
	// Try begins that, and returns what ends it.
	Try(*shadow.Candidate) (end func())
	// Changed says that hosts are served another text than until now.
	Changed(has func(host string) bool)
}

// judge has a change judged beside what is published, in the place of the one before;
// none if c is nil. r.applying must be held.
func (r *Release) judge(c *Change, published, tried *managed.Schedule) {
	if r.endTrial != nil {
		r.endTrial()
		r.endTrial = nil
	}
	if c == nil || r.Trials == nil {
		return
	}
	has, isPublished := r.place.has(), hasOf(c.Rollout.Hosts)
	r.endTrial = r.Trials.Try(&shadow.Candidate{Source: "change " + c.ID, Has: has, IsPublished: isPublished, Text: func(host string) policy.Answer {
		if isPublished(host) {
			return r.textOf(published, host)
		}
		return r.textOf(tried, host)
	}})
}

// errNoBase says that nothing is known of what a text is composed from.
var errNoBase = errors.New("what it is composed from was not read yet")

// textOf returns what a schedule makes for a host now.
func (r *Release) textOf(s *managed.Schedule, host string) policy.Answer {
	base := r.Base()(host)
	if base == nil && !s.IsStaging(host) {
		return policy.Answer{Err: errNoBase}
	}
	text, err := s.Text(r.Now(), host, base)
	if err != nil {
		return policy.Answer{Err: err}
	}
	return policy.Answer{Status: http.StatusOK, Body: text}
}

// conclude ends the trial of a change: at once if it shuts out a search engine and nobody
// has confirmed it, and otherwise when its time is over.
func (r *Release) conclude(ctx context.Context) error {
	state, _ := r.site.History()
	c := state.Pending
	if !c.IsTried() {
		return nil
	}
	var why []string
	if c.Confirmed == nil {
		w, _ := r.wanted()
		published, err := r.schedule(ctx, state.PublishedID(), w)
		tried, lost := r.schedule(ctx, c.ID, w)
		if err := errors.Join(err, lost); err != nil {
			return err
		}
		why = r.shutOut(published, tried)
	}
	if over := !c.Until.IsZero() && !r.Now().Before(c.Until); len(why) == 0 && !over {
		return nil
	}
	_, err := r.update(ctx, nil, func(s History) (History, *Change, error) {
		if s.Pending == nil || s.Pending.Number != c.Number || s.Pending.State != c.State {
			return s, nil, nil
		}
		if len(why) > 0 {
			return s.Stop(c.ID, By{Who: ByTrial, Why: why[0]}, r.Now())
		}
		s, changed := s.Advance(r.Now())
		return s, changed, nil
	})
	return err
}
