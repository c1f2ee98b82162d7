package caddymodule

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/explain"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// newOfflineGuard makes the guard of a handler for judging without a server: it
// reads nothing and remembers nobody.
func newOfflineGuard(h *Handler, registry *uaident.Registry) (g *guard, err error) {
	g = &guard{enforce: h.Mode == modeEnforce, keepSlashes: h.KeepSlashes, spoofed: h.Spoofed, grace: max(0, time.Duration(h.Grace)), app: &App{registry: registry}}
	if g.wildcard, err = parseClasses(h.Wildcard); err != nil {
		return nil, fmt.Errorf("wildcard: %w", err)
	}
	if g.exempt, err = parseClients(registry, h.Exempt, h.ExemptVerified); err != nil {
		return nil, fmt.Errorf("exempt: %w", err)
	}
	if g.onlyLog, err = parseClients(registry, h.OnlyLog, h.OnlyLogVerified); err != nil {
		return nil, fmt.Errorf("only_log: %w", err)
	}
	return g, nil
}

// explainedRobots is the robots.txt that an explanation asks.
type explainedRobots struct {
	name    string
	robots  *policy.Robots  // nil where nobody knows it
	version *policy.Version // of a running server
	note    string
	closed  bool // nobody knows the rules, and the configuration closes the site over it
}

// explainedRequest is a request that is explained.
type explainedRequest struct {
	userAgent, url string
	method         string // GET if ""
	identity       identity
}

// explain tells how the guard judges a request with these rules, step by step as
// judge and ask do. What depends on time and on who has read what, the verdict
// stale, is left out. With configured false nothing is said about what the
// handler would do.
func (g *guard) explain(from explainedRobots, r explainedRequest, configured bool) *explain.Explanation {
	robots, registry := from.robots, g.app.registry
	var overlay *uaident.Overlay
	if robots != nil {
		overlay = registry.Overlay(robots.Names())
	}
	client := registry.IdentifyWith(r.userAgent, overlay)
	j := judgement{client: client, identity: r.identity, target: policy.TargetOf(r.url)}
	request := requestOf(&j, cmp.Or(r.method, http.MethodGet))
	wildcard := request.False || g.judgedByWildcard(client)
	who := request.Claim(nil, wildcard)
	e := &explain.Explanation{
		UserAgent: r.userAgent, URL: r.url, Verdict: verdictAllowed.String(), Allowed: true,
		Forms: []explain.Form{}, Matches: []explain.Match{},
		Robots: explain.Robots{Name: from.name, Note: from.note},
		Client: explain.ClientOf(registry, r.userAgent, client, wildcard, robots),
	}
	if robots != nil {
		e.Robots.Rules = robots.RuleCount()
	}
	if from.version != nil {
		e.Robots.Version = hex.EncodeToString(from.version.Hash[:])
	}
	e.Client.Identity = r.identity.String()
	if configured {
		defer func() { e.Handler = g.explainAction(&j, e) }()
	}
	path, _, _ := strings.Cut(j.target, "?")
	original := &http.Request{Method: request.Method, URL: &url.URL{Path: path}}
	if u, err := url.ParseRequestURI(j.target); err == nil {
		original.URL = u
	}
	switch {
	case client.Class == uaident.Browser:
		e.Verdict, e.Why = verdictExempt.String(), "browsers and clients without a name are not judged"
		return e
	case isACMEChallenge(original):
		e.Verdict, e.Why = verdictExempt.String(), "the token of a certificate validator is not judged"
		return e
	case isRobotsTxt(original):
		e.Why = "robots.txt itself is always allowed"
		return e
	case g.exempt.has(&j):
		j.verdict = verdictExempt
		e.Verdict, e.Why = verdictExempt.String(), "the configuration exempts it"
		return e
	case robots == nil:
		j.verdict = verdictUnknown
		e.Verdict, e.Why = verdictUnknown.String(), "nobody knows the rules"
		if from.closed && who.Wildcard {
			j.closed = true
			g.act(&j)
			e.Allowed, e.Why = false, "nobody knows the rules, and unreachable disallow closes the site meanwhile"
		}
		return e
	}
	group, named, exempt := who.Group(robots)
	e.Group = explain.GroupOf(group, named)
	if exempt {
		j.verdict = verdictExempt
		e.Verdict, e.Why = verdictExempt.String(), "no group names it, and "+whySpared(request, wildcard)
		return e
	}
	var target policy.Target
	target.Set(j.target, g.keepSlashes)
	j.policy = who.Judge(robots, group, &target)
	e.SetTarget(j.target, &target, group)
	e.Allowed, e.Ambiguous = j.policy.Allowed, j.policy.Ambiguous
	e.Rule, e.Line = j.policy.Rule.String(), j.policy.Rule.Line
	switch {
	case !j.policy.Allowed:
		j.verdict = verdictDisallowed
		g.act(&j)
		e.Verdict, e.Why = verdictDisallowed.String(), fmt.Sprintf("%s in line %d is the longest rule that matches", e.Rule, e.Line)
	case e.Ambiguous:
		e.Why = "crawlers read the file in two ways, and only one of them forbids it"
	case e.Rule != "":
		e.Why = fmt.Sprintf("%s in line %d is the longest rule that matches", e.Rule, e.Line)
	case group == nil:
		e.Why = "no group is for it"
	default:
		e.Why = "no rule of its group matches"
	}
	return e
}

// whySpared tells why the * group is not meant for a request.
func whySpared(request judge.Request, wildcard bool) string {
	if wildcard {
		return request.Spared().String()
	}
	return "the * group is not meant for its class"
}

// explainAction tells what the handler does about a judgement.
func (g *guard) explainAction(j *judgement, e *explain.Explanation) *explain.Handler {
	h := &explain.Handler{Mode: modeMonitor, Action: j.action.String()}
	if g.enforce {
		h.Mode = modeEnforce
	}
	switch {
	case j.action == actionNone && j.identity == identitySpoofed && g.spoofed == spoofedBlock && e.Client.Class != uaident.Browser.String():
		g.act(j)
		h.Action, h.Why = j.action.String(), "it uses a false name, which spoofed blocks"
	case e.Verdict != verdictDisallowed.String() && !j.closed:
		h.Why = "the request passes"
	case j.action == actionBlocked:
		h.Why = "the request is answered and goes no further"
	case g.enforce:
		h.Why = "only_log or spoofed spares it from being blocked"
	default:
		h.Why = "monitor blocks nothing"
	}
	return h
}
