package caddymodule

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/handlerorder"
	"github.com/robotsguard/caddy-robots-guard/internal/identity"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/notify"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/internal/store"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func init() {
	caddy.RegisterModule(new(App))
}

// App has the settings and the state that all guards of a server share. The app is optional.
type App struct {
	// The maximum number of configured sites whose robots.txt is cached. The least recently used
	// site is evicted, and its robots.txt is fetched again when needed. Default: `10000`, or twice
	// the number of configured hosts if that is more.
	MaxPolicies int `json:"policies,omitempty"`

	// The maximum number of unknown hosts whose robots.txt is cached. Wildcard and catch-all sites
	// serve these hosts, and clients can invent them. Hosts in use are not evicted. Default:
	// `1000`.
	UnknownHosts int `json:"unknown_hosts,omitempty"`

	// The maximum number of concurrent fetches for unknown hosts. The sites share this number, and
	// each site may always run one fetch. Default: `8`.
	UnknownHostFetches int `json:"unknown_host_fetches,omitempty"`

	// Whether to store data in Caddy's [storage](https://caddyserver.com/docs/json/storage/), so
	// that the data survive a restart: the last good version and past versions of each robots.txt,
	// pending changes, and counts. Of the unknown hosts, the 256 most used are stored. Instances
	// with the same storage share these data. Default: `true` if Caddy's storage is a local
	// directory, else `false`.
	Storage *bool `json:"storage,omitempty"`

	// How long counts and evidence are stored, from one hour to 90 days. Default: `2160h`, which is
	// 90 days.
	Retention caddy.Duration `json:"retention,omitempty"`

	// Receivers of alerts: chat services, mail or webhooks.
	Notify []Receiver `json:"notify,omitempty"`

	// Hosts such as `www.example.com` or `*.example.com` that must not be staging hosts. A
	// configuration does not load if the option `staging` of a `robots_txt` applies to one of these
	// hosts.
	Production []string `json:"production,omitempty"`

	// How to verify that clients are the crawlers that they claim to be. Default: no
	// verification, because it sends DNS and HTTP requests.
	Verify *Verify `json:"verify,omitempty"`

	// Crawlers to add to the registry, or to change in the registry.
	Crawlers []Crawler `json:"crawlers,omitempty"`

	// A file or URL with crawlers that extend the built-in registry. The option `crawlers`
	// overrides both. A change takes effect without a reload.
	RegistrySource *Registry `json:"registry,omitempty"`

	sites            *site.Sites
	registry         *uaident.Registry // registry validates tokens and classes of the configuration.
	currentRegistry  *registryInUse    // currentRegistry identifies the clients of requests.
	identity         *identity.Checker
	stopVerification func() error // stopVerification ends the use of the settings of verify.
	stopSignatures   func()       // stopSignatures ends the use of the signing agents.

	ctx    caddy.Context
	logger *zap.Logger
	state  *guard.State

	events       *guard.Events
	receivers    []*notify.Receiver
	stopFuncs    []func() // stopFuncs undo what Start has done.
	cancel       context.CancelFunc
	storeStopped <-chan struct{} // storeStopped is closed when the store has stopped.

	// managedStarters are the handlers that start with the configuration.
	managedStarters []ManagedStarter
	publishers      []*publish.Publisher // publishers are the publishers of these handlers.
	// afterRestore is called after the store has loaded its data.
	afterRestore func()
	// storesManagedBases is true if some robots_txt has a base to store.
	storesManagedBases bool
	// isOrderChecked is true if the order of handlers was checked.
	isOrderChecked bool
	isUsed         bool // isUsed is true if another module has called UseApp.
	// needsIdentity is true if an option depends on verified identities.
	needsIdentity bool
	// usesPathVerdict is true if the configuration uses the path verdict.
	usesPathVerdict bool
	// cachedManagedHandlers is the result of FindManagedHandlers.
	cachedManagedHandlers handlerorder.RobotsTXTHandlers
	// metricsRegistered is true if the collectors are registered with the configuration.
	metricsRegistered bool
}

// CaddyModule returns the Caddy module information.
func (*App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "robots_guard",
		New: func() caddy.Module { return new(App) },
	}
}

