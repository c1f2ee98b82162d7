package publish

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Config is what a Release goes by. The functions may be asked by any goroutine.
type Config struct {
	Wanted *managed.Schedule // what the configuration says
	Lacks  bool              // see [Release.Submit]
	// Lists are the names of the lists of rules that the configuration has: a change in which
	// one of them loses more than half of its rules has to be confirmed.
	Lists    []string
	Registry *uaident.Registry
	Confirm  Confirm
	Rollout  Rollout
	// Storage keeps the history, Sites what this instance knows of it.
	Storage Storage
	Sites   *Sites
	// Instance is the name of this instance, which it has after a restart, too.
	Instance func() string
	// IsRunning reports whether the configuration runs: one that fails to load has
	// changed nothing.
	IsRunning func() bool
	// Base returns the base at a host, nil while that is not known, and Visits the pages
	// that search engines requested lately: a change that shuts them out has to be
	// confirmed, and a trial of it ends.
	Base   func() func(host string) []byte
	Visits func() []ledger.Visit
	// Stored is closed once Visits has what is stored of them, nil if nothing is.
	Stored <-chan struct{}
	// ReadSince returns which crawlers have read the robots.txt of some hosts since a
	// time, by name.
	ReadSince func(has func(host string) bool, since time.Time) []string
	Trials    Trials
	// Interval is how often the history is read again, 0 for once a minute, and more often
	// while a change is tried.
	Interval time.Duration
	Now      func() time.Time
	Logger   *zap.Logger
	Observer Observer
}

// Observer is told what becomes of changes.
type Observer interface {
	// Changed is told of each change to which this instance gave another state.
	Changed(site string, change Change)
	// HistoryFailed is told that the history cannot be read or written, and nil once
	// it can be again.
	HistoryFailed(site string, err error)
}

// Release is a robots_txt of a configuration, from its start to its end.
type Release struct {
	Config
	wake chan struct{}
	told string // what was said last of the storage

	mu      sync.Mutex
	wish    wish
	pending bool                         // the wish was not submitted yet
	parsed  map[string]*managed.Schedule // what is in use, by the IDs of specs
	refused atomic.Bool                  // nothing is published, and the storage did not take what is wanted

	// Since Begin:
	begun     atomic.Bool
	publisher *Publisher
	place     Place
	store     *Store
	site      *Site
	applying  sync.Mutex
	served    served // guarded by applying, as is what follows
	over      bool   // the configuration has ended, and tells nobody anything any more
	judged    int    // the number of the change that is judged beside what is published, 0 for none
	endTrial  func() // of that, nil for none
}

// wish is what is to be submitted.
type wish struct {
	schedule *managed.Schedule
	spec     []byte
	id       string // of the spec
	origin   Origin
	lacks    bool // see [Release.Submit]
}

func newWish(s *managed.Schedule, origin Origin, lacks bool) wish {
	spec := s.Spec()
	return wish{s, spec, IDOf(spec), origin, lacks}
}

// served is what the publisher was told last: the IDs of what is published and tried,
// and of the latter the number.
type served struct {
	published, tried string
	number           int
}

// New returns a release that has not begun.
func New(c Config) *Release {
	r := &Release{Config: c, wake: make(chan struct{}, 1), parsed: make(map[string]*managed.Schedule)}
	r.wish, r.pending = newWish(c.Wanted, FromConfiguration, c.Lacks), true
	return r
}

// Begin begins to submit and to serve, and returns what ends that and waits for it.
func (r *Release) Begin(p *Publisher, place Place) (end func()) {
	site, release := r.Sites.Use(place.Name)
	r.publisher, r.place, r.site = p, place, site
	r.store = NewStore(r.Storage, place.Name, site, r.Now)
	r.store.SetAside = func(key string, err error) {
		r.Logger.Error("the history of a robots_txt is damaged; it is kept aside", zap.String("key", key), zap.Error(err))
	}
	r.begun.Store(true)
	r.takeOver()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer release()
		defer func() {
			r.applying.Lock()
			defer r.applying.Unlock()
			r.judge(nil, nil, nil)
			r.over = true
		}()
		r.run(ctx)
	}()
	return func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(endWait): // a storage that hangs
		}
	}
}

// endWait is how long the end of a configuration waits for the storage.
const endWait = 2 * time.Second

// Submit says what is wanted from now on. It returns at once: what comes of it is in the
// history. A schedule that lacks the rules of a list that was never read does not take the
// place of what is published.
func (r *Release) Submit(schedule *managed.Schedule, origin Origin, lacks bool) {
	w := newWish(schedule, origin, lacks)
	r.mu.Lock()
	r.wish, r.pending = w, true
	r.mu.Unlock()
	r.poke()
}

func (r *Release) poke() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// wanted returns what is wanted, and whether it was not submitted yet.
func (r *Release) wanted() (wish, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wish, r.pending
}

// submitted notes that a wish is in the history.
func (r *Release) submitted(w wish) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = r.pending && r.wish.schedule != w.schedule
}

// Otherwise returns what is served where the storage does not answer, or cannot be written:
// what was published as far as this instance knows. Where nothing is known, or nobody has
// published anything and the storage does not take what is wanted, it is what is wanted, if
// nobody has to confirm that and it is not to be tried first, and else what was served so
// before, or no rule at all.
func (r *Release) Otherwise() *managed.Schedule {
	w, _ := r.wanted()
	before, first, begun := r.nothing(), true, r.begun.Load()
	if begun {
		state, known := r.site.History()
		if known && (state.Changes > 0 || !r.refused.Load()) {
			if s, err := r.schedule(context.Background(), state.PublishedID(), w); err == nil {
				return s
			}
			return before
		}
		if served, _ := r.lastServed(); served != nil {
			before, first = served, false
		}
		if known && r.Rollout.State != "" {
			return before
		}
	}
	if len(r.reasons(before, w, first)) > 0 {
		return before
	}
	if begun {
		r.site.Serve(w.spec, true)
	}
	return w.schedule
}

// lastServed returns what was served last, also by a configuration before, nil for nothing, and
// whether that was so while no history was known.
func (r *Release) lastServed() (s *managed.Schedule, alone bool) {
	spec, alone := r.site.Served()
	if spec == nil {
		return nil, false
	}
	s, err := managed.ParseSpec(r.Registry, spec)
	if err != nil {
		return nil, false // such as of a crawler that the registry has no more
	}
	return s, alone
}

// nothing returns the schedule without a rule.
func (r *Release) nothing() *managed.Schedule {
	s, err := managed.ParseSpec(r.Registry, Empty)
	if err != nil {
		panic(err) // it says nothing
	}
	return s
}
