package verify

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Options are what a [Verifier] keeps for as long as it lives. The zero value of
// each field means its default.
type Options struct {
	// Resolver answers look-ups instead of a DNS server, for tests.
	Resolver Resolver
	// Transport fetches lists. The default connects directly or through the proxy
	// of the environment. Whatever it is, only https URLs are fetched.
	Transport http.RoundTripper
	// UserAgent is sent when lists are fetched.
	UserAgent string
	// Now tells the time. The default is time.Now.
	Now func() time.Time
	// OnList is told of each attempt to load a list, successful or not. It is
	// called from the goroutine that loaded it.
	OnList func(ListStatus)

	// Lookups is how many look-ups run at once, by default 8; Queue how many wait,
	// by default 256; Rate how many begin a second, in the mean over a few seconds,
	// by default 50. No network may have more than a part of each.
	Lookups, Queue, Rate int
	// LookupTimeout is how long one takes at most, by default 2 s.
	LookupTimeout time.Duration
	// KeepVerified and KeepOthers are of how many addresses a result is kept, by
	// default 16,384 and 65,536. They are rounded up to a power of two.
	KeepVerified, KeepOthers int
}

// Verifier verifies claims. It may be used by several goroutines at once, and
// lives on while its configuration changes.
type Verifier struct {
	options Options
	start   time.Time
	client  *http.Client
	results *results
	lookups *lookups
	found   [numStates]atomic.Uint64 // by look-ups

	configuring sync.Mutex
	setup       atomic.Pointer[setup]
	configured  chan struct{} // tells Run, never blocks
}

// New returns a Verifier for which all claims are [Claimed] until it is
// configured. It starts no goroutine: look-ups run in goroutines that end with
// them, lists are fetched by [Verifier.Run].
func New(o Options) *Verifier {
	def := func(value *int, by int) {
		if *value <= 0 {
			*value = by
		}
	}
	def(&o.Lookups, 8)
	def(&o.Queue, 256)
	def(&o.Rate, 50)
	def(&o.KeepVerified, 16<<10)
	def(&o.KeepOthers, 64<<10)
	if o.LookupTimeout <= 0 {
		o.LookupTimeout = 2 * time.Second
	}
	if o.UserAgent == "" {
		o.UserAgent = "RobotsGuard (+https://github.com/robotsguard/caddy-robots-guard)"
	}
	v := &Verifier{configured: make(chan struct{}, 1)}
	if o.Now == nil {
		v.start = time.Now()
		o.Now = time.Now
	}
	v.options = o
	v.client = newClient(o.Transport)
	v.results = newResults(o.KeepVerified, o.KeepOthers)
	v.lookups = newLookups(o.Lookups, o.Queue, o.Rate, o.LookupTimeout, v.now)
	v.lookups.run, v.lookups.wanted = v.lookUp, v.wanted
	v.setup.Store(new(setup))
	return v
}

// Close ends the look-ups that are under way and begins no more. What is known
// remains in use. It may be called more than once.
func (v *Verifier) Close() { v.lookups.close() }

// now returns the time. It costs half as much as time.Now where that tells it.
func (v *Verifier) now() moment {
	if v.start.IsZero() {
		return v.at(v.options.Now())
	}
	return moment(time.Since(v.start))
}

func (v *Verifier) at(t time.Time) moment {
	if v.start.IsZero() {
		return moment(t.Sub(epoch))
	}
	return moment(t.Sub(v.start))
}

// epoch is where moments begin if the clock is not the system's.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Configure changes the configuration. Lists of files are read here, those of
// URLs by [Verifier.Run]; results and lists that the new configuration still has
// a use for are kept. If it returns an error, nothing has changed.
func (v *Verifier) Configure(c Config) error {
	if err := c.Validate(); err != nil {
		return err
	}
	v.configuring.Lock()
	defer v.configuring.Unlock()
	s, files, err := v.newSetup(&c, v.setup.Load())
	if err != nil {
		return err
	}
	for l, content := range files {
		l.loading.Lock()
		v.use(l, content.table)
		l.mu.Lock()
		l.state.fileTime, l.state.fileSize, l.state.err = content.time, content.size, nil
		l.mu.Unlock()
		l.loading.Unlock()
	}
	v.setup.Store(s)
	select {
	case v.configured <- struct{}{}:
	default:
	}
	return nil
}

