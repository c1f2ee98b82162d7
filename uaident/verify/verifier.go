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

// Options configure a [Verifier] for its whole life. The zero value of a field is its
// default.
type Options struct {
	// Resolver answers DNS lookups instead of a DNS server, for tests.
	Resolver Resolver
	// Transport fetches address lists. The default connects directly or through the proxy of
	// the environment. Only https URLs are fetched.
	Transport http.RoundTripper
	// UserAgent is sent with fetches of address lists.
	UserAgent string
	// Now returns the current time. The default is time.Now.
	Now func() time.Time
	// OnList is called after each attempt of [Verifier.Run] or [Verifier.Explain] to load a list,
	// in the goroutine of the attempt. OnList is not called for a cancelled attempt, or for a file
	// that [Verifier.Configure] reads.
	OnList func(ListStatus)

	// MaxLookups is the maximum number of concurrent lookups, by default 8. MaxQueued is the
	// maximum number of queued lookups, by default 256. MaxRate is the maximum number of lookups a
	// second, averaged over a few seconds, by default 50. One network can use only a part of each.
	MaxLookups, MaxQueued, MaxRate int
	// LookupTimeout is the maximum duration of a lookup, by default 2 s.
	LookupTimeout time.Duration
	// MaxVerified and MaxOtherResults are the sizes of the two result caches in addresses, by
	// default 16,384 and 65,536. They are rounded up to a power of two.
	MaxVerified, MaxOtherResults int
}

// Verifier checks whether clients are the crawlers that their User-Agents name. A Verifier is safe
// for concurrent use and can be reconfigured.
type Verifier struct {
	options        Options
	startTime      time.Time
	client         *http.Client
	results        *resultCache
	lookups        *lookupQueue
	lookupsByState [numStates]atomic.Uint64 // The index is the result of the lookup.

	configMu      sync.Mutex
	activeConfig  atomic.Pointer[activeConfig]
	configChanged chan struct{} // A value wakes Run. Sending never blocks.
}

// New returns a Verifier without a configuration. Every client is [Claimed] until
// [Verifier.Configure]. New starts no goroutine. A lookup runs in a goroutine of its own, and
// [Verifier.Run] fetches lists.
func New(o Options) *Verifier {
	setDefault := func(value *int, by int) {
		if *value <= 0 {
			*value = by
		}
	}
	setDefault(&o.MaxLookups, 8)
	setDefault(&o.MaxQueued, 256)
	setDefault(&o.MaxRate, 50)
	setDefault(&o.MaxVerified, 16<<10)
	setDefault(&o.MaxOtherResults, 64<<10)
	if o.LookupTimeout <= 0 {
		o.LookupTimeout = 2 * time.Second
	}
	if o.UserAgent == "" {
		o.UserAgent = "RobotsGuard (+https://github.com/robotsguard/caddy-robots-guard)"
	}
	v := &Verifier{configChanged: make(chan struct{}, 1)}
	if o.Now == nil {
		v.startTime = time.Now()
		o.Now = time.Now
	}
	v.options = o
	v.client = newClient(o.Transport)
	v.results = newResultCache(o.MaxVerified, o.MaxOtherResults)
	v.lookups = newLookupQueue(o.MaxLookups, o.MaxQueued, o.MaxRate, o.LookupTimeout, v.now)
	v.lookups.run, v.lookups.needsResult = v.lookUp, v.needsLookup
	v.activeConfig.Store(new(activeConfig))
	return v
}

// Close cancels running lookups and starts no more. Cached results remain in use. Close can
// be called more than once.
func (v *Verifier) Close() { v.lookups.close() }

// now returns the current time. With the default clock, now takes half the time of time.Now.
func (v *Verifier) now() monotime {
	if v.startTime.IsZero() {
		return v.toMonotime(v.options.Now())
	}
	return monotime(time.Since(v.startTime))
}

func (v *Verifier) toMonotime(t time.Time) monotime {
	if v.startTime.IsZero() {
		return monotime(t.Sub(epoch))
	}
	return monotime(t.Sub(v.startTime))
}

// epoch is the zero monotime of a custom clock.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Configure replaces the configuration. Configure reads lists from files, and [Verifier.Run]
// fetches lists from URLs. Results and lists that the new configuration still uses stay. If
// Configure returns an error, the old configuration stays in use.
func (v *Verifier) Configure(c Config) error {
	if err := c.Validate(); err != nil {
		return err
	}
	v.configMu.Lock()
	defer v.configMu.Unlock()
	s, files, err := v.newActiveConfig(&c, v.activeConfig.Load())
	if err != nil {
		return err
	}
	for l, content := range files {
		l.loadMu.Lock()
		v.setPrefixTable(l, content.table)
		l.mu.Lock()
		l.state.fileTime, l.state.fileSize, l.state.err = content.time, content.size, nil
		l.mu.Unlock()
		l.loadMu.Unlock()
	}
	v.activeConfig.Store(s)
	select {
	case v.configChanged <- struct{}{}:
	default:
	}
	return nil
}

