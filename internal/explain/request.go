package explain

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// RobotsFile is the robots.txt for an explanation.
type RobotsFile struct {
	Name            string          // file, URL or authority
	Robots          *policy.Robots  // nil if unknown
	Version         *policy.Version // from a running server; nil otherwise
	RedirectTargets []string        // redirects of the robots.txt, as in [judge.Rules]
	Note            string          // for example that there is no file
	DisallowAll     bool            // the rules are unknown and the configuration disallows everything
}

// Request is the request to explain.
type Request struct {
	UserAgent, URL string
	// Token, if not empty, replaces the User-Agent, as in [judge.Request].
	Token    string
	Method   string // an empty method means GET
	Identity verify.State
}

// Site has the settings for the verdict.
type Site struct {
	Registry *uaident.Registry
	Settings judge.Settings
	Rate     *rate.Settings // the rate limits; nil to ignore them
	// HasGuard means that the settings come from a robots_guard, so the explanation includes its
	// action.
	HasGuard bool
}

// judgedRequest is a request with its verdict.
type judgedRequest struct {
	request judge.Request
	scratch judge.Scratch
	result  judge.Result
}

// judge returns the verdict about a request. The overlay has the names defined only in the
// robots.txt.
func (s *Site) judge(rules judge.Rules, overlay *uaident.Overlay, r Request) *judgedRequest {
	client := s.Settings.Identify(s.Registry, cmp.Or(r.Token, r.UserAgent), overlay)
	j := &judgedRequest{request: judge.Request{
		Client: client, Verification: r.Identity, Token: r.Token, Method: cmp.Or(r.Method, http.MethodGet), Target: policy.TargetOf(r.URL),
	}}
	s.Settings.Judge(&j.request, rules, &j.scratch, &j.result)
	return j
}

// Explain describes the verdict about a request. The verdict is never stale, since stale depends on
// earlier fetches.
func (s *Site) Explain(from RobotsFile, r Request) *Explanation {
	var overlay *uaident.Overlay
	if from.Robots != nil {
		overlay = s.Registry.NewOverlay(from.Robots.Names())
	}
	j := s.judge(judge.Rules{Robots: from.Robots, RedirectTargets: from.RedirectTargets, DisallowAll: from.DisallowAll}, overlay, r)
	client, result := j.request.Client, &j.result
	e := &Explanation{
		UserAgent: r.UserAgent, Token: r.Token, URL: r.URL, Verdict: result.Verdict.String(), Allowed: result.RobotsVerdict.Allowed && result.Reason != judge.ReasonSiteClosed,
		TargetForms: []Form{}, Matches: []Match{},
		Robots: Robots{Name: from.Name, Note: from.Note},
		Client: describeClient(s.Registry, r.UserAgent, client, r.Identity == verify.Spoofed || s.Settings.WildcardApplies(client), from.Robots),
		Reason: reasonText(result),
	}
	if r.Token != "" {
		e.Client.replaceByToken(r.Token, s.Registry, from.Robots)
	}
	e.Client.Note = s.ClientNote(r)
	if from.Robots != nil {
		e.Robots.RuleCount, e.Robots.Licenses = from.Robots.RuleCount(), from.Robots.Licenses()
	}
	if from.Version != nil {
		e.Robots.Version = hex.EncodeToString(from.Version.Hash[:])
	}
	e.Client.Identity = r.Identity.String()
	e.Group = describeGroup(result.Group, result.GroupNamesClient)
	e.Delay = describeDelay(result.Group, &e.Client, s.delaySupport(client, r.Token))
	if result.Reason != judge.ReasonRobotsTxt && (result.Verdict == judge.Allowed || result.Verdict == judge.Disallowed) {
		e.setTarget(j.request.Target, &j.scratch.Target, result.Group)
		if result.Verdict == judge.Allowed {
			e.Preferences = describePreferences(from.Robots, result.Group, &j.scratch.Target, j.request.ControlToken())
		}
		e.Ambiguous = result.RobotsVerdict.Ambiguous
		e.Rule, e.Line = result.RobotsVerdict.Rule.String(), result.RobotsVerdict.Rule.Line
	}
	if s.HasGuard {
		e.Handler = s.describeHandler(result)
		e.Handler.Rate = s.describeRate(&j.request, result, from.Robots)
	}
	return e
}

// ClientNote returns a remark about the client of a request, for example that no request has this name.
// ClientNote may compare the name with all names of the registry.
func (s *Site) ClientNote(r Request) string {
	token := r.Token
	if token == "" {
		known := s.Registry.IdentifyWith(r.UserAgent, nil).Crawler
		if known == nil {
			return "" // clients may use any name
		}
		token = known.Token
	}
	return judge.TokenHint(s.Registry, token)
}

// delaySupport returns how a client treats Crawl-delay. A token that is not empty replaces the
// client.
func (s *Site) delaySupport(client uaident.Identity, token string) uaident.CrawlDelay {
	if token == "" {
		return client.CrawlDelay()
	}
	if known := s.Registry.Lookup(token); known != nil {
		return known.CrawlDelay
	}
	return uaident.CrawlDelay{}
}

// reasonText describes a verdict in a sentence.
func reasonText(r *judge.Result) string {
	switch {
	case r.Verdict == judge.Disallowed, r.Reason == judge.ReasonRule:
		return fmt.Sprintf("%s in line %d is %s", r.RobotsVerdict.Rule, r.RobotsVerdict.Rule.Line, judge.ReasonRule)
	case r.Reason == judge.ReasonClass, r.Reason == judge.ReasonMethod, r.Reason == judge.ReasonWellKnown:
		return "no group has its name, and " + r.Reason.String()
	}
	return r.Reason.String()
}

// describeHandler describes the action of robots_guard.
func (s *Site) describeHandler(r *judge.Result) *Handler {
	h := &Handler{Mode: judge.ModeWord(s.Settings.Enforce), Action: r.Action.String()}
	switch {
	case r.BlockedAsSpoofed:
		h.ActionReason = "the client uses a false name; the option spoofed blocks such clients"
	case r.Action == judge.NoAction:
		h.ActionReason = "the request passes"
	case r.Action == judge.Blocked:
		h.ActionReason = "robots_guard responds, and the request does not reach later handlers"
	case s.Settings.Enforce && !r.LogOnly:
		h.ActionReason = "enforce does not include this client, so the request is only logged"
	case s.Settings.Enforce:
		h.ActionReason = "only_log or spoofed prevents the block"
	default:
		h.ActionReason = "monitor blocks nothing"
	}
	return h
}

// ParseIdentity parses the assumed identity of a client. An empty word means claimed.
func ParseIdentity(word string) (verify.State, error) {
	who, ok := verify.ParseState(cmp.Or(word, verify.Claimed.String()))
	if !ok {
		return 0, fmt.Errorf("unknown identity %q; the identities are claimed, verified, unknown and spoofed", word)
	}
	return who, nil
}
