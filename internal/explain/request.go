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

// RobotsFile is the robots.txt by which [Site.Explain] judges a request.
type RobotsFile struct {
	Name            string          // Name is the file, URL or authority of the robots.txt.
	Robots          *policy.Robots  // Robots is nil if the rules are unknown.
	Version         *policy.Version // Version is from a running server, and nil otherwise.
	RedirectTargets []string        // These are the redirects of the robots.txt, as in [judge.Rules].
	Note            string          // Note is a remark, for example that there is no file.
	// DisallowAll is true if the rules are unknown and the configuration disallows everything.
	DisallowAll bool
}

// Request is the request whose verdict is explained.
type Request struct {
	UserAgent, URL string
	// Token, if not empty, is judged instead of the User-Agent, as in [judge.Request].
	Token    string
	Method   string // An empty Method means GET.
	Identity verify.State
}

// Site has the registry and the settings by which requests for a site are judged. The zero Settings
// are the defaults.
type Site struct {
	Registry *uaident.Registry
	Settings judge.Settings
	Rate     *rate.Settings // Rate has the rate limits. With nil they are ignored.
	// HasGuard means that the settings are those of a robots_guard. The explanation then includes
	// what robots_guard does.
	HasGuard bool
}

// judgedRequest is a request with the result of judging it.
type judgedRequest struct {
	request judge.Request
	scratch judge.Scratch
	result  judge.Result
}

// judge judges a request. The overlay has the crawler names that only the robots.txt defines.
func (s *Site) judge(rules judge.Rules, overlay *uaident.Overlay, r Request) *judgedRequest {
	client := s.Settings.Identify(s.Registry, cmp.Or(r.Token, r.UserAgent), overlay)
	j := &judgedRequest{request: judge.Request{
		Client: client, Verification: r.Identity, Token: r.Token, Method: cmp.Or(r.Method, http.MethodGet), Target: policy.TargetFromURL(r.URL),
	}}
	s.Settings.Judge(&j.request, rules, &j.scratch, &j.result)
	return j
}

// Explain returns the verdict on a request with all its reasons. The verdict is never stale,
// because that depends on earlier fetches by the crawler.
func (s *Site) Explain(file RobotsFile, r Request) *Explanation {
	var overlay *uaident.Overlay
	if file.Robots != nil {
		overlay = s.Registry.NewOverlay(file.Robots.GroupNames())
	}
	j := s.judge(judge.Rules{Robots: file.Robots, RedirectTargets: file.RedirectTargets, DisallowAll: file.DisallowAll}, overlay, r)
	client, result := j.request.Client, &j.result
	e := &Explanation{
		UserAgent: r.UserAgent, Token: r.Token, URL: r.URL, Verdict: result.Verdict.String(), Allowed: result.RobotsVerdict.Allowed && result.Reason != judge.ReasonSiteClosed,
		TargetForms: []TargetForm{}, Matches: []RuleMatch{},
		Robots: Robots{Name: file.Name, Note: file.Note},
		Client: describeClient(s.Registry, r.UserAgent, client, r.Identity == verify.Spoofed || s.Settings.WildcardApplies(client), file.Robots),
		Reason: formatReason(result),
	}
	if r.Token != "" {
		e.Client.replaceByToken(r.Token, s.Registry, file.Robots)
	}
	e.Client.Note = s.ClientNote(r)
	if file.Robots != nil {
		e.Robots.RuleCount, e.Robots.Licenses = file.Robots.RuleCount(), file.Robots.LicenseURLs()
	}
	if file.Version != nil {
		e.Robots.Version = hex.EncodeToString(file.Version.Hash[:])
	}
	e.Client.Identity = r.Identity.String()
	e.Group = describeGroup(result.Group, result.GroupNamesClient)
	if isWildcardExempt(result.Reason) {
		e.Group = describeGroup(file.Robots.Select(true), false) // This shows the group that does not apply.
	}
	e.Delay = describeDelay(result.Group, &e.Client, s.crawlDelaySupport(client, r.Token))
	if result.Reason != judge.ReasonRobotsTxt && (result.Verdict == judge.Allowed || result.Verdict == judge.Disallowed) {
		e.setTarget(j.request.Target, &j.scratch.Target, result.Group)
		if result.Verdict == judge.Allowed {
			e.Preferences = describePreferences(file.Robots, result.Group, &j.scratch.Target, j.request.ControlToken())
		}
		e.Ambiguous = result.RobotsVerdict.Ambiguous
		e.Rule, e.Line = result.RobotsVerdict.Rule.String(), result.RobotsVerdict.Rule.Line
	}
	if s.HasGuard {
		e.Handler = s.describeHandler(result)
		e.Handler.Rate = s.describeRate(&j.request, result, file.Robots)
	}
	return e
}

