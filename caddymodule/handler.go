package caddymodule

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func init() {
	caddy.RegisterModule(Handler{})
}

// Handler makes crawlers keep to the robots.txt of the site. It identifies a crawler by the
// User-Agent, checks the requested URL against the robots.txt that the site serves to anonymous
// clients, and logs or blocks requests for disallowed URLs.
//
// Requests for /robots.txt always pass. So do requests of browsers and of other clients that no
// group of the robots.txt applies to.
//
// Placeholders. They are empty if the guard did not judge the request, except `path`, which has
// a value for every client with a User-Agent:
//
// Placeholder | Description
// ------------|---------------
// `{http.robots_guard.verdict}` | `allowed`, `disallowed`, `stale`, `exempt` or `unknown`
// `{http.robots_guard.action}` | `none`, `logged`, `blocked` or `slowed`
// `{http.robots_guard.crawler}` | The product token of the crawler
// `{http.robots_guard.class}` | The class of the crawler, such as `search` or `ai_training`
// `{http.robots_guard.identity}` | `verified`, `claimed`, `unknown` or `spoofed`
// `{http.robots_guard.rule}` | The rule that decided, such as `Disallow: /private/`, or the Content-Usage line
// `{http.robots_guard.line}` | The line number of the rule
// `{http.robots_guard.group}` | The user-agent value of the rule's group
// `{http.robots_guard.version}` | The first digits of the SHA-256 of the robots.txt
// `{http.robots_guard.path}` | The verdict for crawlers that no group names: `allowed`, `disallowed` or `unknown`
// `{http.robots_guard.preference.train_ai}` | The preference about training models: `y`, `n` or `unknown`
// `{http.robots_guard.preference.ai_use}` | The preference about input of models
// `{http.robots_guard.preference.search}` | The preference about search
// `{http.robots_guard.rate}` | `within`, `over` or `slowed`; empty if no limit applies
// `{http.robots_guard.rate.delay}` | The `Crawl-delay` in seconds
// `{http.robots_guard.rate.line}` | The line number of the `Crawl-delay`
// `{http.robots_guard.rate.wait}` | The seconds to wait before the next request, if `over` or `slowed`
type Handler struct {
	// The action for requests for disallowed URLs. `monitor` counts and logs the requests,
	// `enforce` blocks them. Default: `monitor`.
	Mode string `json:"mode,omitempty"`

	// Product tokens and classes that `enforce` applies to, such as `ai_training`. Other
	// crawlers are monitored. Default: all crawlers.
	EnforceOnly []string `json:"enforce_only,omitempty"`

	// The source of the robots.txt. Default: the site, requested as an anonymous client.
	Source *Location `json:"source,omitempty"`

	// How to decide for another proxy whether its requests may pass. The proxy describes each
	// request in header fields. Later handlers do not run, and a source is required.
	Decide *Decide `json:"decide,omitempty"`

	// The location of a robots.txt to compare with the robots.txt in force. The guard evaluates
	// live requests by both and reports the differences. A file may be missing.
	Shadow *Location `json:"shadow,omitempty"`

	// The timeout of a fetch of the robots.txt. Default: `5s`.
	FetchTimeout caddy.Duration `json:"fetch_timeout,omitempty"`

	// The maximum time for which a crawler's request waits for the first fetch of a robots.txt.
	// Default: `250ms`.
	FetchWait caddy.Duration `json:"fetch_wait,omitempty"`

	// The client address of the guard's own fetch, as matchers, logs and upstreams see the fetch.
	// Default: `192.0.2.1`, or `2001:db8::1` if the server listens on IPv6 only. No client has
	// these addresses, because they are reserved for documentation.
	FetchFrom string `json:"fetch_from,omitempty"`

	// The minimum lifetime of a copy of the robots.txt, whatever Cache-Control says. Default:
	// `1m`.
	TTLMin caddy.Duration `json:"ttl_min,omitempty"`

	// The maximum lifetime of a copy. Default and maximum: `24h`.
	TTLMax caddy.Duration `json:"ttl_max,omitempty"`

	// The time after a change of the robots.txt in which a crawler may follow the previous version.
	// A request that the previous version allows has the verdict `stale` and is not blocked. A
	// grace of a day or more also respects longer times that operators of crawlers publish. A
	// negative value turns grace off. Default: `24h`.
	Grace caddy.Duration `json:"grace,omitempty"`

	// The time for which the previous version still allows its URLs after a harmful change, such as
	// a `Disallow: /` from a staging site. A change is harmful if it disallows pages that search
	// engines got in the last 24 hours. Default: zero, which turns the change guard off.
	ChangeGuard caddy.Duration `json:"change_guard,omitempty"`

	// The rules if fetches of the robots.txt fail for more than 24 hours. `last_good` uses the last
	// good copy for up to 30 days, and restricts nothing without a copy. `allow` restricts nothing.
	// `disallow` answers crawlers with 503 for up to 30 days. `disallow_google` does the same for
	// 12 hours, and then acts like `last_good`. Default: `last_good`.
	Unreachable string `json:"unreachable,omitempty"`

	// Do not merge slashes. By default the guard also checks `//private` as `/private`, because
	// most servers serve the same page for both.
	KeepSlashes bool `json:"keep_slashes,omitempty"`

	// Allow redirects and source URLs that lead to private, loopback and link-local addresses
	// and to the metadata services of clouds.
	AllowPrivate bool `json:"allow_private,omitempty"`

	// The classes that the `*` group applies to. Default: `search`, `ai_training`,
	// `ai_search`, `seo`, `archive`, `research`, `security` and `crawler`.
	Wildcard []string `json:"wildcard,omitempty"`

	// Product tokens and classes that are exempt from robots.txt. Write `token:NewBot` for a token
	// that the registry lacks. A client with a spoofed name is not exempt.
	Exempt []string `json:"exempt,omitempty"`

	// Product tokens and classes that are exempt if their identity is verified.
	ExemptVerified []string `json:"exempt_verified,omitempty"`

	// Product tokens and classes that `enforce` logs and never blocks.
	OnlyLog []string `json:"only_log,omitempty"`

	// Product tokens and classes that are never blocked if their identity is verified.
	OnlyLogVerified []string `json:"only_log_verified,omitempty"`

	// The action for requests with a spoofed name. `judge` applies the stricter of the named group
	// and the `*` group. `block` blocks all of these requests in enforce mode. `log` blocks none.
	// Only the global option `verify` detects spoofed names. Default: `judge`.
	Spoofed string `json:"spoofed,omitempty"`

	// Limits on the request rate of crawlers. Default: no limit, and no measurement.
	Rate *Rate `json:"rate,omitempty"`

	// The status code of the response to a blocked request. Default: 403.
	Status int `json:"status,omitempty"`

	// Handlers that respond to a blocked request instead. If none of these handlers responds, the
	// request continues with the next handler. An `error` handler passes the block to the server's
	// error routes. The error routes see the requested path. Without a rewrite, a file server or
	// proxy in an error route delivers the disallowed page. Not together with `decide`.
	OnViolation caddyhttp.RouteList `json:"on_violation,omitempty"`

	guard  *guard.Guard
	logger *zap.Logger
	// registry is the registry of the Caddyfile. It is nil for a configuration in JSON.
	registry *uaident.Registry
	// fixedRegistry is the same. It is nil if a registry file or URL can change classes.
	fixedRegistry *uaident.Registry
}

