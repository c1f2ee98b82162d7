package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/remote"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// List is a list of rules in a file or at a URL. All sites with the same file or URL share the list. The list
// is not stored, because the history of each site has the published rules.
type List = remote.Feed[managed.List]

// NewList returns the list in a file or at an HTTP or HTTPS URL, without fetching the list.
func NewList(location string, now func() time.Time) (*List, error) {
	source, err := remote.SourceSettings{OptionName: "rules", ContentName: "a list", MaxBytes: managed.MaxListBytes}.NewSource(location, now)
	if err != nil {
		return nil, err
	}
	return newList(source, now), nil
}

func newList(source remote.Source, now func() time.Time) *List {
	return remote.NewFeed(remote.FeedConfig[managed.List]{Source: source, Now: now, Parse: func(data []byte, _ *managed.List) (*managed.List, error) {
		return managed.ParseList(source.Name(), data)
	}})
}

// Lists makes schedules from the rules of a configuration and of its lists.
type Lists struct {
	Registry *uaident.Registry
	Spec     managed.Spec // of the configuration; without lists
	Sources  []*List
	// HasHost reports whether the site has a host, or a host that matches a wildcard. Nil means any host.
	HasHost func(host string) bool
	// Check returns an error if a schedule must not be served. Nil means no check.
	Check     func(*managed.Schedule) error
	OnFailure func() // counts failed reads and invalid lists
	Logger    *zap.Logger

	changed     chan struct{}
	usedContent []*managed.List // content of each list in the last schedule, or nil
	isRefused   bool            // the present content is not used
}

// Start prepares the lists for use until release is called, without fetching.
func (s *Lists) Start() (release func()) {
	s.changed = make(chan struct{}, 1)
	var releases []func()
	for _, l := range s.Sources {
		releases = append(releases, l.AddUser(listUser{s, l}))
	}
	return func() {
		for _, release := range releases {
			release()
		}
	}
}

// listUser implements [remote.User].
type listUser struct {
	*Lists
	list *List
}

// Changed implements [remote.User].
func (u listUser) Changed() {
	select {
	case u.changed <- struct{}{}:
	default: // Run is about to look
	}
}

// Replaced implements [remote.User].
func (u listUser) Replaced(_, _ *managed.List) {}

// Failed implements [remote.User].
func (u listUser) Failed(err error, inUse *managed.List, isFirst bool) {
	if isFirst || !u.list.IsFile() {
		u.Lists.OnFailure()
	}
	if !isFirst {
		return
	}
	meanwhile := "the previous list stays in force"
	if inUse == nil {
		meanwhile = "the published file stays in force, or without one, the rules of the list are missing"
	}
	u.Logger.Warn("a list of rules cannot be used; "+meanwhile, zap.String("rules", u.list.Name()), zap.Error(err))
}

// Recovered implements [remote.User].
func (u listUser) Recovered() {
	u.Logger.Info("a list of rules can be used again", zap.String("rules", u.list.Name()))
}

// FirstSchedule returns the first schedule of a configuration, after its lists were loaded. An error in the
// configuration or in a list file is returned. An invalid list at a URL is skipped, because a remote server
// must not prevent a start. A list at a URL that conflicts with the rules before it is skipped. If strict is
// set, an invalid or conflicting list at a URL is an error too. Callers set strict if another configuration
// runs already. An unreachable URL is never an error.
func (s *Lists) FirstSchedule(strict bool) (*managed.Schedule, error) {
	all, isURL := s.currentContent(), false
	for i, l := range s.Sources {
		isURL = isURL || !l.IsFile()
		if all[i] == nil && (l.IsFile() || strict && l.IsLastResponseInvalid()) {
			return nil, l.LastError()
		}
	}
	s.usedContent = slices.Clone(all)
	schedule, err := s.newSchedule(all)
	if err == nil || strict || !isURL {
		return schedule, err
	}
	for i, l := range s.Sources {
		if !l.IsFile() {
			s.usedContent[i] = nil
		}
	}
	if schedule, err = s.newSchedule(s.usedContent); err != nil {
		return nil, err
	}
	for i, content := range all {
		if s.usedContent[i] != nil || content == nil {
			continue
		}
		s.usedContent[i] = content
		if next, err := s.newSchedule(s.usedContent); err == nil {
			schedule = next
		} else {
			s.usedContent[i] = nil
			s.Logger.Error("a list of rules conflicts with the configuration, so its rules are not in force", zap.String("rules", s.Sources[i].Name()), zap.Error(err))
		}
	}
	return schedule, nil
}

