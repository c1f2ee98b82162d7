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
	// Schedule has the rules of the configuration. Partial is true if the rules of a list are missing. See
	// [Publisher.Submit].
	Schedule *managed.Schedule
	Partial  bool
	// Lists returns the lists for a report, and may be nil.
	Lists    func() []report.ManagedList
	Registry *uaident.Registry
	Confirm  ConfirmationMode
	Rollout  Rollout
	Gate     managed.Gate

	// Source fetches the base, and is nil without a base. SourceKey is the path of a base file, or "" for the
	// response of the next handler.
	Source    site.Source
	SourceKey string
	// Bases caches the bases. The cache outlives a configuration, so the last good base survives a reload.
	Bases *policy.Cache
	// Base returns a function that returns the base of a host, or nil if unknown.
	Base func() func(host string) []byte
	// RequestSites returns the site of a request. Hosts are the hosts in the configuration. No hosts
	// means any host.
	RequestSites *site.Sites
	SiteHosts    []string

	// Storage stores the history. Sites has the copy in memory.
	Storage Storage
	Sites   *Sites
	// Stored is closed after Bases and Visits were read from the storage, and is nil without a storage.
	Stored <-chan struct{}
	// Instance returns the name of this instance, which does not change at a restart.
	Instance func() string
	// IsRunning reports whether the configuration runs. A failed configuration submits nothing.
	IsRunning func() bool
	// Visits returns the pages requested by search engines in the last 24 hours. A change that disallows a
	// visited page waits for confirmation, and a trial of the change ends.
	Visits func() []ledger.Visit
	// ReadSince returns the crawlers that fetched the robots.txt of some hosts since a time.
	ReadSince func(has func(host string) bool, since time.Time) []string
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
	// Composed is called after a file was composed and checked. took is the duration.
	Composed(took time.Duration)
	// PageRequested is called for each request for a file.
	PageRequested(cached bool)
	// PageFailed is called when a file fails. stage is a Stage constant.
	PageFailed(stage string)
	// Changed is called when this instance sets the state of a change.
	Changed(site string, change Change)
	// HistoryFailed is called when the history cannot be read or written. Recovery is reported with a nil
	// error.
	HistoryFailed(site string, err error)
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

	mu        sync.Mutex
	next      submission
	pending   bool                         // next is not submitted yet
	parsed    map[string]*managed.Schedule // changes in use, by spec ID
	isRefused atomic.Bool                  // nothing is published, and the submission could not be stored

	// Set by Begin:
	begun     atomic.Bool
	place     Place
	store     *Store
	site      *Site
	applying  sync.Mutex
	servedIDs servedIDs // guarded by applying, like the fields below
	ended     bool      // the configuration has ended
	endTrial  func()    // ends the trial; nil if none

	since               time.Time                // minimum date of a file
	rulesWithoutHistory func() *managed.Schedule // of fallback, for a request before serving is set
	serving             atomic.Pointer[servedRules]
	ready               chan struct{} // closed once serving is set
	readyOnce           sync.Once
	caches              map[policy.Segment]*pageCache // of the served files
}

// submission is a schedule to publish.
type submission struct {
	schedule *managed.Schedule
	spec     []byte
	id       string // of the spec
	origin   Origin
	partial  bool // see [Publisher.Submit]
}

func newSubmission(s *managed.Schedule, origin Origin, partial bool) submission {
	spec := s.Spec()
	return submission{s, spec, IDOf(spec), origin, partial}
}

// servedIDs identifies the served changes: the published change by its ID, and the change on trial
// by its ID and number.
type servedIDs struct {
	published, trial string
	number           int
}

// New returns a serving publisher. If the history is unknown after two seconds, requests get the rules of
// Config.
func New(c Config) *Publisher {
	p := &Publisher{Config: c, wake: make(chan struct{}, 1), parsed: make(map[string]*managed.Schedule), since: c.Now(), ready: make(chan struct{})}
	p.next, p.pending = newSubmission(c.Schedule, FromConfiguration, c.Partial), true
	p.rulesWithoutHistory = sync.OnceValue(p.fallback)
	p.caches = map[policy.Segment]*pageCache{
		policy.ConfiguredHosts: newPageCache(40_000, 256<<20, p.compose),
		policy.UnknownHosts:    newPageCache(1000, 32<<20, p.compose),
	}
	return p
}

