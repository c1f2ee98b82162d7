package admin

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/notify"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// RunningConfig gives access to the configuration that runs at the time of an admin request.
type RunningConfig interface {
	// Policies returns the cached robots.txt of each site, in any order.
	Policies() []*policy.Entry
	// Policy returns the cached robots.txt of a configured authority. Before the first request for
	// the authority the entry is empty. For another authority the result is nil. Without a scheme,
	// https has precedence.
	Policy(scheme, authority string) *policy.Entry
	// Enforces reports whether a site with this robots.txt is in enforce mode.
	Enforces(policy.Key) bool
	// Modes maps the label of each configured site to its mode.
	Modes() map[string]string
	// WithheldFrom describes the crawlers that receive another response instead of this robots.txt.
	WithheldFrom(policy.Key) []string
	// EffectiveTimes returns a function for the time at which the grace of earlier versions of a
	// robots.txt ends. The time is zero if only the current version applies. EndGrace ends the
	// grace now.
	EffectiveTimes() func(policy.Key) time.Time
	EndGrace(policy.Key)
	// Fetch fetches a robots.txt and waits for the result. It returns an error if the fetch needs a
	// client's request for the site, or if ctx ends.
	Fetch(ctx context.Context, e *policy.Entry) error
	// LintFindings returns the findings of package lint about a fetched robots.txt.
	LintFindings(policy.Key, *policy.Version) *lint.Report
	// Reports returns the data for all reports.
	Reports(now time.Time) *report.Source
	// AlertManager returns the manager of the alerts, or nil if no robots_guard is configured.
	AlertManager() *alert.Manager
	// TestNotify sends each receiver of alerts a test message, and returns the results.
	TestNotify(ctx context.Context) []notify.TestResult
	// Managed returns the publisher of each running robots_txt handler.
	Managed() []*publish.Publisher
	// Registry returns the state of the crawler registry that the configuration names, or nil if it
	// names none.
	Registry() *report.RegistryStatus
	// Proposals returns frequent names of unregistered clients, for adding to the registry.
	Proposals() []report.RegistryProposal
	// Guard returns the host of a URL, or "" if the URL has no host. guard is the robots_guard for
	// requests to the URL, or nil.
	Guard(url string) (host string, guard *Guard)
}

// Guard describes a running robots_guard.
type Guard struct {
	Site string // Site has the hosts. "" means any host.
	// Ambiguous is true if other guards, with matchers, have the same hosts. This guard is the first
	// of them.
	Ambiguous bool
	// HTTPSTarget is the https authority to which Caddy redirects requests before the guard, or "".
	HTTPSTarget string
	Registry    *uaident.Registry
	Settings    judge.Settings
	Rate        *rate.Settings // Rate is nil if the guard does not measure request rates.
	Fallback    policy.Fallback
	// Key identifies the robots.txt of the guard. Its Site and ForwardedHost may be missing.
	Key policy.Key
}

// ExplainPath is the path of the endpoint that explains the verdict on a request, by POST.
const ExplainPath = "/robots_guard/explain"

// API serves the endpoints of robots_guard in Caddy's admin API.
type API struct{ findRunning func() RunningConfig }

// New returns an API. find returns the running configuration, and never nil.
func New(find func() RunningConfig) *API { return &API{find} }

// Routes returns the routes of all endpoints.
func (a *API) Routes() []caddy.AdminRoute {
	return slices.Concat(a.reportRoutes(), a.managedRoutes(), []caddy.AdminRoute{
		newRoute(ExplainPath, "POST", a.serveExplain),
		newRoute(StatusPath, "GET", a.serveStatus, "site"),
		newRoute(AlertsPath, "GET", func(http.ResponseWriter, *http.Request) (any, error) { return listAlerts(a.findRunning()), nil }),
		newRoute(TestNotifyPath, "POST", func(_ http.ResponseWriter, r *http.Request) (any, error) {
			return NotifyTest{a.findRunning().TestNotify(r.Context())}, nil
		}),
		newRoute(AlertsPath+"/", "POST or DELETE", a.serveAcknowledge),
		newRoute(RegistryPath, "GET", func(http.ResponseWriter, *http.Request) (any, error) {
			return RegistryReport{a.findRunning().Registry()}, nil
		}),
		newRoute(RegistryPath+"/proposals", "GET", func(http.ResponseWriter, *http.Request) (any, error) {
			return Proposals{a.findRunning().Proposals()}, nil
		}),
		newRoute(PoliciesPath, "GET", a.servePolicies, "limit", "after"),
		newRoute(PoliciesPath+"/", "GET or POST", a.servePolicy, "server"),
	})
}

// httpError returns an error that Caddy sends as a response with the given status.
func httpError(status int, format string, args ...any) error {
	return caddy.APIError{HTTPStatus: status, Err: fmt.Errorf(format, args...)}
}
