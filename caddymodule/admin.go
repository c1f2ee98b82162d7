package caddymodule

import (
	"cmp"
	"context"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/notify"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

func init() {
	caddy.RegisterModule(adminAPI{})
}

// adminAPI adds endpoints to Caddy's admin API.
type adminAPI struct{}

// CaddyModule returns the Caddy module information.
func (adminAPI) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "admin.api.robots_guard",
		New: func() caddy.Module { return new(adminAPI) },
	}
}

// Provision registers the metrics of the running configuration with the next one. /metrics may be
// requested before the guards of the next configuration are provisioned.
func (adminAPI) Provision(ctx caddy.Context) error {
	current := findRunningState()
	if current == nil {
		return nil // No configuration ran before.
	}
	return current.Metrics.RegisterWhileUsed(func() bool { return findRunningState() == current }, ctx.GetMetricsRegistry())
}

// Routes implements caddy.AdminRouter.
func (adminAPI) Routes() []caddy.AdminRoute { return admin.New(findRunningConfig).Routes() }

// runningConfig implements [admin.RunningConfig] for the running configuration. The State is nil without
// a robots_guard.
type runningConfig struct {
	*guard.State
	sites           *site.Sites
	servers         []*caddyhttp.Server
	publishers      []*publish.Publisher
	currentRegistry *registryInUse
	// receivers are the receivers of notify.
	receivers []*notify.Receiver
}

// findRunningConfig returns the running configuration.
func findRunningConfig() admin.RunningConfig {
	found := runningConfig{servers: sortedServers(caddy.ActiveContext())}
	if app := findRunningApp(); app != nil {
		found.State, found.sites, found.publishers, found.currentRegistry, found.receivers = app.state, app.sites, app.publishers, app.currentRegistry, app.receivers
	}
	return found
}

// Fetch implements admin.RunningConfig.
func (r runningConfig) Fetch(ctx context.Context, e *policy.Entry) error {
	return r.State.FetchNow(ctx, e, func(key policy.Key) (*guard.Guard, *caddyhttp.Server) {
		found := site.FindHandlerOfSite(r.servers, r.sites, key, isGuard)
		if handler, ok := found.Handler.(*Handler); ok {
			return handler.guard, found.Server
		}
		return nil, nil
	})
}

// TestNotify implements admin.RunningConfig.
func (r runningConfig) TestNotify(ctx context.Context) []notify.TestResult {
	return notify.SendTestMessages(ctx, r.receivers)
}

// Managed implements admin.RunningConfig.
func (r runningConfig) Managed() []*publish.Publisher { return r.publishers }

// Policy implements admin.RunningConfig.
func (r runningConfig) Policy(scheme, authority string) *policy.Entry {
	for _, secure := range []bool{true, false} {
		name := site.HostAsSent(authority, secure)
		found := site.FindHandler(r.servers, name, secure, isGuard)
		handler, ok := found.Handler.(*Handler)
		if ok && (scheme == "" || scheme == site.SchemeOf(secure)) && r.sites.ListensAtAuthority(found.Server, name, secure) {
			return handler.guard.GetOrCreateEntryFor(found.Server, name, secure)
		}
	}
	return nil
}

// Guard implements admin.RunningConfig.
func (r runningConfig) Guard(url string) (host string, guard *admin.Guard) {
	if host = site.HostOfURL(url); host == "" {
		return "", nil
	}
	secure := strings.HasPrefix(strings.ToLower(url), "https:")
	authority := site.HostAsSent(addr.AuthorityOfURL(url), secure)
	found, target := site.FindRedirectedHandler(r.servers, authority, secure, isGuard)
	handler, ok := found.Handler.(*Handler)
	if !ok {
		return host, nil
	}
	g := handler.guard
	authority, secure = cmp.Or(target, authority), secure || target != ""
	return host, &admin.Guard{Ambiguous: found.Ambiguous, HTTPSTarget: target, Site: strings.Join(found.Hosts, ", "), Registry: g.Registry.Load(), Settings: g.Settings, Rate: g.Rate, Fallback: g.Fallback, Key: g.KeyForAuthority(found.Server, authority, secure)}
}

// Interface guards
var (
	_ caddy.Provisioner = adminAPI{}
	_ caddy.AdminRouter = adminAPI{}
)