// Begin starts to submit and to publish. end stops the publisher and waits until it has stopped.
func (p *Publisher) Begin(place Place) (end func()) {
	site, release := p.Sites.Use(place.Name)
	p.place, p.site = place, site
	p.store = NewStore(p.Storage, place.Name, site, p.Now)
	p.store.OnDamaged = func(key string, err error) {
		p.Logger.Error("the history of a robots_txt is damaged and was moved", zap.String("key", key), zap.Error(err))
	}
	p.begun.Store(true)
	ctx, cancel := context.WithCancel(context.Background())
	p.continueTrial()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer release()
		defer func() {
			p.applying.Lock()
			defer p.applying.Unlock()
			p.compareOnRequests(nil, nil, nil)
			p.ended = true
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
	p.next, p.pending = next, true
	p.mu.Unlock()
	p.wakeUp()
}

func (p *Publisher) wakeUp() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// submission returns the latest submission, and whether it is still pending.
func (p *Publisher) submission() (submission, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next, p.pending
}

// submitted records the arrival of a submission in the history.
func (p *Publisher) submitted(s submission) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending = p.pending && p.next.schedule != s.schedule
}

// fallback returns the schedule to serve if the storage fails, the first of
//   - the published change, if the history is known
//   - the submission, if nothing is published, and the submission needs neither confirmation nor a trial
//   - the schedule last served without a history
//   - the schedule without rules
func (p *Publisher) fallback() *managed.Schedule {
	next, _ := p.submission()
	before, first, begun := p.noRules(), true, p.begun.Load()
	if begun {
		state, known := p.site.History()
		if known && (state.Changes > 0 || !p.isRefused.Load()) {
			if s, err := p.schedule(context.Background(), state.PublishedID()); err == nil {
				return s
			}
			return before
		}
		if served, _ := p.lastServed(); served != nil {
			before, first = served, false
		}
		if known && p.Rollout.State != "" {
			return before
		}
	}
	if len(p.reasons(before, next, first)) > 0 {
		return before
	}
	if begun {
		p.site.Serve(next.spec, true)
	}
	return next.schedule
}

// lastServed returns the last served schedule, also of the previous configuration. alone reports whether the
// schedule was served without a history. s is nil before the first schedule.
func (p *Publisher) lastServed() (s *managed.Schedule, alone bool) {
	spec, alone := p.site.Served()
	if spec == nil {
		return nil, false
	}
	s, err := managed.ParseSpec(p.Registry, spec)
	if err != nil {
		return nil, false // for example a crawler that the registry does not have any more
	}
	return s, alone
}

// noRules returns the schedule without rules.
func (p *Publisher) noRules() *managed.Schedule {
	s, err := managed.ParseSpec(p.Registry, Empty)
	if err != nil {
		panic(err) // the spec is a constant
	}
	return s
}

// Place is the position of a robots_txt handler in the configuration.
type Place struct {
	// Name identifies the handler in the history by the hosts of the site, or without hosts by the listeners
	// of the server. A second handler with the same name gets the suffix "#2", a third "#3".
	Name  string
	Hosts []string // empty for any host
}

// PlacesOf returns the places of handlers in the routes of servers.
func PlacesOf(servers []*caddyhttp.Server, is func(caddyhttp.MiddlewareHandler) bool) map[caddyhttp.MiddlewareHandler]Place {
	places := make(map[caddyhttp.MiddlewareHandler]Place)
	taken := make(map[string]int)
	for _, server := range servers {
		site.Walk(server, func(p site.Place, route caddyhttp.Route) {
			for _, handler := range route.Handlers {
				if p.Errors || !is(handler) { // a handler of an unknown type may not be a valid map key
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
				places[handler] = Place{Name: name, Hosts: hosts}
			}
		})
	}
	return places
}

// has returns a function that reports whether the place includes a host.
func (p Place) has() func(host string) bool {
	if len(p.Hosts) == 0 {
		return func(string) bool { return true }
	}
	return hasOf(p.Hosts)
}

// hasOf returns a function that reports whether a host matches the given hosts or wildcards.
func hasOf(some []string) func(host string) bool {
	hosts := site.HostsOfServer(nil)
	hosts.Add(some)
	return hosts.Has
}
