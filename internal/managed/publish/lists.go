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

// RuleList is a list of rules in a file or at a URL, which is read again when it changes. All sites
// with the same file or URL share it. It is not stored, because the history of each site has its
// published rules.
type RuleList = remote.Feed[managed.RuleList]

// NewRuleList returns the list in a file or at an HTTP or HTTPS URL. It reads nothing yet.
func NewRuleList(location string, now func() time.Time) (*RuleList, error) {
	source, err := remote.SourceSettings{OptionName: "rules", ContentName: "a list", MaxBytes: managed.MaxListBytes}.NewSource(location, now)
	if err != nil {
		return nil, err
	}
	return newRuleListFromSource(source, now), nil
}

// newRuleListFromSource returns the list that a source reads.
func newRuleListFromSource(source remote.Source, now func() time.Time) *RuleList {
	return remote.NewFeed(remote.FeedConfig[managed.RuleList]{Source: source, Now: now, Parse: func(data []byte, _ *managed.RuleList) (*managed.RuleList, error) {
		return managed.ParseRuleList(source.Name(), data)
	}})
}

// ScheduleBuilder makes schedules from the rules of a configuration and the rules of its lists,
// whenever a list changes.
type ScheduleBuilder struct {
	Registry *uaident.Registry
	Spec     managed.Spec // Spec has the rules of the configuration, without those of lists.
	Sources  []*RuleList
	// HasHost reports whether the site has a host, or a host that matches a wildcard. Nil means any
	// host.
	HasHost func(host string) bool
	// Check returns an error for a schedule that must not be served. Nil accepts every schedule.
	Check     func(*managed.Schedule) error
	OnFailure func() // OnFailure counts failed reads and invalid lists.
	Logger    *zap.Logger

	changed     chan struct{}
	usedContent []*managed.RuleList // usedContent has the content of each list in the last schedule, or nil.
	// isConflictLogged is true if the conflict between the present lists was logged.
	isConflictLogged bool
}

