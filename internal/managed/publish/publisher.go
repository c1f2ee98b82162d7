package publish

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Config is the configuration of a Publisher. Its functions may be called concurrently.
type Config struct {
	// Schedule has the rules of the configuration. Partial reports that the rules of a list are
	// missing, see [Publisher.Submit].
	Schedule *managed.Schedule
	Partial  bool
	// ListNames are the names of the lists of rules. A change in which a list loses more than half
	// of its rules has to be confirmed. Lists returns the lists for a report; it may be nil.
	ListNames []string
	Lists     func() []report.ManagedList
	Registry  *uaident.Registry
	Confirm   Confirm
	Rollout   Rollout
	Gate      managed.Gate

	// Source reads the base, nil for none. SourceKey is the path of a base file, "" for the
	// response of the next handler.
	Source    origin.Source
	SourceKey string
	// Bases caches the bases. It outlives a configuration, so that the last good base does.
	Bases *policy.Cache
	// Base returns a function that returns the base of a host, nil if unknown.
	Base func() func(host string) []byte
	// RequestSites returns the site of a request. Hosts are the hosts that the configuration
	// names, none for any.
	RequestSites *request.Sites
	SiteHosts    []string

	// Storage keeps the history, and Sites its copy in memory.
	Storage Storage
	Sites   *Sites
	// Stored is closed after the storage was read for Bases and Visits, nil without a storage.
	Stored <-chan struct{}
	// Instance returns the name of this instance, which stays the same over a restart.
	Instance func() string
	// IsRunning reports whether the configuration runs. A configuration that fails to load
	// submits nothing.
	IsRunning func() bool
	// Visits returns the pages that search engines requested in the last 24 hours. A change that
	// disallows one of them has to be confirmed, and its trial ends.
	Visits func() []ledger.Visit
	// ReadSince returns the crawlers that fetched the robots.txt of some hosts since a time.
	ReadSince func(has func(host string) bool, since time.Time) []string
	// Trials judges changes on live requests; it may be nil.
	Trials Trials
	// Interval is the time between two reads of the history, 0 for a minute, or for 10 seconds
	// during a trial.
	Interval time.Duration
	Now      func() time.Time
	Logger   *zap.Logger
	Observer Observer
}

// Observer observes a Publisher. Its methods are called concurrently.
type Observer interface {
	// Composed is called with the time that composing and checking a file took.
	Composed(took time.Duration)
	// PageRequested is called for each request for a file, with whether the file was cached.
	PageRequested(cached bool)
	// PageFailed is called with the stage in which a file failed.
	PageFailed(stage string)
	// Changed is called for each change to which this instance gave another state.
	Changed(site string, change Change)
	// HistoryFailed is called when the history cannot be read or written, and with nil once it
	// can be again.
	HistoryFailed(site string, err error)
}

// The stages in which a file can fail.
const (
	StageBase    = "base"    // the base cannot be read
	StageRules   = "rules"   // a list of rules cannot be read or used
	StageCompose = "compose" // base and rules make no file
	StageGate    = "gate"    // the gate refuses the file
)

// Publisher publishes the robots.txt files of one robots_txt handler of a configuration: it
// submits the handler's rules to the history, and serves the files of the published change.
type Publisher struct {
	Config

	wake   chan struct{}
	logged string // the last error of the storage that was logged

	mu      sync.Mutex
	next    submission
	pending bool                         // next was not submitted yet
	parsed  map[string]*managed.Schedule // of the changes in use, by the IDs of their specs
	refused atomic.Bool                  // nothing is published, and the storage did not take the submission

	// Set by Begin:
	begun    atomic.Bool
	place    Place
	store    *Store
	site     *Site
	applying sync.Mutex
	served   served // guarded by applying, like the fields below
	over     bool   // the configuration has ended
	onTrial  int    // the number of the change that Trials judges, 0 for none
	endTrial func() // ends that, nil for none

	pages
}

// submission is a schedule to be published.
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

// served identifies the changes that are served: the IDs of the published change and of the change
// on trial, and the number of the latter.
type served struct {
	published, trial string
	number           int
}

// New returns a publisher. Requests are served from now on, with the rules of Config if the history
// is not known after two seconds.
func New(c Config) *Publisher {
	p := &Publisher{Config: c, wake: make(chan struct{}, 1), parsed: make(map[string]*managed.Schedule)}
	p.next, p.pending = newSubmission(c.Schedule, FromConfiguration, c.Partial), true
	p.pages = newPages(c.Now(), p.fallback)
	return p
}

// Begin starts to submit and to publish, and returns a function that stops and waits for the end.
func (p *Publisher) Begin(place Place) (end func()) {
	site, release := p.Sites.Use(place.Name)
	p.place, p.site = place, site
	p.store = NewStore(p.Storage, place.Name, site, p.Now)
	p.store.SetAside = func(key string, err error) {
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
			p.judge(nil, nil, nil)
			p.over = true
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

// endWait bounds how long the end of a configuration waits for the storage.
const endWait = 2 * time.Second

// Submit submits a schedule in the background. A partial schedule, in which the rules of a list are
// missing because the list was never read, does not replace a published change.
func (p *Publisher) Submit(schedule *managed.Schedule, origin Origin, partial bool) {
	next := newSubmission(schedule, origin, partial)
	p.mu.Lock()
	p.next, p.pending = next, true
	p.mu.Unlock()
	p.poke()
}

func (p *Publisher) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// submission returns the latest submission, and whether it was not submitted yet.
func (p *Publisher) submission() (submission, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next, p.pending
}

// submitted records that a submission is in the history.
func (p *Publisher) submitted(s submission) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending = p.pending && p.next.schedule != s.schedule
}

// fallback returns the schedule to serve if the storage does not answer, or cannot be written:
//   - the published change, if the history is known;
//   - the submission, if nothing is published and it needs neither confirmation nor a trial;
//   - the schedule that was served before without a history, or a schedule without rules.
func (p *Publisher) fallback() *managed.Schedule {
	next, _ := p.submission()
	before, first, begun := p.noRules(), true, p.begun.Load()
	if begun {
		state, known := p.site.History()
		if known && (state.Changes > 0 || !p.refused.Load()) {
			if s, err := p.schedule(context.Background(), state.PublishedID(), next); err == nil {
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

// lastServed returns the schedule that was served last, also by the configuration before, and
// whether it was served without a history. It returns nil if there is none.
func (p *Publisher) lastServed() (s *managed.Schedule, alone bool) {
	spec, alone := p.site.Served()
	if spec == nil {
		return nil, false
	}
	s, err := managed.ParseSpec(p.Registry, spec)
	if err != nil {
		return nil, false // such as a crawler that the registry does not have any more
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
