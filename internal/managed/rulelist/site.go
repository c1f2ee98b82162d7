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

// Config is what the schedules of a site are made of.
type Config struct {
	Registry *uaident.Registry
	Rules    []Rule // of the configuration
	Sitemaps []string
	Lines    []string
	Lists    []*List
	// Has reports whether a host, or some that a wildcard stands for, is one of the
	// site. It is nil if the site is for any.
	Has func(host string) bool
	// Check returns why a schedule may not be served.
	Check  func(*managed.Schedule) error
	Logger *zap.Logger
}

// Site makes schedules of the rules in a configuration and of those in its lists.
type Site struct {
	Config
	changed chan struct{}
	used    []*Version // of each list, nil for none
	refused error      // why the versions of now are not used
}

// NewSite returns a site. No list is asked yet.
func NewSite(c Config) *Site {
	return &Site{Config: c, changed: make(chan struct{}, 1), used: make([]*Version, len(c.Lists))}
}

// Changed is told when a list has another version; see [User].
func (s *Site) Changed() {
	select {
	case s.changed <- struct{}{}:
	default: // Run is about to look
	}
}

// First returns the schedule of a configuration that is being loaded, once its lists
// are. An error of the configuration is returned, and so is that of a file, which is a
// part of it. What cannot be used of a URL is left out: what others serve must not keep
// a server from starting. Where something is served already, as strict says, it is an
// error, too, unless the list could not be read at all.
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

// fitting returns a schedule without the lists at URLs that do not go with the rest.
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
			s.Logger.Error("a list of rules does not go with the configuration, so its rules are not in force", zap.String("rules", l.Name()), zap.Error(err))
			continue
		}
		s.used, schedule = with, next
	}
	return schedule, nil
}

// Lacks reports whether a list at a URL was never read with success, so that schedules lack
// its rules.
func (s *Site) Lacks() bool {
	return slices.ContainsFunc(s.Lists, func(l *List) bool { return l.Good() == nil })
}

// Run hands the next schedule to publish whenever a list has another version, until ctx
// ends. One that cannot be used is left out; the owner is told once, and failed is called
// each time.
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

// renew hands the next schedule to publish, if the lists say something else.
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
	s.Logger.Info("robots_txt goes by other rules", zap.Strings("lists", s.Names()))
}

// versions returns what the lists say now.
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

// tell tells the owner that lists cannot be used at this site, or can again.
func (s *Site) tell(err error) {
	switch {
	case err != nil && s.refused == nil:
		s.Logger.Error("lists of rules do not go with each other or the configuration; the rules before stay in force", zap.Strings("lists", s.Names()), zap.Error(err))
	case err == nil && s.refused != nil:
		s.Logger.Info("the lists of rules go with each other again", zap.Strings("lists", s.Names()))
	}
	s.refused = err
}

// schedule returns the schedule with these versions of the lists.
func (s *Site) schedule(with []*Version) (*managed.Schedule, error) {
	rules, lists := slices.Clone(s.Rules), make([]string, len(s.Rules))
	foreign := 0
	for i, v := range with {
		if v != nil {
			own, others := s.own(v.Rules)
			rules, foreign = append(rules, own...), foreign+others
			lists = append(lists, slices.Repeat([]string{s.Lists[i].Name()}, len(own))...)
		}
	}
	schedule, err := schedule(s.Registry, rules, lists, s.Sitemaps, s.Lines)
	if err == nil && s.Check != nil {
		err = s.Check(schedule)
	}
	if err == nil && foreign > 0 {
		s.Logger.Info("rules of lists are left out here, since they are for hosts of other sites", zap.Int("rules", foreign))
	}
	return schedule, err
}

// own returns the rules that are for hosts of the site, and how many are not.
func (s *Site) own(rules []Rule) (own []Rule, others int) {
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

// schedule returns a schedule of rules as they are written, with the list of each, "" for
// the configuration. Its errors say which rule is wrong, and where it stands.
func schedule(registry *uaident.Registry, rules []Rule, lists, sitemaps, lines []string) (*managed.Schedule, error) {
	compiled, err := Compile(rules)
	if err == nil {
		next := compiled
		for i := range rules {
			for range rules[i].forms() {
				next[0].List, next = lists[i], next[1:]
			}
		}
		var schedule *managed.Schedule
		if schedule, err = managed.NewSchedule(registry, compiled, sitemaps, lines); err == nil {
			return schedule, nil
		}
	}
	if wrong, ok := errors.AsType[*managed.RuleError](err); ok && wrong.At != "" {
		err = fmt.Errorf("%s: %w", wrong.At, err)
	}
	return nil, err
}