// These are the values of Handler.Mode, Handler.Unreachable and Handler.Spoofed.
const (
	modeMonitor = "monitor"
	modeEnforce = "enforce"

	unreachableLastGood = "last_good"
	unreachableAllow    = "allow"
	unreachableDisallow = "disallow"
	unreachableGoogle   = "disallow_google"

	spoofedJudge = "judge"
	spoofedBlock = "block"
	spoofedLog   = "log"
)

var (
	modeWords        = []string{modeMonitor, modeEnforce}
	unreachableWords = []string{unreachableLastGood, unreachableAllow, unreachableDisallow, unreachableGoogle}
	spoofedWords     = []string{spoofedJudge, spoofedBlock, spoofedLog}
)

// CaddyModule returns the Caddy module information.
func (Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.robots_guard",
		New: func() caddy.Module { return new(Handler) },
	}
}

// describeForSelfTest returns what the self-test must know about a handler.
func describeForSelfTest(handler caddyhttp.MiddlewareHandler) (d site.SelfTestHandler) {
	if h, ok := handler.(*Handler); ok {
		d.Source = h.guard.SelfTestSource()
	} else if isModuleHandler(handler) {
		d = site.SelfTestHandler{Source: site.NewServerSource(false), IsRobotsTxt: true}
	}
	return d
}

// ServeHTTP judges the request, and then passes it to the next handler or blocks it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	return h.guard.Serve(w, r, next)
}

// respondBlocked answers a blocked request, with the handlers of on_violation if configured. These
// do not answer requests over a rate limit, or while the robots.txt is unreachable. If they return
// an error, the error routes write the response, which caches must not store.
func (h *Handler) respondBlocked(w http.ResponseWriter, r *http.Request, j *guard.Judgement, next caddyhttp.Handler) error {
	if len(h.OnViolation) > 0 && j.Reason != judge.ReasonSiteClosed && j.Action == judge.Blocked {
		err := h.OnViolation.Compile(next).ServeHTTP(w, r)
		if err != nil {
			guard.PreventCaching(w.Header())
		}
		return err
	}
	return guard.Refuse(w, r, j, h.Status)
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddyfile.Unmarshaler       = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
