package publish

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TrialRunner compares a change on trial with the published robots.txt on live requests.
type TrialRunner interface {
	// StartTrial compares a file on trial until end is called.
	StartTrial(*shadow.File) (end func())
	// ExpireCopies makes the guard fetch the robots.txt again at each host for which has returns
	// true.
	ExpireCopies(has func(host string) bool)
}

// replaceTrial starts the comparison for the change on trial that rules contains, if any, and then
// ends the previous comparison. In this order, a change that is compared again keeps its results.
// rules may be nil. The caller must hold p.applyMu.
func (p *Publisher) replaceTrial(rules *servedRules) {
	if end := p.endTrial; end != nil {
		p.endTrial = nil
		defer end()
	}
	if rules == nil || rules.onTrial == nil || p.Trials == nil {
		return
	}
	p.endTrial = p.Trials.StartTrial(&shadow.File{
		Source: "change " + rules.trial.id, Has: p.place.hostMatcher(), IsPublished: rules.isCanaryHost, Freshness: policy.FreshnessPolicy{Min: trialLife, Max: trialLife, Default: trialLife},
		Fetch: func(host string) policy.FetchResult {
			if rules.isCanaryHost(host) {
				return p.composeForTrial(rules.published.schedule, host)
			}
			return p.composeForTrial(rules.trial.schedule, host)
		},
	})
}

// trialLife is the lifetime of a file on trial in the cache. Afterwards the file is composed again,
// since timed rules and the base can change it.
const trialLife = time.Minute

// errNoBase is the error for a host whose base was not fetched yet.
var errNoBase = errors.New("the base was not read yet")

// composeForTrial composes the present file of a schedule for a host.
func (p *Publisher) composeForTrial(s *managed.Schedule, host string) policy.FetchResult {
	base := p.NewBaseLookup()(host)
	if base == nil && !s.IsStagingHost(host) {
		return policy.FetchResult{Err: errNoBase}
	}
	text, err := s.Compose(p.Now(), host, base)
	if err != nil {
		return policy.FetchResult{Err: err}
	}
	return policy.FetchResult{Status: http.StatusOK, Body: text}
}

// endTrialIfDue publishes the change on trial if its time is over. It rejects the change if a
// search engine could no longer fetch a page that it requested in the last 24 hours, unless a
// person has confirmed the change.
func (p *Publisher) endTrialIfDue(ctx context.Context) error {
	state, _ := p.site.History()
	c := state.Pending
	if !c.IsOnTrial() {
		return nil
	}
	var why []string
	if c.ConfirmedBy == nil {
		published, err := p.loadSchedule(ctx, state.PublishedID())
		trial, lost := p.loadSchedule(ctx, c.ID)
		if err := errors.Join(err, lost); err != nil {
			return err
		}
		why = p.disallowedVisitReasons(published, trial)
	}
	if over := !c.TrialEnd.IsZero() && !p.Now().Before(c.TrialEnd); len(why) == 0 && !over {
		return nil
	}
	_, err := p.updateHistory(ctx, nil, func(s History) (History, *Change, error) {
		if s.Pending == nil || s.Pending.Number != c.Number || s.Pending.State != c.State {
			return s, nil, nil
		}
		if len(why) > 0 {
			return s.Stop(c.ID, Decision{User: ByTrial, Reason: why[0]}, p.Now())
		}
		s, changed := s.Advance(p.Now())
		return s, changed, nil
	})
	return err
}
