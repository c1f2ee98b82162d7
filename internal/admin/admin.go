package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/internal/notify"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Running is what runs at the time of a request to the API.
type Running interface {
	// Policies returns what is known of the robots.txt of each site, in any order.
	Policies() []*policy.Entry
	// Policy returns the policy of an authority that the configuration names, with
	// nothing known if nobody has asked for that yet; nil for another one. Without a scheme
	// it is the one of https, if there is one.
	Policy(scheme, authority string) *policy.Entry
	// Enforces reports whether some site with this robots.txt is in enforce.
	Enforces(policy.Key) bool
	// Modes returns the mode of each configured site by its label.
	Modes() map[string]string
	// WithheldAt returns in words which crawlers get something else instead of this
	// robots.txt.
	WithheldAt(policy.Key) []string
	// TakesEffect returns a function that tells when the current robots.txt will be the only
	// one that counts, the zero time if it is already. EndGrace lets no earlier one count any
	// more.
	TakesEffect() func(policy.Key) time.Time
	EndGrace(policy.Key)
	// Fetch reads a robots.txt and waits for it, and returns an error where that
	// cannot be tried without a request for its site, or ctx has ended.
	Fetch(ctx context.Context, e *policy.Entry) error
	// Findings returns what is wrong with a version of a robots.txt.
	Findings(policy.Key, *policy.Version) *lint.Report
	// Reports returns what reports are made of.
	Reports(now time.Time) *report.Source
	// Book returns the alerts, nil if no guard runs.
	Book() *alert.Book
	// TestNotify sends each receiver of alerts a test message, and returns the results.
	TestNotify(ctx context.Context) []notify.Tested
	// Managed returns the robots_txt that run.
	Managed() []Managed
	// Registry returns how it stands with the registry that the configuration names, nil
	// for none.
	Registry() *report.Registry
	// Proposals returns the names that clients often call themselves by and that no
	// registry knows.
	Proposals() []report.Proposal
	// Guard returns the host of a URL, "" if it names none, and the guard that
	// judges requests for it, nil if there is none.
	Guard(url string) (host string, guard *Guard)
}

// Guard is a robots_guard that runs.
type Guard struct {
	Site     string // its hosts, "" for any
	Several  bool   // whether others are for the same hosts, with matchers, and this is the first
	Led      string // the https authority that requests are redirected to before they meet it, "" if they are not
	Registry *uaident.Registry
	Settings judge.Settings
	Rate     *rate.Settings // nil if it does not look at how fast crawlers ask
	Fallback policy.Fallback
	// Key is whose robots.txt it judges by; Site and ForwardedHost may be missing.
	Key policy.Key
}

// ExplainPath is the path that explains a request by POST.
const ExplainPath = "/robots_guard/explain"

// API is the endpoints.
type API struct{ find func() Running }

// New returns the endpoints. find returns what runs, never nil.
func New(find func() Running) *API { return &API{find} }

// Routes returns all endpoints.
func (a *API) Routes() []caddy.AdminRoute {
	return append(append(a.reportRoutes(), a.managedRoutes()...),
		caddy.AdminRoute{Pattern: ExplainPath, Handler: taking(a.explain)},
		caddy.AdminRoute{Pattern: StatusPath, Handler: taking(a.status, "site")},
		caddy.AdminRoute{Pattern: AlertsPath, Handler: taking(a.alerts)},
		caddy.AdminRoute{Pattern: TestNotifyPath, Handler: taking(a.testNotify)},
		caddy.AdminRoute{Pattern: AlertsPath + "/", Handler: taking(a.acknowledge)},
		caddy.AdminRoute{Pattern: RegistryPath, Handler: taking(a.registry)},
		caddy.AdminRoute{Pattern: RegistryPath + "/proposals", Handler: taking(a.proposals)},
		caddy.AdminRoute{Pattern: PoliciesPath, Handler: taking(a.list, "limit", "after")},
		caddy.AdminRoute{Pattern: PoliciesPath + "/", Handler: taking(a.one, "server")},
	)
}

func writeJSON(w http.ResponseWriter, status int, value any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// failed is an error with the status to answer with.
func failed(status int, format string, args ...any) error {
	return caddy.APIError{HTTPStatus: status, Err: fmt.Errorf(format, args...)}
}