// Provision sets up the app. "caddy validate" calls Provision too, so Provision writes nothing to
// the storage, and reads only the stored registry.
func (a *App) Provision(ctx caddy.Context) (err error) {
	a.ctx = ctx
	a.logger = ctx.Logger()
	a.sites = &site.Sites{
		Servers:        func() []*caddyhttp.Server { return sortedServers(ctx) },
		ConfiguredPort: func(secure bool) int { return configuredPort(ctx, secure) },
		IsGuard:        isModuleHandler,
	}
	if err := a.Validate(); err != nil {
		return err
	}
	if a.registry, err = a.RegistrySource.Resolve(a.Crawlers, false); err != nil {
		return err
	}
	if a.currentRegistry, err = provisionRegistry(ctx, a.RegistrySource, a.Crawlers, a.logger); err != nil {
		return err
	}
	if err := a.checkAddressLists(); err != nil {
		return err
	}
	if a.state, err = acquireState(ctx); err != nil {
		return err
	}
	if a.receivers, err = notify.NewReceivers(a.receiverConfigs(), a.state.Metrics, a.logger); err != nil {
		return err
	}
	if a.events, err = guard.NewEvents(ctx, a.logger); err != nil {
		return err
	}
	if err := guard.OnCaddyStarted(ctx, a.startWatching); err != nil {
		return err
	}
	if err := a.provisionIdentity(); err != nil || !a.historyStatus().SurvivesRestart {
		return err
	}
	a.afterRestore = a.state.Memory.AnnounceStore(ctx)
	return nil
}

// provisionIdentity sets up the identification of clients.
func (a *App) provisionIdentity() error {
	a.identity = &identity.Checker{OnSignature: a.state.Metrics.CountSignatureCheck, Logger: a.logger}
	if a.Verify == nil {
		return nil
	}
	a.identity.Verifier = a.state.Identity.Verifier
	return a.startSignatureVerification(a.currentRegistry.Load())
}

// findRunningApp returns the app of the running configuration, or nil if the configuration has no
// robots_guard.
func findRunningApp() *App {
	app, err := caddy.ActiveContext().AppIfConfigured("robots_guard")
	if err != nil {
		return nil
	}
	running, _ := app.(*App)
	return running
}

// findHTTPApp returns the HTTP app of a configuration. Without one, it returns an app without
// servers.
func findHTTPApp(ctx caddy.Context) *caddyhttp.App {
	if app, err := ctx.AppIfConfigured("http"); err == nil {
		if app, ok := app.(*caddyhttp.App); ok {
			return app
		}
	}
	return new(caddyhttp.App)
}

// sortedServers returns the HTTP servers of a configuration, sorted by name.
func sortedServers(ctx caddy.Context) (servers []*caddyhttp.Server) {
	app := findHTTPApp(ctx)
	for _, name := range slices.Sorted(maps.Keys(app.Servers)) {
		servers = append(servers, app.Servers[name])
	}
	return servers
}

// configuredPort returns http_port of a configuration, or https_port if secure is true. Zero means
// the default port.
func configuredPort(ctx caddy.Context, secure bool) int {
	if secure {
		return findHTTPApp(ctx).HTTPSPort
	}
	return findHTTPApp(ctx).HTTPPort
}

// modesBySite returns the mode of the guard of each site, by the site's label. The mode is
// [ledger.ModeMixed] if guards of a site differ.
func (a *App) modesBySite() map[string]string {
	modes := make(map[string]string)
	a.visitGuards(func(label string, guard *Handler) {
		if mode := modes[label]; mode != "" && mode != guard.Mode {
			modes[label] = ledger.ModeMixed
		} else {
			modes[label] = guard.Mode
		}
	})
	return modes
}

// visitGuards calls visit with each guard and the label of each of its sites.
func (a *App) visitGuards(visit func(label string, guard *Handler)) {
	for _, server := range sortedServers(a.ctx) {
		site.WalkRoutes(server, func(p site.RoutePlace, route caddyhttp.Route) {
			for _, handler := range route.Handlers {
				guard, ok := handler.(*Handler)
				if !ok || p.IsErrorRoute {
					continue
				}
				labels := a.sites.HostsOfServer(server).LabelsForRoute(p.Hosts)
				if guard.Decide != nil {
					labels = guard.Decide.siteLabels()
				}
				for _, label := range labels {
					visit(label, guard)
				}
			}
		})
	}
}

// isModuleHandler reports whether a handler is a robots_guard or robots_txt.
func isModuleHandler(handler caddyhttp.MiddlewareHandler) bool {
	return isGuard(handler) || caddy.GetModuleName(handler) == handlerorder.RobotsTXT
}

// isGuard reports whether a handler is a robots_guard.
func isGuard(handler caddyhttp.MiddlewareHandler) bool {
	_, ok := handler.(*Handler)
	return ok
}

