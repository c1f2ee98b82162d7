package caddymodule

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func init() {
	caddy.RegisterModule(adminExplain{})
}

// adminExplain tells on Caddy's admin API how the running server judges a
// request, by the robots.txt that it holds and the settings of the site:
//
//	POST /robots_guard/explain  {"user_agent": "...", "url": "https://example.com/x"}
//
// "identity" may say what is to be assumed of the client: verified, claimed,
// unknown or spoofed; claimed if it is left out. "method" is GET if it is left
// out.
// The answer is an explain.Explanation as JSON.
type adminExplain struct{}

// CaddyModule returns the Caddy module information.
func (adminExplain) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "admin.api.robots_guard_explain",
		New: func() caddy.Module { return new(adminExplain) },
	}
}

// Routes implements caddy.AdminRouter.
func (a adminExplain) Routes() []caddy.AdminRoute {
	return []caddy.AdminRoute{{Pattern: "/robots_guard/explain", Handler: caddy.AdminHandlerFunc(a.explain)}}
}

// maxExplainBody bounds a request to be explained, in bytes.
const maxExplainBody = 128 << 10

func (adminExplain) explain(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost {
		return adminError(http.StatusMethodNotAllowed, "use POST with a JSON object that has user_agent and url")
	}
	var asked struct {
		UserAgent string `json:"user_agent"`
		URL       string `json:"url"`
		Identity  string `json:"identity"`
		Method    string `json:"method"`
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxExplainBody+1))
	if err == nil && len(body) > maxExplainBody {
		return adminError(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", maxExplainBody)
	}
	if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	if err != nil {
		return adminError(http.StatusBadRequest, "the body is no JSON object with user_agent and url: %v", err)
	}
	if hostOf(asked.URL) == "" {
		return adminError(http.StatusBadRequest, "url %q names no site; write it whole, such as https://example.com/path", asked.URL)
	}
	who, err := assumedIdentity(asked.Identity)
	if err != nil {
		return adminError(http.StatusBadRequest, "%v", err)
	}
	h, site := liveHandler(hostOf(asked.URL))
	if h == nil {
		return adminError(http.StatusNotFound, "no robots_guard is for %q", hostOf(asked.URL))
	}
	e := h.guard.explain(h.guard.held(asked.URL), explainedRequest{userAgent: asked.UserAgent, url: asked.URL, method: asked.Method, identity: who}, true)
	e.Handler.Site = site
	return writeJSON(w, http.StatusOK, e)
}

// held returns the rules that the guard holds for a URL, without reading any.
func (g *guard) held(rawURL string) explainedRobots {
	var entry *policy.Entry
	name := g.sourceKey
	if name != "" {
		entry = g.state.cache.Get(policy.Key{Source: name})
	} else {
		secure := strings.HasPrefix(strings.ToLower(rawURL), "https:")
		name = policy.Key{Secure: secure, Host: normalHost(urlAuthority(rawURL), secure)}.String()
		entry = findEntry(g.state, name, "")
	}
	from := explainedRobots{name: name}
	if entry == nil || entry.Standing() == nil {
		from.note = "it was not read yet; that happens at the first request of a crawler"
		return from
	}
	standing := entry.Standing()
	from.robots, from.closed = standing.Usable(time.Now(), g.fallback)
	from.version = standing.Good
	if standing.Failures > 0 {
		from.note = "the last attempts to read it failed"
	}
	if len(standing.Past) > 0 {
		from.note = "it has changed lately; a crawler that holds an older version may follow that, which is not told here"
	}
	return from
}

// liveHandler returns the robots_guard handler of the running configuration for
// a host, and the site that it is of.
func liveHandler(host string) (found *Handler, site string) {
	app, err := caddy.ActiveContext().AppIfConfigured("http")
	if err != nil || app == nil {
		return nil, ""
	}
	var anywhere *Handler
	var visit func(routes caddyhttp.RouteList, names []string)
	visit = func(routes caddyhttp.RouteList, names []string) {
		for _, route := range routes {
			own := hostsAround(route, names)
			for _, handler := range route.Handlers {
				switch handler := handler.(type) {
				case *caddyhttp.Subroute:
					visit(handler.Routes, own)
				case *Handler:
					switch {
					case len(own) == 0 && anywhere == nil:
						anywhere = handler
					case found == nil && namesHost(own, host):
						found, site = handler, strings.Join(own, ", ")
					}
				}
			}
		}
	}
	for _, server := range app.(*caddyhttp.App).Servers {
		visit(server.Routes, nil)
	}
	if found == nil {
		found = anywhere
	}
	return found, site
}

// hostsAround returns the hosts that a route is for: those of its own matchers,
// else those of the routes around it.
func hostsAround(route caddyhttp.Route, around []string) []string {
	var own []string
	for _, set := range route.MatcherSets {
		for _, matcher := range set {
			if hosts, ok := matcher.(*caddyhttp.MatchHost); ok {
				own = append(own, *hosts...)
			}
		}
	}
	if own == nil {
		return around
	}
	return own
}

// Interface guard
var _ caddy.AdminRouter = (*adminExplain)(nil)