// Check returns the finding for a client whose User-Agent names the crawler c. Check never waits.
// If reverse DNS has to decide and no result is cached, Check starts a lookup and returns
// [Unknown]. The finding is [Claimed] for a nil crawler and for a crawler without an enabled
// method. The address can be IPv4-mapped and have a zone. An invalid address is [Unknown].
func (v *Verifier) Check(c *uaident.Crawler, client netip.Addr) Finding {
	if c == nil {
		return Finding{}
	}
	p := v.activeConfig.Load().plans[c.Token]
	if p == nil {
		return Finding{}
	}
	client = addr.Normalize(client)
	now := v.now()
	f, needsLookup := v.checkLists(p, client, now)
	if !needsLookup {
		return f
	}
	s := newResultKey(client, p.scope)
	cached := v.results.findResult(s)
	state := cached.stateAt(now)
	if isLookupDue(cached, now) {
		j := lookupJob{resultKey: s, address: client, suffixes: p.suffixes, resolver: p.resolver}
		v.lookups.enqueue(j, now, state == Verified || state == Spoofed)
	}
	return p.combineFindings(f, state)
}

// checkLists returns the finding of the address lists. needsLookup reports whether reverse DNS is
// required for the final finding.
func (v *Verifier) checkLists(p *crawlerPlan, client netip.Addr, now monotime) (f Finding, needsLookup bool) {
	denied, public := true, addr.MayBeFromInternet(client)
	for _, l := range p.lists {
		active := l.active.Load()
		if active == nil {
			denied = false
			continue
		}
		// Lists from URLs cannot verify a private address.
		if (public || l.isFile) && active.contains(client) {
			return Finding{Verified, Ranges}, false
		}
		if now >= active.deniesUntil {
			denied = false
		}
	}
	if !public {
		return Finding{State: Unknown}, false
	}
	switch {
	case !denied:
		f = Finding{State: Unknown}
	case p.deniesUnverified:
		f = Finding{Spoofed, Ranges}
	}
	return f, len(p.suffixes) > 0
}

// combineFindings returns the final finding from the finding of the address lists and the state by
// reverse DNS.
func (p *crawlerPlan) combineFindings(lists Finding, dns State) Finding {
	switch {
	case dns == Verified:
		return Finding{Verified, ReverseDNS}

	case dns == Unknown || lists.State == Unknown:
		return Finding{State: Unknown}
	case p.deniesUnverified:
		return Finding{Spoofed, ReverseDNS}
	}
	return Finding{}
}

// isLookupDue reports whether a lookup is required. cached is the result of the previous lookup, or
// nil.
func isLookupDue(cached *result, now monotime) bool { return cached == nil || now >= cached.recheckAt }

// needsLookup reports whether the key s still needs a lookup at now.
func (v *Verifier) needsLookup(s resultKey, now monotime) bool {
	return isLookupDue(v.results.findResult(s), now)
}

// lookUp runs a reverse DNS lookup and caches the result.
func (v *Verifier) lookUp(ctx context.Context, j lookupJob) {
	c := confirmDNS(ctx, j.resolver, j.address, j.suffixes)
	switch {
	case v.lookups.ctx.Err() != nil:
		return // The Verifier was closed. This says nothing about the address.
	case c.state == Unknown && errors.Is(ctx.Err(), context.Canceled):
		v.lookups.numDropped.Add(1) // The lookup was cancelled in favor of another lookup.
		return
	}
	v.lookupsByState[c.state].Add(1)
	v.cacheResult(j.resultKey, c.state)
}

// cacheResult caches the state that a reverse DNS lookup found.
func (v *Verifier) cacheResult(s resultKey, state State) {
	now := v.now()
	v.results.putResult(newResult(s, state, v.results.findResult(s), now), now)
}

// checkInterval is the interval at which Run checks for changed files and for URLs that are due.
const checkInterval = time.Minute

// Run keeps the lists up to date until ctx ends. Run fetches lists from URLs daily, and checks
// files for changes every minute. Only one call may run at a time.
func (v *Verifier) Run(ctx context.Context) {
	ticker := time.NewTicker(checkInterval)
	defer ticker.Stop()
	for {
		v.loadAll(ctx, v.isListDue) // The errors are in Lists.
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-v.configChanged:
		}
	}
}