// Check says what is known about the claim of a client with an address to
// be a crawler. It never waits; if nothing is known yet, it begins to find out.
// A nil crawler is [Claimed], as is one that is not configured. The address may be
// IPv4-mapped and have a zone; one that is not valid is [Unknown].
func (v *Verifier) Check(c *uaident.Crawler, client netip.Addr) Finding {
	if c == nil {
		return Finding{}
	}
	p := v.setup.Load().plans[c.Token]
	if p == nil {
		return Finding{}
	}
	client = addr.Normal(client)
	now := v.now()
	f, ask := v.byLists(p, client, now)
	if !ask {
		return f
	}
	s := subjectOf(client, p.scope)
	known := v.results.get(s)
	state, mute := known.at(now)
	if wants(known, now) {
		j := job{subject: s, address: client, suffixes: p.suffixes, resolver: p.resolver}
		if f.State == Spoofed {
			j.denying = p.lists
		}
		v.lookups.ask(j, now, state == Verified || state == Spoofed)
	}
	return p.combine(f, state, mute)
}

// byLists returns the finding by the lists alone, and whether it takes a look-up
// to decide.
func (v *Verifier) byLists(p *plan, client netip.Addr, now moment) (f Finding, ask bool) {
	denied, public := true, addr.FromInternet(client)
	for _, l := range p.lists {
		loaded := l.loaded.Load()
		if loaded == nil {
			denied = false
			continue
		}
		// Nobody else's list verifies an address of the owner's own network.
		if (public || l.isFile) && loaded.contains(client) {
			return Finding{Verified, Ranges}, false
		}
		if now >= loaded.deniesUntil {
			denied = false
		}
	}
	if !public {
		return Finding{State: Unknown}, false
	}
	switch {
	case !denied:
		f = Finding{State: Unknown}
	case p.denies:
		f = Finding{Spoofed, Ranges}
	}
	return f, len(p.suffixes) > 0
}

// combine returns the finding by the lists and by reverse DNS. mute says that the
// zone of the address never answers well: then it cannot take back what current
// lists of the operator deny.
func (p *plan) combine(lists Finding, dns State, mute bool) Finding {
	switch {
	case dns == Verified:
		return Finding{Verified, ReverseDNS}
	case dns == Unknown && mute && lists.State == Spoofed:
		return lists
	case dns == Unknown || lists.State == Unknown:
		return Finding{State: Unknown}
	case p.denies:
		return Finding{Spoofed, ReverseDNS}
	}
	return Finding{}
}

// wants reports whether a result, which may be nil, does no more.
func wants(known *result, now moment) bool { return known == nil || now >= known.due }

func (v *Verifier) wanted(s subject, now moment) bool { return wants(v.results.get(s), now) }

// lookUp does a job.
func (v *Verifier) lookUp(ctx context.Context, j job) {
	c := confirmDNS(ctx, j.resolver, j.address, j.suffixes)
	switch {
	case v.lookups.ctx.Err() != nil:
		return // closed: the result says nothing about the address
	case c.state == Unknown && errors.Is(ctx.Err(), context.Canceled):
		v.lookups.dropped.Add(1) // cut short for another one
		return
	}
	v.found[c.state].Add(1)
	v.remember(j.subject, c.state, c.zones && v.answers(j))
}

// answers reports whether the DNS answers about an address of a list that denies
// the job's: then it is the zone of that one which does not.
func (v *Verifier) answers(j job) bool {
	other := someAddress(j.denying, j.address)
	if !other.IsValid() {
		return false
	}
	ctx, cancel := context.WithTimeout(v.lookups.ctx, v.options.LookupTimeout/2)
	defer cancel()
	_, err := j.resolver.LookupPTR(ctx, other)
	return err == nil || errors.Is(err, ErrNoName)
}

// remember keeps what a look-up found. zones says that it is the zone of the
// address to blame for that nothing was found, rather than the DNS as a whole.
func (v *Verifier) remember(s subject, state State, zones bool) {
	now := v.now()
	v.results.put(resultOf(s, state, zones, v.results.get(s), now), now)
}

// tick is how often Run looks after lists: files that changed, and URLs whose
// time has come.
const tick = time.Minute

// Run keeps the lists up to date until ctx ends: it fetches those of URLs daily
// and looks after changed files every minute. Run it once at a time.
func (v *Verifier) Run(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		v.loadAll(ctx, v.isDue) // failures are in Lists
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-v.configured:
		}
	}
}
