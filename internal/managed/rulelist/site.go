package rulelist

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Config configures the schedules of a site.
type Config struct {
	Registry *uaident.Registry
	Spec     managed.Spec // of the configuration; without lists
	Lists    []*List
	// Has reports whether the site has a host, or a host that matches a wildcard. It is nil if the
	// site has any host.
	Has func(host string) bool
	// Check returns an error if a schedule must not be served.
	Check  func(*managed.Schedule) error
	Logger *zap.Logger
}

// Site makes schedules from the rules of a configuration and of its lists.
type Site struct {
	Config
	changed chan struct{}
	used    []*Version // used version of each list, or nil
	refused error      // reason why the present versions are not used
}

// NewSite returns a site. It reads no list.
func NewSite(c Config) *Site {
	return &Site{Config: c, changed: make(chan struct{}, 1), used: make([]*Version, len(c.Lists))}
}

// Changed announces a new version of a list. See [User].
func (s *Site) Changed() {
	select {
	case s.changed <- struct{}{}:
	default: // Run is about to look
	}
}

// First returns the first schedule of a configuration, after its lists were loaded. An error in the
// configuration or in a list file is returned. An invalid list at a URL is skipped, so that a remote
// server cannot prevent a start. If strict is set, an invalid list at a URL is an error too. Callers
// set strict if another configuration runs already. An unreachable URL is never an error.
func (s *Site) First(strict bool) (*managed.Schedule, error) {
	with := s.versions()
	strict = strict || !slices.ContainsFunc(s.Lists, func(l *List) bool { return !l.IsFile() })
	for i, l := range s.Lists {
		if with[i] == nil && (l.IsFile() || strict && l.isInvalid()) {
			return nil, l.Trouble()
		}
	}
	schedule, err := s.schedule(with)
	if err == nil || strict {
		s.used = with
		return schedule, err
	}
	return s.fitting(with)
}

// fitting returns a schedule without the URL lists that are incompatible with the other rules.
func (s *Site) fitting(all []*Version) (*managed.Schedule, error) {
	for i, l := range s.Lists {
		if l.IsFile() {
			s.used[i] = all[i]
		}
	}
	schedule, err := s.schedule(s.used)
	if err != nil {
		return nil, err
	}
	for i, l := range s.Lists {
		if all[i] == nil || s.used[i] != nil {
			continue
		}
		with := slices.Clone(s.used)
		with[i] = all[i]
		next, err := s.schedule(with)
		if err != nil {
			s.Logger.Error("a list of rules conflicts with the configuration, so its rules are not in force", zap.String("rules", l.Name()), zap.Error(err))
			continue
		}
		s.used, schedule = with, next
	}
	return schedule, nil
}

// Lacks reports whether a list at a URL was never read successfully. Schedules then lack its rules.
func (s *Site) Lacks() bool {
	return slices.ContainsFunc(s.Lists, func(l *List) bool { return l.Good() == nil })
}

// Run publishes a new schedule after each change of a list, until ctx ends. If the new lists are
// incompatible, Run does not publish them. It then logs the first such error, and calls failed for
// each.
func (s *Site) Run(ctx context.Context, publish func(context.Context, *managed.Schedule), failed func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		}
		s.renew(ctx, publish, failed)
	}
}

// renew publishes the next schedule if a list has changed.
func (s *Site) renew(ctx context.Context, publish func(context.Context, *managed.Schedule), failed func()) {
	with := s.versions()
	if slices.EqualFunc(with, s.used, (*Version).equal) {
		s.tell(nil)
		return
	}
	schedule, err := s.schedule(with)
	if s.tell(err); err != nil {
		failed()
		return
	}
	s.used = with
	publish(ctx, schedule)
	s.Logger.Info("robots_txt uses new rules", zap.Strings("lists", s.Names()))
}

// versions returns the last good versions of the lists.
func (s *Site) versions() []*Version {
	all := make([]*Version, len(s.Lists))
	for i, l := range s.Lists {
		all[i] = l.Good()
	}
	return all
}

// Names returns the names of the lists.
func (s *Site) Names() (names []string) {
	for _, l := range s.Lists {
		names = append(names, l.Name())
	}
	return names
}

// tell logs that the lists are incompatible, or that the problem is over.
func (s *Site) tell(err error) {
	switch {
	case err != nil && s.refused == nil:
		s.Logger.Error("lists of rules conflict with each other or with the configuration; the previous rules stay in force", zap.Strings("lists", s.Names()), zap.Error(err))
	case err == nil && s.refused != nil:
		s.Logger.Info("the lists of rules no longer conflict", zap.Strings("lists", s.Names()))
	}
	s.refused = err
}

// schedule returns the schedule with these versions of the lists. Errors have the name and the position
// of the rule.
func (s *Site) schedule(with []*Version) (*managed.Schedule, error) {
	spec, foreign := s.Spec, 0
	for i, v := range with {
		if v != nil {
			own, others := s.own(v.Rules)
			spec.Lists, foreign = append(spec.Lists, managed.List{Name: s.Lists[i].Name(), Rules: own}), foreign+others
		}
	}
	schedule, err := managed.NewSchedule(s.Registry, spec)
	if wrong, ok := errors.AsType[*managed.RuleError](err); ok && wrong.At != "" {
		err = fmt.Errorf("%s: %w", wrong.At, err)
	}
	if err == nil && s.Check != nil {
		err = s.Check(schedule)
	}
	if err == nil && foreign > 0 {
		s.Logger.Info("rules in lists for hosts of other sites are ignored", zap.Int("rules", foreign))
	}
	return schedule, err
}

// own returns the rules for hosts of the site, and the number of other rules.
func (s *Site) own(rules []managed.Rule) (own []managed.Rule, others int) {
	if s.Has == nil {
		return rules, 0
	}
	for _, r := range rules {
		if len(r.Hosts) > 0 {
			r.Hosts = slices.DeleteFunc(slices.Clone(r.Hosts), func(host string) bool { return !s.Has(host) })
			if len(r.Hosts) == 0 {
				others++
				continue
			}
		}
		own = append(own, r)
	}
	return own, others
}
