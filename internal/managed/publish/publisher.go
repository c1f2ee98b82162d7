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

// Config is the configuration of a Publisher. Its functions may be called concurrently.
type Config struct {
	// Schedule has the rules of the configuration. IsPartial is true if the rules of a list are missing. See
	// [Publisher.Submit].
	Schedule  *managed.Schedule
	IsPartial bool
	// Lists returns the lists for a report, and may be nil.
	Lists            func() []report.ManagedList
	Registry         *uaident.Registry
	ConfirmationMode ConfirmationMode
	Rollout          Rollout
	Gate             managed.SearchGate

	// Source fetches the base, and is nil without a base. SourceKey is the path of a base file, or "" for the
	// response of the next handler.
	Source    site.Source
	SourceKey string
	// Bases caches the bases. The cache outlives a configuration, so the last good base survives a reload.
	Bases *policy.Cache
	// NewBaseLookup returns a function that returns the base of a host, or nil if unknown.
	NewBaseLookup func() func(host string) []byte
	// RequestSites returns the site of a request. Hosts are the hosts in the configuration. No hosts
	// means any host.
	RequestSites *site.Sites
	SiteHosts    []string

	// Storage stores the history. Sites has the copy in memory.
	Storage Storage
	Sites   *SiteHistories
	// StorageRead is closed after Bases and Visits were read from the storage, and is nil without a storage.
	StorageRead <-chan struct{}
	// Instance returns the name of this instance, which does not change at a restart.
	Instance func() string
	// IsRunning reports whether the configuration runs. A failed configuration submits nothing.
	IsRunning func() bool
	// Visits returns the pages requested by search engines in the last 24 hours. A change that disallows a
	// visited page waits for confirmation, and a trial of the change ends.
	Visits func() []ledger.CrawlerVisit
	// FetchedSince returns the crawlers that fetched the robots.txt of some hosts since a time.
	FetchedSince func(has func(host string) bool, since time.Time) []string
	// Trials compares changes on live requests, and may be nil.
	Trials Trials
	// Interval is the time between two reads of the history. Zero means one minute, or 10 seconds
	// during a trial.
	Interval time.Duration
	Now      func() time.Time
	Logger   *zap.Logger
	Observer Observer
}

// Observer receives events of a Publisher. Its methods are called concurrently.
type Observer interface {
	// OnComposed is called after a file was composed and checked. took is the duration.
	OnComposed(took time.Duration)
	// OnPageRequested is called for each request for a file.
	OnPageRequested(cached bool)
	// OnPageFailed is called when a file fails. stage is a Stage constant.
	OnPageFailed(stage string)
	// OnChangeState is called when this instance sets the state of a change.
	OnChangeState(site string, change Change)
	// OnHistoryFailed is called when the history cannot be read or written. Recovery is reported with a nil
	// error.
	OnHistoryFailed(site string, err error)
}

// The stages in which a file can fail.
const (
	StageBase    = "base"    // the base cannot be read
	StageRules   = "rules"   // a list of rules cannot be read or used
	StageCompose = "compose" // the base and the rules do not yield a file
	StageGate    = "gate"    // the gate refuses the file
)

// Publisher publishes the robots.txt files of a robots_txt handler. A Publisher submits the handler's rules
// to the history, and serves the files of the published change.
type Publisher struct {
	Config

	wake      chan struct{}
	lastError string // last logged error of the storage

	mu                  sync.Mutex
	latestSubmission    submission
	isSubmissionPending bool        // next is not submitted yet
	isRefused           atomic.Bool // nothing is published, and the submission could not be stored

	// Set by Begin:
	hasBegun atomic.Bool
	place    HandlerPlace
	store    *Store
	site     *SiteHistory
	applyMu  sync.Mutex
	hasEnded bool   // the configuration has ended; guarded by applyMu, like endTrial
	endTrial func() // ends the trial; nil if none

	minFileDate         time.Time                // date of a file without a published change
	rulesWithoutHistory func() *managed.Schedule // for a request before servedRules is set
	servedRules         atomic.Pointer[servedRules]
	rulesReady          chan struct{}                 // closed once servedRules is set
	pageCaches          map[policy.Segment]*pageCache // of the served files
}

// submission is a schedule to publish.
type submission struct {
	schedule  *managed.Schedule
	spec      []byte
	id        string // of the spec
	origin    Origin
	isPartial bool // see [Publisher.Submit]
}

func newSubmission(s *managed.Schedule, origin Origin, partial bool) submission {
	spec := s.EncodeSpec()
	return submission{s, spec, SpecID(spec), origin, partial}
}