// Start subscribes to changes of the lists until release is called. It reads nothing.
func (s *ScheduleBuilder) Start() (release func()) {
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

// listUser notifies a [ScheduleBuilder] of changes and failures of a list.
type listUser struct {
	*ScheduleBuilder
	list *RuleList
}

// Changed implements [remote.User].
func (u listUser) Changed() {
	select {
	case u.changed <- struct{}{}:
	default: // The method Run is about to read the lists.
	}
}

// Replaced implements [remote.User].
func (u listUser) Replaced(_, _ *managed.RuleList) {}

// Failed implements [remote.User].
func (u listUser) Failed(err error, inUse *managed.RuleList, isFirst bool) {
	if isFirst || !u.list.IsFile() {
		u.ScheduleBuilder.OnFailure()
	}
	if !isFirst {
		return
	}
	meanwhile := "the previous list stays in force"
	if inUse == nil {
		meanwhile = "the published file stays in force; if none is published, the rules of the list are missing"
	}
	u.Logger.Warn("a list of rules cannot be used; "+meanwhile, zap.String("rules", u.list.Name()), zap.Error(err))
}

// Recovered implements [remote.User].
func (u listUser) Recovered() {
	u.Logger.Info("a list of rules can be used again", zap.String("rules", u.list.Name()))
}

// FirstSchedule returns the first schedule of a configuration, after its lists were loaded.
// FirstSchedule returns an error for a mistake in the configuration or in the file of a list.
//
// A list at a URL is left out if it is invalid or conflicts with the rules before it, because a
// remote server must not prevent a start. If strict is true, an invalid or conflicting list is an
// error too. Callers set strict if another configuration is running. An unreachable URL is never an
// error.
func (s *ScheduleBuilder) FirstSchedule(strict bool) (*managed.Schedule, error) {
	all, isURL := s.currentLists(), false
	for i, l := range s.Sources {
		isURL = isURL || !l.IsFile()
		if all[i] == nil && (l.IsFile() || strict && l.IsLastResponseInvalid()) {
			return nil, l.LastError()
		}
	}
	s.usedContent = slices.Clone(all)
	schedule, err := s.buildSchedule(all)
	if err == nil || strict || !isURL {
		return schedule, err
	}
	for i, l := range s.Sources {
		if !l.IsFile() {
			s.usedContent[i] = nil
		}
	}
	if schedule, err = s.buildSchedule(s.usedContent); err != nil {
		return nil, err
	}
	for i, content := range all {
		if s.usedContent[i] != nil || content == nil {
			continue
		}
		s.usedContent[i] = content
		if next, err := s.buildSchedule(s.usedContent); err == nil {
			schedule = next
		} else {
			s.usedContent[i] = nil
			s.Logger.Error("a list of rules conflicts with the configuration, so its rules are not in force", zap.String("rules", s.Sources[i].Name()), zap.Error(err))
		}
	}
	return schedule, nil
}

// LacksRules reports whether the last schedule lacks the rules of a list that was never read or was
// left out.
func (s *ScheduleBuilder) LacksRules() bool { return slices.Contains(s.usedContent, nil) }

// Run calls publish with a new schedule after each change of a list, until ctx ends. If the lists
// conflict, Run logs the first conflict and calls publish after it is resolved.
func (s *ScheduleBuilder) Run(ctx context.Context, publish func(*managed.Schedule)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		}
		var schedule *managed.Schedule
		var err error
		all := s.currentLists()
		isNew := !slices.Equal(all, s.usedContent)
		if isNew {
			schedule, err = s.buildSchedule(all)
		}
		switch names := zap.Strings("lists", s.ListNames()); {
		case err != nil && !s.isConflictLogged:
			s.Logger.Error("lists of rules conflict with each other or with the configuration; the previous rules stay in force", names, zap.Error(err))
		case err == nil && s.isConflictLogged:
			s.Logger.Info("the lists of rules no longer conflict", names)
		}
		if s.isConflictLogged = err != nil; err != nil {
			s.OnFailure()
		} else if isNew {
			s.usedContent = all
			publish(schedule)
			s.Logger.Info("robots_txt uses new rules", zap.Strings("lists", s.ListNames()))
		}
	}
}

// currentLists returns the last good content of each list, or nil for a list that was never read.
func (s *ScheduleBuilder) currentLists() []*managed.RuleList {
	all := make([]*managed.RuleList, len(s.Sources))
	for i, l := range s.Sources {
		all[i] = l.Content()
	}
	return all
}

// ListNames returns the names of the lists: their files and URLs.
func (s *ScheduleBuilder) ListNames() (names []string) {
	for _, l := range s.Sources {
		names = append(names, l.Name())
	}
	return names
}

// ReportLists returns the name, the number of rules and the last failure of each list.
func (s *ScheduleBuilder) ReportLists() (lists []report.ManagedList) {
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

// buildSchedule returns the schedule of the configuration with the given lists. An element is nil
// for a list that was never read. An error about a rule begins with the position and the name of
// the rule.
func (s *ScheduleBuilder) buildSchedule(with []*managed.RuleList) (*managed.Schedule, error) {
	spec, foreign := s.Spec, 0
	for _, list := range with {
		if list != nil {
			own, others := s.filterRulesOfSite(list.Rules)
			spec.Lists, foreign = append(spec.Lists, managed.RuleList{Name: list.Name, Rules: own}), foreign+others
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

// filterRulesOfSite removes the hosts of other sites from rules, and drops rules without a
// remaining host. numOthers counts the dropped rules. A rule for all hosts does not change.
func (s *ScheduleBuilder) filterRulesOfSite(rules []managed.Rule) (own []managed.Rule, numOthers int) {
	if s.HasHost == nil {
		return rules, 0
	}
	for _, r := range rules {
		if len(r.Hosts) > 0 {
			r.Hosts = slices.DeleteFunc(slices.Clone(r.Hosts), func(host string) bool { return !s.HasHost(host) })
			if len(r.Hosts) == 0 {
				numOthers++
				continue
			}
		}
		own = append(own, r)
	}
	return own, numOthers
}