// ClientNote returns a remark about the client of a request, or "". An example is that the crawler
// never sends its product token in requests. ClientNote may compare the token with all names in the
// registry.
func (s *Site) ClientNote(r Request) string {
	token := r.Token
	if token == "" {
		known := s.Registry.IdentifyWithOverlay(r.UserAgent, nil).Crawler
		if known == nil {
			return "" // Any client can send the name of this crawler.
		}
		token = known.Token
	}
	return judge.TokenHint(s.Registry, token)
}

// crawlDelaySupport returns how the client treats Crawl-delay. A token that is not empty is looked
// up instead of the client.
func (s *Site) crawlDelaySupport(client uaident.Identity, token string) uaident.CrawlDelay {
	if token == "" {
		return client.CrawlDelay()
	}
	if known := s.Registry.Lookup(token); known != nil {
		return known.CrawlDelay
	}
	return uaident.CrawlDelay{}
}

// isWildcardExempt reports whether the * group does not apply to a request, for this reason.
func isWildcardExempt(r judge.Reason) bool {
	return r == judge.ReasonClass || r == judge.ReasonMethod || r == judge.ReasonWellKnown
}

// formatReason returns the reason for a verdict as a sentence.
func formatReason(r *judge.Result) string {
	switch {
	case r.Verdict == judge.Disallowed, r.Reason == judge.ReasonRule:
		return fmt.Sprintf("%s in line %d is %s", r.RobotsVerdict.Rule, r.RobotsVerdict.Rule.Line, judge.ReasonRule)
	case isWildcardExempt(r.Reason):
		return "no group names the client, and " + r.Reason.String()
	}
	return r.Reason.String()
}

// describeHandler describes the action of robots_guard for a judged request.
func (s *Site) describeHandler(r *judge.Result) *Handler {
	h := &Handler{Mode: judge.ModeWord(s.Settings.Enforce), Action: r.Action.String()}
	switch {
	case r.OnlySpoofed:
		h.ActionReason = "the client uses a false name; the option spoofed blocks such clients"
	case r.Action == judge.NoAction:
		h.ActionReason = "the request passes"
	case r.Action == judge.Blocked:
		h.ActionReason = "robots_guard responds, and the request does not reach later handlers"
	case s.Settings.Enforce && !r.LogOnly:
		h.ActionReason = "enforce does not include this client, so the request is only logged"
	case s.Settings.Enforce:
		h.ActionReason = "the option only_log or spoofed prevents the block"
	default:
		h.ActionReason = "mode monitor blocks nothing"
	}
	return h
}

// ParseIdentity parses the word for an assumed identity: claimed, verified, unknown or spoofed. An
// empty word means claimed.
func ParseIdentity(word string) (verify.State, error) {
	who, ok := verify.ParseState(cmp.Or(word, verify.Claimed.String()))
	if !ok {
		return 0, fmt.Errorf("unknown identity %q; the identities are claimed, verified, unknown and spoofed", word)
	}
	return who, nil
}
