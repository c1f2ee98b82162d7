package verify

import (
	"context"
	"net/http"
	"net/netip"
	"time"

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
	// by default 50.
	Lookups, Queue, Rate int
	// LookupTimeout is how long one takes at most, by default 2 s.
	LookupTimeout time.Duration
	// KeepVerified and KeepOthers are of how many addresses a result is kept, by
	// default 16,384 and 65,536. They are rounded up to a power of two.
	KeepVerified, KeepOthers int
}

// Verifier verifies claims. It may be used by several goroutines at once, and
// lives on while its configuration changes.
type Verifier struct{}

// New returns a Verifier for which all claims are [Claimed] until it is
// configured. It starts no goroutine: look-ups run in goroutines that end with
// them, lists are fetched by [Verifier.Run].
func New(o Options) *Verifier { return &Verifier{} }

// Close ends the look-ups that are under way and begins no more. What is known
// remains in use. It may be called more than once.
func (v *Verifier) Close() {}

// Configure changes the configuration. Lists of files are read here, those of
// URLs by [Verifier.Run]; results and lists that the new configuration still has
// a use for are kept. If it returns an error, nothing has changed.
func (v *Verifier) Configure(c Config) error { return c.Validate() }

// Check says what is known about the claim of a client with the given address to
// be a crawler. It never waits; if nothing is known yet, it begins to find out.
// A nil crawler is [Claimed], as is one that is not configured.
func (v *Verifier) Check(c *uaident.Crawler, addr netip.Addr) Finding { return Finding{} }

// Run keeps the lists up to date until ctx ends: it fetches those of URLs daily
// and looks after changed files every minute. Run it once at a time.
func (v *Verifier) Run(ctx context.Context) {}

// Refresh loads all lists that have not been loaded yet, waits for them, and
// returns an error for each that could not be.
func (v *Verifier) Refresh(ctx context.Context) error { return nil }

// Explain does what [Verifier.Check] does and says why, in steps. With online it
// fetches lists that are missing, and asks DNS rather than what is remembered; it
// then waits for as long as that takes or until ctx ends.
func (v *Verifier) Explain(ctx context.Context, c *uaident.Crawler, addr netip.Addr, online bool) Explanation {
	return Explanation{}
}

// Explanation is a finding with the steps that led to it.
type Explanation struct {
	Finding Finding
	Steps   []Step
}

// Step is a sentence or two about one step.
type Step struct {
	Method Method // None for what concerns no method by itself
	Text   string
}

// Stats returns counts of what the verifier did and holds.
func (v *Verifier) Stats() Stats { return Stats{} }

// Stats are counts of a [Verifier].
type Stats struct {
	// Running is the number of look-ups under way, of at most Lookups; Waiting the
	// number of those that wait, of at most Queue.
	Running, Lookups, Waiting, Queue int
	// LookupsVerified, LookupsFailed and LookupsUnknown count look-ups since the
	// start by what they found: a confirmed name, conclusively none, or no answer.
	LookupsVerified, LookupsFailed, LookupsUnknown uint64
	// Dropped counts look-ups that did not take place because too many waited, of
	// all or of one network, or because of the rate.
	Dropped uint64
	// KeptVerified and KeptOthers are the numbers of results in memory, of at most
	// KeepVerified and KeepOthers.
	KeptVerified, KeepVerified, KeptOthers, KeepOthers int
}

// Lists returns the state of each list, sorted by source.
func (v *Verifier) Lists() []ListStatus { return nil }

// ListStatus is the state of a list of addresses.
type ListStatus struct {
	// Source is the URL or the path of the file.
	Source string
	// For are the tokens of the crawlers that it is used for.
	For []string
	// Prefixes is the number of prefixes in use; 0 if the list was never loaded.
	Prefixes int
	// Changed is when the prefixes in use were loaded, Checked when they were last
	// confirmed to be current; zero if never.
	Changed, Checked time.Time
	// Next is when a list of a URL is fetched next; zero for a file.
	Next time.Time
	// Err is why the last attempt failed, nil if it did not.
	Err error
	// Stale says that the list is too old to deny a claim.
	Stale bool
}

// Export returns the lists that were fetched, to be given to [Verifier.Import]
// after a restart.
func (v *Verifier) Export() ([]byte, error) { return nil, nil }

// Import takes over the lists that [Verifier.Export] returned, as far as they are
// configured and newer than what is loaded. It returns an error and changes
// nothing if they cannot be read.
func (v *Verifier) Import(data []byte) error { return nil }

// ParseRanges returns the prefixes of a list of addresses.
func ParseRanges(data []byte) ([]netip.Prefix, error) { return nil, nil }

// Resolver looks up names and addresses.
type Resolver interface {
	// LookupPTR returns the names of an address.
	LookupPTR(ctx context.Context, addr netip.Addr) ([]string, error)
	// LookupAddr returns the addresses of a name, of the family of like at least.
	LookupAddr(ctx context.Context, name string, like netip.Addr) ([]netip.Addr, error)
}
