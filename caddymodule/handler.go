package caddymodule

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsguard/caddy-robots-guard/caddymodule/decision"
	"github.com/robotsguard/caddy-robots-guard/caddymodule/rates"
	"github.com/robotsguard/caddy-robots-guard/caddymodule/source"
	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/internal/refusal"
	"github.com/robotsguard/caddy-robots-guard/internal/selftest"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func init() {
	caddy.RegisterModule(Handler{})
}

// Handler holds crawlers to the site's own robots.txt. It recognises a crawler
// by its User-Agent, judges the request by the robots.txt that the site serves
// to an anonymous crawler, and logs or blocks requests outside of it.
//
// Browsers, and clients that no group of the robots.txt is meant for, pass
// untouched, as does /robots.txt itself.
//
// Placeholders, all of them empty for requests that were not judged:
//
// Placeholder | Description
// ------------|---------------
// `{http.robots_guard.verdict}` | `allowed`, `disallowed`, `stale`, `exempt` or `unknown`
// `{http.robots_guard.action}` | `none`, `logged`, `blocked` or `slowed`
// `{http.robots_guard.crawler}` | The product token of the crawler
// `{http.robots_guard.class}` | The class of the crawler, such as `search` or `ai_training`
// `{http.robots_guard.identity}` | `verified`, `claimed`, `unknown` or `spoofed`
// `{http.robots_guard.rule}` | The rule that decided, such as `Disallow: /private/`, or the Content-Usage line
// `{http.robots_guard.line}` | The number of that line
// `{http.robots_guard.group}` | The user-agent value of its group
// `{http.robots_guard.version}` | The start of the SHA-256 of the robots.txt
// `{http.robots_guard.preference.train_ai}` | What it states about training models with what may be fetched: `y`, `n` or `unknown`
// `{http.robots_guard.preference.ai_use}` | The same for the input of models
// `{http.robots_guard.preference.search}` | The same for search
// `{http.robots_guard.rate}` | `within` or `over` what the crawler is asked for, or `slowed`, empty where that is nothing
// `{http.robots_guard.rate.delay}` | The `Crawl-delay` in seconds
// `{http.robots_guard.rate.line}` | The line of that
// `{http.robots_guard.rate.wait}` | Where it is `over` or `slowed`: in how many seconds to come again
type Handler struct {
	// What to do about requests that the robots.txt forbids: `monitor` counts
	// and logs them, `enforce` answers them. Default: `monitor`.
	Mode string `json:"mode,omitempty"`

	// Product tokens and classes that `enforce` is for, such as `ai_training`; the
	// others are monitored. Default: all.
	EnforceOnly []string `json:"enforce_only,omitempty"`

	// Where the robots.txt comes from. Default: the site itself, read as an
	// anonymous crawler would.
	Source *source.Location `json:"source,omitempty"`

	// Answer another proxy whether a request may pass, which it describes. The handlers
	// behind are never asked then, and the robots.txt needs a source.
	Decide *decision.Decide `json:"decide,omitempty"`

	// Where a robots.txt comes from that is tried: it is judged beside the one in force on live
	// requests, and a report tells what it would change. A file need not be there.
	Shadow *source.Location `json:"shadow,omitempty"`

	// How long reading the robots.txt may take. Default: `5s`.
	FetchTimeout caddy.Duration `json:"fetch_timeout,omitempty"`

	// How long a crawler's request waits for a robots.txt that was never read
	// before; after that it passes. Default: `250ms`.
	FetchWait caddy.Duration `json:"fetch_wait,omitempty"`

	// The client address that the guard's own request for the robots.txt shows to matchers,
	// logs and upstreams. Default: `192.0.2.1`, or `2001:db8::1` if the server listens on IPv6
	// only. These are reserved for documentation, so no client has them.
	FetchFrom string `json:"fetch_from,omitempty"`

	// The least time for which a copy of the robots.txt holds, whatever the
	// answer says. Default: `1m`.
	TTLMin caddy.Duration `json:"ttl_min,omitempty"`

	// The longest time for which a copy holds, whatever the answer says.
	// Default and maximum: `24h`.
	TTLMax caddy.Duration `json:"ttl_max,omitempty"`

	// How long after a change of the robots.txt a crawler may
	// follow the text before it: its requests have the verdict `stale` and are not blocked. From
	// a day on, as long as its operator says. Negative means not at all. Default: `24h`.
	Grace caddy.Duration `json:"grace,omitempty"`

	// How long the version before stays in force, in the part that it allows, after a change
	// of the robots.txt that forbids pages which search engines were served in the last 24
	// hours, such as a `Disallow: /` from a staging site. Default: zero, for not at all.
	ChangeGuard caddy.Duration `json:"change_guard,omitempty"`

	// What holds while the robots.txt cannot be read and no copy younger than 24 hours is left:
	// `last_good` uses the last good copy for up to 30 days and restricts nothing without one,
	// `allow` restricts nothing, `disallow` answers crawlers with 503 for up to 30 days,
	// `disallow_google` does so for 12 hours and goes on as `last_good`. Default: `last_good`.
	Unreachable string `json:"unreachable,omitempty"`

	// Keep runs of slashes in a path apart. By default `//private` is also
	// judged as `/private`, since most servers serve the same for both.
	KeepSlashes bool `json:"keep_slashes,omitempty"`

	// Let redirects and source URLs lead to private, loopback and link-local
	// addresses, and to those that clouds keep for their own machines.
	AllowPrivate bool `json:"allow_private,omitempty"`

	// The classes that the `*` group judges. Default: `search`, `ai_training`,
	// `ai_search`, `seo`, `archive`, `research`, `security` and `crawler`.
	Wildcard []string `json:"wildcard,omitempty"`

	// Product tokens and classes that are never judged. A token has to be known
	// to the registry, or stand behind `token:`, as in `token:NewBot`. A client that is known
	// to use a false name is judged nevertheless.
	Exempt []string `json:"exempt,omitempty"`

	// Product tokens and classes that are not judged where their identity is
	// verified.
	ExemptVerified []string `json:"exempt_verified,omitempty"`

	// Product tokens and classes whose requests are logged but not blocked in
	// enforce mode.
	OnlyLog []string `json:"only_log,omitempty"`

	// Product tokens and classes whose requests are not blocked where their
	// identity is verified.
	OnlyLogVerified []string `json:"only_log_verified,omitempty"`

	// What to do about requests under a false name: `judge` judges them by the stricter of the
	// group that the name chooses and the `*` group, `block` blocks all of them in enforce mode,
	// `log` blocks none. It takes the global option `verify` to know of any. Default: `judge`.
	Spoofed string `json:"spoofed,omitempty"`

	// How fast crawlers may ask. Default: as fast as they like, and nothing is counted.
	Rate *rates.Rate `json:"rate,omitempty"`

	// The status of the answer to a blocked request. Default: 403.
	Status int `json:"status,omitempty"`

	// Handlers that respond to a blocked request instead. If none of them
	// responds, the request continues with the next handler. An `error` handler
	// hands the block to the error routes of the server, which run with the
	// requested path: a file server or proxy there needs a rewrite first, or it
	// delivers the disallowed page. Not together with `decide`.
	OnViolation caddyhttp.RouteList `json:"on_violation,omitempty"`

	guard    *guard.Guard
	logger   *zap.Logger
	registry *uaident.Registry // nil while nobody knows which crawlers are configured
	settled  *uaident.Registry // the same, nil where others have a say in it
}

// The words of Handler.Mode, Handler.Unreachable and Handler.Spoofed.
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

// describe tells the self-test what a handler is.
func describe(handler caddyhttp.MiddlewareHandler) (d selftest.Handler) {
	if h, ok := handler.(*Handler); ok {
		d.Source = h.guard.SelfTestSource()
	} else if isOurs(handler) {
		d = selftest.Handler{Source: origin.NewServer(false), Composes: true}
	}
	return d
}

// ServeHTTP judges the request and passes it on or answers it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	return h.guard.Serve(w, r, next)
}

// refuse responds to a blocked request, with the handlers of on_violation if
// there are any. They do not apply to a rate limit or while robots.txt cannot be
// read: those responses have a status of their own.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, j *guard.Judgement, next caddyhttp.Handler) error {
	if len(h.OnViolation) > 0 && j.Reason != judge.Closed && j.Action == judge.Blocked {
		return h.OnViolation.Compile(next).ServeHTTP(w, r)
	}
	return refusal.Write(w, r, j, h.Status)
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddyfile.Unmarshaler       = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
