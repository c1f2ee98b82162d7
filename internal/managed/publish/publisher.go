package publish

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Config configures a [Publisher]. Its functions may be called concurrently.
type Config struct {
	// Schedule has the rules of the configuration. LacksRules is true if the rules of a list are
	// missing. See [Publisher.Submit].
	Schedule   *managed.Schedule
	LacksRules bool
	// Lists returns the lists of rules for a report. Nil means no lists.
	Lists            func() []report.ManagedList
	Registry         *uaident.Registry
	ConfirmationMode ConfirmationMode
	Rollout          Rollout
	Gate             managed.Gate

	// Source fetches the base. It is nil for a site without a base. SourceKey is the path of a base
	// file, or "" for a base from the next handler.
	Source    site.Source
	SourceKey string
	// Bases caches the bases. It outlives a configuration, so the last good base survives a reload.
	Bases *policy.Cache
	// NewBaseLookup returns a function that returns the present base of a host, or nil if it is
	// unknown.
	NewBaseLookup func() func(host string) []byte
	// RequestSites finds the site of a request. SiteHosts are the hosts of the handler's site. None
	// means any host.
	RequestSites *site.Sites
	SiteHosts    []string

	// Storage stores the histories. Sites has their copies in memory.
	Storage Storage
	Sites   *SiteHistories
	// StorageRead is closed when bases and visits have been read from the storage. It is nil
	// without a storage.
	StorageRead <-chan struct{}
	// Instance returns the name of this Caddy instance, which a restart does not change.
	Instance func() string
	// IsRunning reports whether Caddy runs the configuration. A configuration that failed to load
	// submits nothing.
	IsRunning func() bool
	// Visits returns the pages that search engines requested in the last 24 hours. A change that
	// disallows such a page waits for confirmation, and a trial rejects it.
	Visits func() []ledger.CrawlerVisit
	// FetchedSince returns the crawlers that have fetched robots.txt since a time, at any host for
	// which includesHost reports true.
	FetchedSince func(includesHost func(host string) bool, since time.Time) []string
	// Trials compares changes with the published files on live requests. Nil means no comparison.
	Trials TrialRunner
	// Interval is the time between two reads of the history. Zero means one minute, or 10 seconds
	// during a trial.
	Interval time.Duration
	Now      func() time.Time
	Logger   *zap.Logger
	Observer Observer
}

// Observer is notified by a [Publisher]. Its methods are called concurrently.
type Observer interface {
	// OnComposed is called after a file was composed and checked, which took this time.
	OnComposed(took time.Duration)
	// OnPageRequested is called for each requested file. cached is true if it was not composed for
	// the request.
	OnPageRequested(cached bool)
	// OnPageFailed is called when a file, its base or a list of rules fails. stage is StageBase,
	// StageRules, StageCompose or StageGate.
	OnPageFailed(stage string)
	// OnChangeState is called when this instance changes the state of a change.
	OnChangeState(site string, change Change)
	// OnHistoryFailed is called when the history of a site cannot be read or written, and with nil
	// when it can.
	OnHistoryFailed(site string, err error)
}

// The stages in which a file can fail.
const (
	StageBase    = "base"    // The base cannot be read.
	StageRules   = "rules"   // A list of rules cannot be read or used.
	StageCompose = "compose" // No file can be composed from the base and the rules.
	StageGate    = "gate"    // The gate refuses the file.
)

