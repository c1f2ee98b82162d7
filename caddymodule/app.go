package caddymodule

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify/botauth"
)

func init() {
	caddy.RegisterModule(App{})
}

// App holds what all guards of a server share. It is optional; without it the
// defaults hold.
type App struct {
	// For how many sites that the configuration names the robots.txt is kept.
	// Beyond that, the sites that were not asked for longest are dropped and
	// read again when they are needed. Default: `10000`.
	Policies int `json:"policies,omitempty"`

	// For how many hosts that only a wildcard or a catch-all site takes the
	// robots.txt is kept. Clients can invent such hosts; those in use stay.
	// Default: `1000`.
	UnnamedHosts int `json:"unnamed_hosts,omitempty"`

	// How many robots.txt of such hosts are read at the same time. The sites
	// share these attempts, and each may always make one. Default: `8`.
	UnnamedReads int `json:"unnamed_reads,omitempty"`

	// Keep the last good version of each robots.txt in Caddy's
	// [storage](https://caddyserver.com/docs/json/storage/), so that it is
	// known again after a restart even if the site cannot be read then, with
	// the crawlers that have read it and the changes that are held back. Of
	// hosts that no site names the 256 used most are kept.
	// Instances that share a storage share what they know. Default: `false`.
	Storage bool `json:"storage,omitempty"`

	// For how long the counts and the evidence of what crawlers did are kept,
	// from one hour to 90 days. Default: `2160h`, which is 90 days.
	Retention caddy.Duration `json:"retention,omitempty"`

	// Verify that clients are the crawlers that they claim to be. Default: not
	// at all, since that takes requests to others.
	Verify *Verify `json:"verify,omitempty"`

	// Crawlers that the registry does not know, or about which it is wrong.
	Crawlers []Crawler `json:"crawlers,omitempty"`

	servers    *sync.Map // *caddyhttp.Server to its *hosts; nil without a server
	registry   *uaident.Registry
	signatures *botauth.Verifier // nil if those of requests are not verified
	verifying  uint64
	warned     *proxyWarnings

	ledger    *ledgerStore
	retaining uint64

	ctx    caddy.Context
	logger *zap.Logger
	state  *state
	claim  uint64
	cancel context.CancelFunc
	done   <-chan struct{} // closed when the store has ended

	restored context.CancelFunc // is called once it is known what is stored
}

// CaddyModule returns the Caddy module information.
func (App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "robots_guard",
		New: func() caddy.Module { return new(App) },
	}
}

// Provision sets up the app. It runs for "caddy validate", too, so the storage
// is left alone.
func (a *App) Provision(ctx caddy.Context) error {
	a.ctx = ctx
	a.logger = ctx.Logger()
	a.warned = new(proxyWarnings)
	a.servers = new(sync.Map)
	if err := a.Validate(); err != nil {
		return err
	}
	if a.Policies == 0 {
		a.Policies = namedBounds.Entries
	}
	var err error
	if a.registry, err = registryWith(a.Crawlers); err != nil {
		return err
	}
	if err := a.checkLists(); err != nil {
		return err
	}
	if err := a.provisionSignatures(ctx); err != nil {
		return err
	}
	if a.state, err = acquireState(ctx); err != nil || !a.Storage {
		return err
	}
	var known context.Context
	known, a.restored = context.WithCancel(ctx)
	done := known.Done()
	a.state.restored.Store(&done)
	return nil
}

// The most that App.Policies and App.UnnamedHosts, and App.UnnamedReads, can be.
const (
	maxPolicies     = 1_000_000
	maxUnnamedReads = 1000
)

// Validate checks the configuration.
func (a *App) Validate() error {
	if a.Policies < 0 || a.Policies > maxPolicies {
		return fmt.Errorf("policies %d cannot be; use a number from 1 to %d", a.Policies, maxPolicies)
	}
	if a.UnnamedHosts < 0 || a.UnnamedHosts > maxPolicies {
		return fmt.Errorf("unnamed_hosts %d cannot be; use a number from 1 to %d", a.UnnamedHosts, maxPolicies)
	}
	if a.UnnamedReads < 0 || a.UnnamedReads > maxUnnamedReads {
		return fmt.Errorf("unnamed_reads %d cannot be; use a number from 1 to %d", a.UnnamedReads, maxUnnamedReads)
	}
	if r := time.Duration(a.Retention); r != 0 && (r < ledger.MinRetention || r > ledger.MaxRetention) {
		return fmt.Errorf("retention %s cannot be; use a time from 1h to 90d", r)
	}
	if err := a.Verify.validate(); err != nil {
		return err
	}
	for _, c := range a.Crawlers {
		if a.Verify == nil && (len(c.Ranges)+len(c.RDNS) > 0 || c.WebBotAuth != "") {
			return fmt.Errorf("crawler %s: ranges, rdns and web_bot_auth are used by verify only, which is off; add verify on, or verify { ranges configured } to read no other list", c.Token)
		}
	}
	registry, err := registryWith(a.Crawlers)
	if err != nil {
		return err
	}
	if _, err := agentsOf(registry); err != nil {
		return err
	}
	checked := App{Verify: a.Verify, Crawlers: a.Crawlers, registry: registry}
	c := checked.config()
	return c.Validate()
}

// Start looks at the routes as a whole, applies the bound and begins to use the
// storage.
func (a *App) Start() error {
	if err := a.startVerifying(); err != nil {
		return err
	}
	a.warnOfUndone()
	a.claim, _ = a.state.sizes.add(sizes{a.Policies, a.UnnamedHosts, a.UnnamedReads}, a.state.resize)
	a.retaining, _ = a.state.retentions.add(time.Duration(a.Retention), a.state.retain)
	// What is stored saves asking for lists again.
	defer a.refreshLists()
	if !a.Storage {
		return nil
	}
	s := newStore(a.ctx, instanceID(a.logger), a.state, a.logger)
	s.maxKeys = maxKeysFor(a.Policies)
	var ctx context.Context
	ctx, a.cancel = context.WithCancel(a.ctx)
	s.restored = a.restored
	a.done = s.start(ctx, !a.state.warm())
	a.ledger = newLedgerStore(a.ctx, s.instance, a.state, time.Duration(a.Retention), a.logger)
	a.ledger.start(ctx)
	return nil
}

// Stop writes what is pending and ends the use of the storage, which the
// configuration closes next.
func (a *App) Stop() error {
	_ = a.state.sizes.release(a.claim, a.state.resize)
	defer a.stopVerifying() // forgets lists of addresses that are to be stored before
	_ = a.state.retentions.release(a.retaining, a.state.retain)
	if a.cancel == nil {
		return nil
	}
	a.cancel()
	begun := time.Now()
	if !ended(a.done, stopWait) {
		a.logger.Warn("the storage is too slow; what was read last may not be in it")
	}
	if !ended(a.ledger.done, stopWait-time.Since(begun)) {
		a.logger.Warn("the storage is too slow; what was counted last may not be in it")
	}
	return nil
}

// warm reports whether the robots.txt of some configured site is known.
func (s *state) warm() bool {
	for _, e := range s.cache.Entries() {
		if standing := e.Standing(); e.Segment() == policy.Named && standing != nil && standing.Good != nil {
			return true
		}
	}
	return false
}

// Interface guards
var (
	_ caddy.App         = (*App)(nil)
	_ caddy.Provisioner = (*App)(nil)
	_ caddy.Validator   = (*App)(nil)
)
