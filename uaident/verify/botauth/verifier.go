package botauth

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Tag is the value of the parameter tag that makes a signature one of this kind.
const Tag = "web-bot-auth"

// What is read of a request, and what is remembered.
const (
	MaxSignatures = 4        // of this tag, in one request
	MaxComponents = 32       // covered by one signature
	MaxField      = 8 << 10  // bytes of each of the signature fields
	MaxBase       = 64 << 10 // bytes of what one signature covers
	MaxNonces     = 1 << 14  // of one agent
)

// clockSkew is how far in the future a signature may have been created.
const clockSkew = time.Minute

// maxWithoutNonce is for how long after its creation a signature without a nonce
// counts: it may be a copy, and nothing tells.
const maxWithoutNonce = 5 * time.Minute

// Options are what a Verifier is made of.
type Options struct {
	// Agents are the agents whose signatures count, and whose directories may
	// be fetched: from the origin, such as "https://chatgpt.com", to the operator.
	// "chatgpt.com" means the same.
	Agents map[string]string
	// Client fetches directories, nil for one without a proxy. Its redirects are
	// not followed, its cookies not used. The names of the agents are the owner's;
	// to refuse private addresses all the same is up to the client's transport.
	Client *http.Client
	// UserAgent is sent with each fetch; "" sends none.
	UserAgent string
	// MaxLifetime is the longest time between created and expires, 0 for a day.
	MaxLifetime time.Duration
	// Now is the clock, nil for the system's.
	Now func() time.Time
	// Fetched is called after each fetch with the agent and with what went wrong,
	// nil if nothing did: the time to log. It is called by several goroutines, and
	// not once Close was called.
	Fetched func(agent string, err error)
	// TestKeys accepts the Ed25519 key of RFC 9421 appendix B.1.4, with which
	// everybody can sign. For tests only.
	TestKeys bool
}

// Verifier checks the signatures of requests. Its methods may be called by
// several goroutines.
type Verifier struct {
	agents      map[string]*agent // by origin
	client      *http.Client
	userAgent   string
	maxLifetime time.Duration
	now         func() time.Time
	fetched     func(agent string, err error)
	testKeys    bool

	// Fetches run in goroutines that end with ctx and that Close waits for.
	ctx    context.Context
	cancel context.CancelFunc
	slots  chan struct{} // one for each fetch that runs
	mu     sync.Mutex    // orders Close and the start of a fetch
	closed bool
	wg     sync.WaitGroup
}

// New returns a Verifier, which fetches nothing until a signature asks for it.
// It fails if a name in o.Agents is no https origin or names one a second time.
func New(o Options) (*Verifier, error) {
	v := &Verifier{
		agents: make(map[string]*agent, len(o.Agents)), client: directoryClient(o.Client), userAgent: o.UserAgent,
		maxLifetime: o.MaxLifetime, now: o.Now, fetched: o.Fetched, testKeys: o.TestKeys,
		slots: make(chan struct{}, maxFetches),
	}
	for name, operator := range o.Agents {
		origin, ok := Origin(name)
		if !ok {
			return nil, fmt.Errorf("web bot auth agent %q: not a host name or an https origin such as https://bot.example", name)
		}
		if v.agents[origin] != nil {
			return nil, fmt.Errorf("web bot auth agent %q: %s is named twice", name, origin)
		}
		v.agents[origin] = newAgent(origin, operator)
	}
	if v.maxLifetime == 0 {
		v.maxLifetime = 24 * time.Hour
	}
	if v.now == nil {
		v.now = time.Now
	}
	v.ctx, v.cancel = context.WithCancel(context.Background())
	return v, nil
}

// Close ends all fetches and waits for them. Checks go on with what is there.
func (v *Verifier) Close() {
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.cancel()
	v.wg.Wait()
}

// Check verifies the signature of a request. It never waits for the network: if
// a directory has to be fetched, that happens in the background and the result
// is Unknown. Without a Signature-Input it does nothing at all. A request must
// not be checked twice, for the second time its nonce is a replay.
func (v *Verifier) Check(r Request) Result {
	input, ok := r.Header["Signature-Input"]
	if !ok || !slices.ContainsFunc(input, func(value string) bool { return strings.Contains(value, Tag) }) {
		return Result{}
	}
	return v.check(r, input)
}