// Publisher submits the rules of a robots_txt handler to the history of its site, and serves the
// robots.txt files of the published change.
type Publisher struct {
	Config

	wake      chan struct{}
	lastError string // lastError is the last logged error of the storage.

	mu                  sync.Mutex
	latestSubmission    submission
	isSubmissionPending bool // isSubmissionPending is true until latestSubmission was submitted.
	// isSubmissionRefused is true if nothing is published and the submission could not be stored.
	isSubmissionRefused atomic.Bool

	// The method Begin sets the following fields.
	hasBegun atomic.Bool
	place    HandlerPlace
	store    *Store
	site     *SiteHistory
	applyMu  sync.Mutex
	hasEnded bool   // hasEnded is true after the end of the configuration. applyMu guards it and endTrial.
	endTrial func() // endTrial ends the trial. It is nil without a trial.

	// minFileDate is the Last-Modified time of files before the first change.
	minFileDate time.Time
	// rulesWithoutHistory returns the schedule for requests before servedRules is set.
	rulesWithoutHistory func() *managed.Schedule
	servedRules         atomic.Pointer[servedRules]
	rulesReady          chan struct{}                 // rulesReady is closed once servedRules is set.
	pageCaches          map[policy.Segment]*pageCache // These caches have the served files.
}

// submission is a schedule that is submitted to the history.
type submission struct {
	schedule   *managed.Schedule
	spec       []byte
	id         string // id is the ID of the spec.
	origin     Origin
	lacksRules bool // see [Publisher.Submit]
}

// newSubmission returns the submission of a schedule.
func newSubmission(s *managed.Schedule, origin Origin, lacksRules bool) submission {
	spec := s.EncodeSpec()
	return submission{s, spec, SpecID(spec), origin, lacksRules}
}

// New returns a publisher that serves files. The publisher submits nothing before Begin. A request
// for robots.txt waits at most two seconds for the history, and then gets a file with the rules
// from fallbackSchedule.
func New(c Config) *Publisher {
	p := &Publisher{Config: c, wake: make(chan struct{}, 1), minFileDate: c.Now(), rulesReady: make(chan struct{})}
	p.latestSubmission, p.isSubmissionPending = newSubmission(c.Schedule, FromConfiguration, c.LacksRules), true
	p.rulesWithoutHistory = sync.OnceValue(p.fallbackSchedule)
	p.pageCaches = map[policy.Segment]*pageCache{
		policy.ConfiguredHosts: newPageCache(40_000, 256<<20, p.composePage),
		policy.UnknownHosts:    newPageCache(1000, 32<<20, p.composePage),
	}
	return p
}

// Begin starts to submit the rules and to follow the history of the site. end stops the publisher,
// and waits for it for two seconds at most.
func (p *Publisher) Begin(place HandlerPlace) (end func()) {
	site, release := p.Sites.Acquire(place.Name)
	p.place, p.site = place, site
	p.store = NewStore(p.Storage, place.Name, site, p.Now)
	p.store.OnDamaged = func(key string, err error) {
		p.Logger.Error("the history of a robots_txt is damaged and was moved", zap.String("key", key), zap.Error(err))
	}
	p.hasBegun.Store(true)
	ctx, cancel := context.WithCancel(context.Background())
	p.continueTrial()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer release()
		defer func() {
			p.applyMu.Lock()
			defer p.applyMu.Unlock()
			p.replaceTrial(nil)
			p.hasEnded = true
		}()
		p.run(ctx)
	}()
	return func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(endWait): // The storage does not answer.
		}
	}
}

// endWait is the maximum wait for the storage when a configuration ends.
const endWait = 2 * time.Second

// Submit submits a schedule in the background. lacksRules is true for a schedule without the rules
// of a list that was never read. Such a schedule replaces no published change.
func (p *Publisher) Submit(schedule *managed.Schedule, origin Origin, lacksRules bool) {
	next := newSubmission(schedule, origin, lacksRules)
	p.mu.Lock()
	p.latestSubmission, p.isSubmissionPending = next, true
	p.mu.Unlock()
	p.wakeUp()
}

// wakeUp makes the run loop read the history now.
func (p *Publisher) wakeUp() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// currentSubmission returns the latest schedule to submit, and whether it still has to be
// submitted.
func (p *Publisher) currentSubmission() (submission, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.latestSubmission, p.isSubmissionPending
}

// clearPendingSubmission records that s was submitted, unless there is a later submission.
func (p *Publisher) clearPendingSubmission(s submission) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isSubmissionPending = p.isSubmissionPending && p.latestSubmission.schedule != s.schedule
}

