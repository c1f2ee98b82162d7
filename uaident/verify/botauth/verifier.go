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

// Tag is the value of the parameter tag in Web Bot Auth signatures.
const Tag = "web-bot-auth"

// These are bounds on a request and on memory.
const (
	MaxSignatures = 4        // MaxSignatures is the maximum number of signatures with this tag in one request.
	MaxComponents = 32       // MaxComponents is the maximum number of components that one signature covers.
	MaxField      = 8 << 10  // MaxField is the maximum number of bytes of each of the signature fields.
	MaxBase       = 64 << 10 // MaxBase is the maximum number of bytes of one signature base.
	MaxNonces     = 1 << 14  // MaxNonces is the maximum number of nonces of one agent.
)

// A signature may have been created up to clockSkew in the future.
const clockSkew = time.Minute

// maxWithoutNonce is the maximum age of a signature without a nonce, which can be a copy.
const maxWithoutNonce = 5 * time.Minute

// Options configure a Verifier.
type Options struct {
	// Agents maps the origin of each allowed agent, such as "https://chatgpt.com" or
	// "chatgpt.com", to its operator. Only directories of these agents are fetched.
	Agents map[string]string
	// Client fetches directories. Its redirects and cookies are not used. nil selects a
	// client without a proxy. The client's transport can refuse private addresses.
	Client *http.Client
	// UserAgent is sent with each fetch; "" sends none.
	UserAgent string
	// MaxLifetime is the maximum time between the parameters created and expires of a signature. 0
	// selects a day.
	MaxLifetime time.Duration
	// Now is the clock, nil for the system's.
	Now func() time.Time
	// OnFetched is called after each fetch with the agent and the error or nil. Calls can be
	// concurrent, but never come after Close.
	OnFetched func(agent string, err error)
	// TestKeys accepts the Ed25519 key of RFC 9421 appendix B.1.4, with which
	// everybody can sign. For tests only.
	TestKeys bool
}

// Verifier checks the signatures of requests. Its methods may be called by
// several goroutines.
type Verifier struct {
	options Options                  // options include the defaults.
	agents  map[string]*signingAgent // The key is the origin.
	client  *http.Client

	// Fetches run in goroutines that end with ctx. Close waits for them.
	ctx    context.Context
	cancel context.CancelFunc
	// fetchSlots has one value for each running fetch that a request started.
	fetchSlots chan struct{}
	mu         sync.Mutex // This mutex orders Close and the start of a fetch.
	isClosed   bool
	wg         sync.WaitGroup
}

// New returns a Verifier that accepts signatures of the agents in o.Agents. New fetches no
// directory. An agent that is not an https origin or occurs twice is an error.
func New(o Options) (*Verifier, error) {
	if o.MaxLifetime == 0 {
		o.MaxLifetime = 24 * time.Hour
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	v := &Verifier{options: o, agents: make(map[string]*signingAgent, len(o.Agents)), client: newDirectoryClient(o.Client), fetchSlots: make(chan struct{}, maxFetches)}
	for name, operator := range o.Agents {
		origin, ok := NormalizeOrigin(name)
		if !ok {
			return nil, fmt.Errorf("web bot auth agent %q: not a host name or an https origin, for example https://bot.example", name)
		}
		if v.agents[origin] != nil {
			return nil, fmt.Errorf("web bot auth agent %q: duplicate agent %s", name, origin)
		}
		v.agents[origin] = newSigningAgent(origin, operator)
	}
	v.ctx, v.cancel = context.WithCancel(context.Background())
	return v, nil
}

// Close cancels all fetches and waits for them. Checks continue with the present keys.
func (v *Verifier) Close() {
	v.mu.Lock()
	v.isClosed = true
	v.mu.Unlock()
	v.cancel()
	v.wg.Wait()
}

// Check verifies the signatures of a request. Check never waits for the network. If a directory has
// to be fetched, the fetch runs in the background and the result is Unknown. A request without
// Signature-Input costs one map access. Do not check a request twice, because the second check
// reports a replay.
func (v *Verifier) Check(r Request) Result {
	input, ok := r.Header["Signature-Input"]
	if !ok || !slices.ContainsFunc(input, func(value string) bool { return strings.Contains(value, Tag) }) {
		return Result{}
	}
	return v.checkFields(r, input)
}