// New returns a serving publisher. If the history is unknown after two seconds, requests get the rules of
// Config.
func New(c Config) *Publisher {
	p := &Publisher{Config: c, wake: make(chan struct{}, 1), minFileDate: c.Now(), rulesReady: make(chan struct{})}
	p.latestSubmission, p.isSubmissionPending = newSubmission(c.Schedule, FromConfiguration, c.IsPartial), true
	p.rulesWithoutHistory = sync.OnceValue(p.fallbackSchedule)
	p.pageCaches = map[policy.Segment]*pageCache{
		policy.ConfiguredHosts: newPageCache(40_000, 256<<20, p.composePage),
		policy.UnknownHosts:    newPageCache(1000, 32<<20, p.composePage),
	}
	return p
}

// Begin starts to submit and to publish. end stops the publisher and waits until it has stopped.
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
			p.compareOnRequests(nil)
			p.hasEnded = true
		}()
		p.run(ctx)
	}()
	return func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(endWait): // the storage hangs
		}
	}
}

// endWait is the maximum wait for the storage when a configuration ends.
const endWait = 2 * time.Second

// Submit submits a schedule in the background. A partial schedule lacks the rules of a list that was never
// fetched, and does not replace a published change.
func (p *Publisher) Submit(schedule *managed.Schedule, origin Origin, partial bool) {
	next := newSubmission(schedule, origin, partial)
	p.mu.Lock()
	p.latestSubmission, p.isSubmissionPending = next, true
	p.mu.Unlock()
	p.wakeUp()
}

func (p *Publisher) wakeUp() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// currentSubmission returns the latest submission, and whether it is still pending.
func (p *Publisher) currentSubmission() (submission, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.latestSubmission, p.isSubmissionPending
}

// recordSubmitted records the arrival of a submission in the history.
func (p *Publisher) recordSubmitted(s submission) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isSubmissionPending = p.isSubmissionPending && p.latestSubmission.schedule != s.schedule
}

// fallbackSchedule returns the schedule to serve if the storage fails, the first of
//   - the published change, if the history is known
//   - the submission, if nothing is published, and the submission needs neither confirmation nor a trial
//   - the schedule last served without a history
//   - the schedule without rules
func (p *Publisher) fallbackSchedule() *managed.Schedule {
	next, _ := p.currentSubmission()
	before, first, begun := p.emptySchedule(), true, p.hasBegun.Load()
	if begun {
		state, known := p.site.History()
		if known && (state.ChangeCount > 0 || !p.isRefused.Load()) {
			if s, err := p.loadSchedule(context.Background(), state.PublishedID()); err == nil {
				return s
			}
			return before
		}
		if served := p.servedWithoutHistory(); served != nil {
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

// servedWithoutHistory returns the schedule served without a history, also by the previous configuration, or
// nil.
func (p *Publisher) servedWithoutHistory() *managed.Schedule {
	s, err := managed.ParseSpec(p.Registry, p.site.ServedWithoutHistory())
	if err != nil {
		return nil // none, or for example a crawler that the registry does not have any more
	}
	return s
}

// emptySchedule returns the schedule without rules.
func (p *Publisher) emptySchedule() *managed.Schedule {
	s, err := managed.ParseSpec(p.Registry, Empty)
	if err != nil {
		panic(err) // the spec is a constant
	}
	return s
}

// HandlerPlace is the position of a robots_txt handler in the configuration.
type HandlerPlace struct {
	// Name identifies the handler in the history by the hosts of the site, or without hosts by the listeners
	// of the server. A second handler with the same name gets the suffix "#2", a third "#3".
	Name  string
	Hosts []string // empty for any host
}

// FindPlaces returns the places of handlers in the routes of servers.
func FindPlaces(servers []*caddyhttp.Server, is func(caddyhttp.MiddlewareHandler) bool) map[caddyhttp.MiddlewareHandler]HandlerPlace {
	places := make(map[caddyhttp.MiddlewareHandler]HandlerPlace)
	taken := make(map[string]int)
	for _, server := range servers {
		site.Walk(server, func(p site.RoutePlace, route caddyhttp.Route) {
			for _, handler := range route.Handlers {
				if p.IsErrorRoute || !is(handler) { // a handler of an unknown type may not be a valid map key
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

// hostMatcher returns a function that reports whether the place includes a host.
func (p HandlerPlace) hostMatcher() func(host string) bool {
	if len(p.Hosts) == 0 {
		return func(string) bool { return true }
	}
	return hostsOf(p.Hosts).Has
}

// hostsOf returns a set of hosts and wildcards.
func hostsOf(some []string) *site.Hosts {
	hosts := site.HostsOfServer(nil)
	hosts.AddNames(some)
	return hosts
}
