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

// Running is the running configuration at the time of a request to the API.
type Running interface {
	// Policies returns the policies of all sites in any order.
	Policies() []*policy.Entry
	// Policy returns the policy of a configured authority, which is empty before the first request
	// for it. For another authority the result is nil. Without a scheme, https has precedence.
	Policy(scheme, authority string) *policy.Entry
	// Enforces reports whether a site with this robots.txt is in enforce mode.
	Enforces(policy.Key) bool
	// Modes returns the mode of each configured site by its label.
	Modes() map[string]string
	// WithheldFrom returns in words which crawlers receive another response instead of this
	// robots.txt.
	WithheldFrom(policy.Key) []string
	// EffectiveTimes returns a function for the time from which only the current robots.txt applies,
	// or the zero time if it already does. EndGrace ends the use of earlier versions.
	EffectiveTimes() func(policy.Key) time.Time
	EndGrace(policy.Key)
	// Fetch fetches a robots.txt and waits for the result. It returns an error if the fetch needs a
	// request for the site, or if ctx ends.
	Fetch(ctx context.Context, e *policy.Entry) error
	// LintFindings returns the problems of a version of a robots.txt.
	LintFindings(policy.Key, *policy.Version) *lint.Report
	// Reports returns the source of all reports.
	Reports(now time.Time) *report.Source
	// AlertManager returns the alerts, or nil without a guard.
	AlertManager() *alert.Manager
	// TestNotify sends each receiver of alerts a test message, and returns the results.
	TestNotify(ctx context.Context) []notify.TestResult
	// Managed returns the publishers of the running robots_txt handlers.
	Managed() []*publish.Publisher
	// Registry returns the state of the configured registry, or nil if none is configured.
	Registry() *report.RegistryStatus
	// Proposals returns frequent names of unregistered clients.
	Proposals() []report.RegistryProposal
	// Guard returns the host of a URL, or "" if the URL has no host. guard is the guard for
	// requests to the URL, or nil.
	Guard(url string) (host string, guard *Guard)
}

// Guard is a running robots_guard.
type Guard struct {
	Site        string // the hosts; "" for any host
	Ambiguous   bool   // whether other guards, with matchers, have the same hosts; this guard is the first
	HTTPSTarget string // the https authority to which Caddy redirects requests before the guard, or ""
	Registry    *uaident.Registry
	Settings    judge.Settings
	Rate        *rate.Settings // nil if the guard does not measure request rates
	Fallback    policy.Fallback
	// Key is the key of the guard's robots.txt. Site and ForwardedHost may be missing.
	Key policy.Key
}

// ExplainPath is the path that explains a verdict by POST.
const ExplainPath = "/robots_guard/explain"

// API has the endpoints.
type API struct{ findRunning func() Running }

// New returns the endpoints. find returns the running configuration and never nil.
func New(find func() Running) *API { return &API{find} }

// Routes returns all endpoints.
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

// httpError returns an error with the status of the response.
func httpError(status int, format string, args ...any) error {
	return caddy.APIError{HTTPStatus: status, Err: fmt.Errorf(format, args...)}
}