// LacksList reports whether the last schedule lacks the rules of a list, because the list was never read successfully or
// was skipped.
func (s *Lists) LacksList() bool { return slices.Contains(s.usedContent, nil) }

// Run publishes a new schedule after each change of a list, until ctx ends. Run does not publish conflicting
// lists, and logs the first conflict.
func (s *Lists) Run(ctx context.Context, publish func(*managed.Schedule)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		}
		var schedule *managed.Schedule
		var err error
		all := s.currentContent()
		isNew := !slices.Equal(all, s.usedContent)
		if isNew {
			schedule, err = s.newSchedule(all)
		}
		switch names := zap.Strings("lists", s.Names()); {
		case err != nil && !s.isRefused:
			s.Logger.Error("lists of rules conflict with each other or with the configuration; the previous rules stay in force", names, zap.Error(err))
		case err == nil && s.isRefused:
			s.Logger.Info("the lists of rules no longer conflict", names)
		}
		if s.isRefused = err != nil; err != nil {
			s.OnFailure()
		} else if isNew {
			s.usedContent = all
			publish(schedule)
			s.Logger.Info("robots_txt uses new rules", zap.Strings("lists", s.Names()))
		}
	}
}

// currentContent returns the last good content of the lists.
func (s *Lists) currentContent() []*managed.List {
	all := make([]*managed.List, len(s.Sources))
	for i, l := range s.Sources {
		all[i] = l.Content()
	}
	return all
}

// Names returns the names of the lists.
func (s *Lists) Names() (names []string) {
	for _, l := range s.Sources {
		names = append(names, l.Name())
	}
	return names
}

// Report returns the lists for a report, or nil without lists.
func (s *Lists) Report() (lists []report.ManagedList) {
	for _, l := range s.Sources {
		one, state := report.ManagedList{Name: l.Name()}, l.State()
		if state.Content != nil {
			one.Rules = len(state.Content.Rules)
		}
		if state.LastErr != nil {
			one.Failure = state.LastErr.Error()
		}
		lists = append(lists, one)
	}
	return lists
}

// newSchedule returns the schedule with this content of the lists. Errors have the name and the position
// of the rule.
func (s *Lists) newSchedule(with []*managed.List) (*managed.Schedule, error) {
	spec, foreign := s.Spec, 0
	for _, list := range with {
		if list != nil {
			own, others := s.rulesOfSite(list.Rules)
			spec.Lists, foreign = append(spec.Lists, managed.List{Name: list.Name, Rules: own}), foreign+others
		}
	}
	schedule, err := managed.NewSchedule(s.Registry, spec)
	if wrong, ok := errors.AsType[*managed.RuleError](err); ok && wrong.Position != "" {
		err = fmt.Errorf("%s: %w", wrong.Position, err)
	}
	if err == nil && s.Check != nil {
		err = s.Check(schedule)
	}
	if err == nil && foreign > 0 {
		s.Logger.Info("rules in lists for hosts of other sites are ignored", zap.Int("rules", foreign))
	}
	return schedule, err
}

// rulesOfSite returns the rules for hosts of the site, and the number of other rules.
func (s *Lists) rulesOfSite(rules []managed.Rule) (own []managed.Rule, others int) {
	if s.HasHost == nil {
		return rules, 0
	}
	for _, r := range rules {
		if len(r.Hosts) > 0 {
			r.Hosts = slices.DeleteFunc(slices.Clone(r.Hosts), func(host string) bool { return !s.HasHost(host) })
			if len(r.Hosts) == 0 {
				others++
				continue
			}
		}
		own = append(own, r)
	}
	return own, others
}