// fallbackSchedule returns the schedule to serve while the storage fails, the first of
//   - the schedule of the published change, if the history is known and either has a change or has
//     not refused the submission
//   - the submission, if it needs no confirmation, and no trial according to a known history
//   - the schedule last served while the history was unknown
//   - the schedule without rules
func (p *Publisher) fallbackSchedule() *managed.Schedule {
	next, _ := p.currentSubmission()
	before, first, begun := p.emptySchedule(), true, p.hasBegun.Load()
	if begun {
		state, known := p.site.History()
		if known && (state.ChangeCount > 0 || !p.isSubmissionRefused.Load()) {
			if s, err := p.loadSchedule(context.Background(), state.PublishedID()); err == nil {
				return s
			}
			return before
		}
		if served := p.scheduleServedWithoutHistory(); served != nil {
			before, first = served, false
		}
		if known && p.Rollout.State != "" {
			return before
		}
	}
	if len(p.confirmationReasons(before, next, first)) > 0 {
		return before
	}
	if begun {
		p.site.SetServedWithoutHistory(next.spec)
	}
	return next.schedule
}

// scheduleServedWithoutHistory returns the schedule that this configuration or the previous one
// served while the history was unknown, or nil.
func (p *Publisher) scheduleServedWithoutHistory() *managed.Schedule {
	s, err := managed.ParseSpec(p.Registry, p.site.ServedWithoutHistory())
	if err != nil {
		// There is no such spec, or it is no longer valid, for example because the registry lost a
		// crawler.
		return nil
	}
	return s
}

// emptySchedule returns the schedule without rules.
func (p *Publisher) emptySchedule() *managed.Schedule {
	s, err := managed.ParseSpec(p.Registry, Empty)
	if err != nil {
		panic(err) // This cannot fail, because the spec is a constant.
	}
	return s
}

// HandlerPlace describes the place of a robots_txt handler in the configuration.
type HandlerPlace struct {
	// Name identifies the handler in the storage by the sorted hosts of its site, or without hosts
	// by the listeners of its server. A second handler with the same name gets the suffix "#2", a
	// third "#3".
	Name  string
	Hosts []string // Hosts is empty if the site is for any host.
}

// FindHandlerPlaces returns the places of the handlers for which is returns true, in the routes of
// servers.
func FindHandlerPlaces(servers []*caddyhttp.Server, is func(caddyhttp.MiddlewareHandler) bool) map[caddyhttp.MiddlewareHandler]HandlerPlace {
	places := make(map[caddyhttp.MiddlewareHandler]HandlerPlace)
	taken := make(map[string]int)
	for _, server := range servers {
		site.WalkRoutes(server, func(p site.RoutePlace, route caddyhttp.Route) {
			for _, handler := range route.Handlers {
				if p.IsErrorRoute || !is(handler) { // A handler of an unknown type may not be a valid map key.
					continue
				}
				if _, known := places[handler]; known {
					continue
				}
				hosts := slices.Sorted(slices.Values(p.Hosts))
				names := slices.Compact(slices.Clone(hosts))
				if len(names) == 0 {
					names = slices.Sorted(slices.Values(server.Listen))
				}
				name := strings.Join(names, ",")
				if taken[name]++; taken[name] > 1 {
					name += fmt.Sprintf("#%d", taken[name])
				}
				places[handler] = HandlerPlace{Name: name, Hosts: hosts}
			}
		})
	}
	return places
}

// hostMatcher returns a function that reports whether a host belongs to the handler's site.
func (p HandlerPlace) hostMatcher() func(host string) bool {
	if len(p.Hosts) == 0 {
		return func(string) bool { return true }
	}
	return newHostSet(p.Hosts).MatchesHost
}

// newHostSet returns a set of hosts and wildcards.
func newHostSet(some []string) *site.Hosts {
	hosts := site.NewHosts(nil)
	hosts.AddNames(some)
	return hosts
}
