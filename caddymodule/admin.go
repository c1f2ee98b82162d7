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
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

func init() {
	caddy.RegisterModule(adminPolicies{})
}

// adminPolicies adds endpoints to Caddy's admin API.
type adminPolicies struct{}

// CaddyModule returns the Caddy module information.
func (adminPolicies) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "admin.api.robots_guard",
		New: func() caddy.Module { return new(adminPolicies) },
	}
}

// Provision registers the metrics of the running configuration with the next one. /metrics may be
// requested before the guards of the next configuration are provisioned.
func (adminPolicies) Provision(ctx caddy.Context) error {
	known := sharedNow()
	if known == nil {
		return nil // the first configuration
	}
	return known.Metrics.RegisterWhile(func() bool { return sharedNow() == known }, ctx.GetMetricsRegistry())
}

// Routes implements caddy.AdminRouter.
func (adminPolicies) Routes() []caddy.AdminRoute { return admin.New(findRunning).Routes() }

// running is the running configuration for the admin API. The state is nil without a robots_guard.
type running struct {
	*guard.State
	sites   *request.Sites
	servers []*caddyhttp.Server
	managed []*publish.Publisher
	known   *registryInUse
	// receivers are the receivers of notify.
	receivers []*notify.Receiver
}

func findRunning() admin.Running {
	found := running{servers: serversOf(caddy.ActiveContext())}
	if app := runningApp(); app != nil {
		found.State, found.sites, found.managed, found.known, found.receivers = app.state, app.sites, app.running, app.known, app.receivers
	}
	return found
}

// Fetch implements admin.Running.
func (r running) Fetch(ctx context.Context, e *policy.Entry) error {
	return r.State.ReadNow(ctx, e, func(key policy.Key) (*guard.Guard, *caddyhttp.Server) {
		found := request.FindFor(r.servers, r.sites, key, isGuard)
		if handler, ok := found.Handler.(*Handler); ok {
			return handler.guard, found.Server
		}
		return nil, nil
	})
}

// TestNotify implements admin.Running.
func (r running) TestNotify(ctx context.Context) []notify.Tested {
	return notify.Test(ctx, r.receivers)
}

// Managed implements admin.Running.
func (r running) Managed() (all []admin.Managed) {
	for _, m := range r.managed {
		all = append(all, m)
	}
	return all
}

// Policy implements admin.Running.
func (r running) Policy(scheme, authority string) *policy.Entry {
	for _, secure := range []bool{true, false} {
		name := request.AsSent(authority, secure)
		found := request.Find(r.servers, name, secure, isGuard)
		handler, ok := found.Handler.(*Handler)
		if ok && (scheme == "" || scheme == request.SchemeOf(secure)) && r.sites.IsAt(found.Server, name, secure) {
			return handler.guard.PolicyOf(found.Server, name, secure)
		}
	}
	return nil
}

// Guard implements admin.Running.
func (r running) Guard(url string) (host string, guard *admin.Guard) {
	if host = request.HostOf(url); host == "" {
		return "", nil
	}
	secure := strings.HasPrefix(strings.ToLower(url), "https:")
	authority := request.AsSent(addr.Authority(url), secure)
	found, target := request.FindRedirected(r.servers, authority, secure, isGuard)
	handler, ok := found.Handler.(*Handler)
	if !ok {
		return host, nil
	}
	g := handler.guard
	authority, secure = cmp.Or(target, authority), secure || target != ""
	return host, &admin.Guard{Ambiguous: found.Several, HTTPSTarget: target, Site: strings.Join(found.Hosts, ", "), Registry: g.Registry.Load(), Settings: g.Settings, Rate: g.Rate, Fallback: g.Fallback, Key: g.KeyAt(found.Server, authority, secure)}
}

// Interface guards
var (
	_ caddy.Provisioner = adminPolicies{}
	_ caddy.AdminRouter = adminPolicies{}
)