// Start applies the settings, starts the robots_txt handlers and opens the storage. It warns about
// options without effect.
func (a *App) Start() (err error) {
	if a.stopVerification, err = a.state.Identity.ApplyConfig(a.verifierConfig(a.currentRegistry.Load())); err != nil {
		return err
	}
	if !a.isUsed {
		a.logger.Warn("the global option robots_guard has no effect without the directive; add robots_guard to the sites")
	} else if a.Verify != nil && !a.needsIdentity {
		a.logger.Warn("verify has no effect: no site has robots_guard, and no matcher robots_crawler names an identity; write robots_guard into a site, or remove verify")
	}
	a.MaxPolicies = guard.MaxPoliciesFor(a.MaxPolicies, a.sites.NumGuardedHosts(), a.logger)
	a.stopFuncs = []func(){
		a.state.UseSettings(guard.Settings{
			Sites:     guard.ConfiguredSites{IsConfigured: a.sites.IsHostLabel, Modes: a.modesBySite()},
			Sizes:     guard.CacheSizes{MaxPolicies: a.MaxPolicies, UnknownHosts: a.UnknownHosts, UnknownHostFetches: a.UnknownHostFetches},
			Retention: time.Duration(a.Retention),
			History:   a.historyStatus(),
			Registry:  a.currentRegistry.CurrentRegistry,
		}),
		a.state.SetRegistryStatus(a.currentRegistry.Status),
		a.currentRegistry.Start(a.ctx.Storage(), a.prepareRegistry, a.events.Send),
	}
	a.startManagedHandlers()
	a.state.RefetchAll(a.ctx)
	a.state.Alerts.Watch(a.ctx)
	notify.StartReceivers(a.ctx, a.receivers, &a.state.SentAlerts, a.state.Alerts)
	// Stored lists need no new requests.
	if a.Verify != nil {
		defer a.state.Identity.RefreshLists(a.ctx, a.logger)
	}
	if !a.historyStatus().SurvivesRestart && !a.storesManagedBases {
		return nil
	}
	var ctx context.Context
	ctx, a.cancel = context.WithCancel(a.ctx)
	a.storeStopped = a.newStore().Start(ctx, !a.state.HasRobotsOfConfiguredSite())
	return nil
}

// startWatching is called after all apps have started. It starts to emit events about the response
// audit, and to test how the sites serve their robots.txt. A test may need other sites of this
// server, for example for a login.
func (a *App) startWatching() {
	go a.state.EmitAuditEvents(a.ctx, a.events)
	test := site.SelfTest{Sites: site.SelfTestSites(a.sites, describeForSelfTest), OnCrawlerResponse: a.state.RecordSelfTest, Logger: a.logger}
	a.stopFuncs = append(a.stopFuncs, test.Start(a.ctx))
}

// Stop writes pending data. It closes the store before the configuration closes Caddy's storage.
func (a *App) Stop() error {
	defer func() { // This drops address lists, after they were stored.
		if err := a.stopVerification(); err != nil {
			a.logger.Warn("the previous configuration cannot restore its verification of crawlers", zap.Error(err))
		}
	}()
	for _, release := range a.stopFuncs {
		release()
	}
	if a.cancel == nil {
		return nil
	}
	a.cancel()
	select {
	case <-a.storeStopped:
	case <-time.After(store.StopTimeout):
		a.logger.Warn("the storage is too slow; the last fetches and counts may be lost")
	}
	return nil
}

// CheckOrder checks the order of the handlers and matchers of the configuration. Only the first
// call has an effect. ctx is the context of the configuration.
func (a *App) CheckOrder(ctx caddy.Context) error {
	if a.isOrderChecked {
		return nil
	}
	a.isOrderChecked = true
	// A template may use any placeholder.
	a.usesPathVerdict = a.usesPathVerdict || handlerorder.RoutesContain(ctx, guard.PathPlaceholder, `"handler":"templates"`)
	return handlerorder.Check(ctx, a.logger)
}

// UseApp returns the app of the configuration that ctx provisions. Without the global option, it
// returns an app with the defaults.
func UseApp(ctx caddy.Context) (*App, error) {
	app, err := ctx.App("robots_guard")
	if err != nil {
		return nil, err
	}
	robotsApp := app.(*App)
	robotsApp.isUsed = true
	return robotsApp, nil
}

// Registry returns the crawlers that are known now. A new version of a fetched registry changes the
// result.
func (a *App) Registry() *uaident.Registry { return a.currentRegistry.Load() }

// Interface guards
var (
	_ caddy.App             = (*App)(nil)
	_ caddy.Provisioner     = (*App)(nil)
	_ caddy.Validator       = (*App)(nil)
	_ caddyfile.Unmarshaler = (*App)(nil)
)
