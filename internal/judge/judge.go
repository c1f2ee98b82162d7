package judge

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Rules is the robots.txt by which a request is judged, as far as it is known.
type Rules struct {
	// Robots is the parsed robots.txt, or nil without a copy.
	Robots *policy.Robots
	// RedirectTargets has the targets of redirects of robots.txt. Targets on this site are always
	// allowed, so that crawlers can follow the redirects.
	RedirectTargets []string
	// DisallowAll is true if no robots.txt is known and the configuration then blocks all crawlers.
	DisallowAll bool
}

// Result is the decision about a request and the reasons for it.
type Result struct {
	Verdict Verdict // Verdict is RobotsVerdict, unless an exemption, the grace or missing rules take precedence.
	Action  Action  // Action is the action by the settings.
	Reason  Reason  // Reason is the reason for the verdict.
	// RobotsVerdict is the verdict of the parsed robots.txt alone, with the matching rule. If no rule
	// was evaluated, it allows the request and has no rule.
	RobotsVerdict policy.Verdict
	// Group is the group that applies to the request, or nil if none applies. GroupNamesClient is true
	// if the group names the client, and false for the * group.
	Group            *policy.SelectedGroup
	GroupNamesClient bool
	// Preferences are the preferences in the robots.txt about the use of the page. They are set
	// only if the request is allowed.
	Preferences policy.Preferences
	// OnlySpoofed is true if the spoofed name is the only reason for Action, which is Blocked or
	// Logged.
	OnlySpoofed bool
	// LogOnly is true if the options of the site prevent a block in enforce mode.
	LogOnly bool
}

// Scratch is reusable memory for [Settings.Judge]. The zero value is ready to use. Scratch is not
// safe for concurrent use.
type Scratch struct {
	// Target is the last matched target.
	Target policy.Target
	names  [8]string
}

// GroupCache caches which group of a robots.txt applies to a client, with and without the * group.
// The zero value is empty.
type GroupCache struct{ entries [2]cachedGroup } // without and with the * group

type cachedGroup struct {
	isSet, namesClient, applies bool
	group                       *policy.SelectedGroup
}

// Judge decides whether the rules allow a request, and what to do with a disallowed request. It
// stores the result in r. scratch is memory for reuse. Judge allocates only for targets with many
// forms and for files with two interpretations.
func (s *Settings) Judge(q *Request, rules Rules, scratch *Scratch, r *Result) {
	*r = Result{RobotsVerdict: policy.Verdict{Allowed: true}}
	switch {
	case q.Token == "" && q.Client.Class == uaident.Browser:
		r.Verdict, r.Reason = Exempt, ReasonBrowser
		return
	case IsACMEChallenge(q.Method, q.Target):
		r.Verdict, r.Reason = Exempt, ReasonACMEChallenge
		return
	case q.DecodedPath() == robotsTxt, IsRedirectTarget(rules.RedirectTargets, q.Target):
		r.Reason = ReasonRobotsTxt
		return
	case q.clientSettingsApply() && s.Exempt.Matches(q.Client, q.Verification):
		r.Verdict, r.Reason = Exempt, ReasonExempt
		return
	case rules.Robots == nil:
		s.judgeWithoutRobots(q, rules, r)
	default:
		s.applyRules(q, rules.Robots, scratch, r)
	}
	s.setAction(q, r)
}

// IsRedirectTarget reports whether target is among the URLs of its own site to which robots.txt
// redirects.
func IsRedirectTarget(redirectTargets []string, target string) bool {
	return len(redirectTargets) > 0 && strings.HasPrefix(target, "/") && slices.Contains(redirectTargets, target)
}

// MarkStale changes the verdict of a disallowed request to [Stale], because an older version allows
// the request, which the crawler may be using or the change guard keeps in force.
func (s *Settings) MarkStale(q *Request, r *Result) {
	r.Verdict, r.Action, r.Reason, r.OnlySpoofed, r.LogOnly = Stale, NoAction, ReasonGrace, false, false
	s.setAction(q, r)
}

// judgeWithoutRobots decides about a request while no robots.txt of the site is known.
func (s *Settings) judgeWithoutRobots(q *Request, rules Rules, r *Result) {
	r.Verdict, r.Reason = Unknown, ReasonNoRobotsTxt
	if rules.DisallowAll && s.wildcardAppliesToRequest(q) && q.WildcardExemption() == NoExemption {
		r.Reason = ReasonSiteClosed
	}
}

// applyRules decides about a request by a robots.txt and stores the verdict and its reason in r.
func (s *Settings) applyRules(q *Request, robots *policy.Robots, scratch *Scratch, r *Result) {
	query := q.GroupQuery(scratch.names[:0], s.wildcardAppliesToRequest(q))
	group, named, applies := q.GroupCache.selectGroup(query, robots)
	if !applies && !query.WellKnownOnly {
		r.Verdict, r.Reason = Exempt, s.wildcardExemptReason(q)
		return
	}
	scratch.Target.Set(q.Target, s.KeepSlashes)
	if !applies {
		r.Verdict, r.Reason = Exempt, ReasonWellKnown
		if verdict := group.WellKnownGroup().JudgeTarget(&scratch.Target); !verdict.Allowed {
			r.Group, r.RobotsVerdict, r.Verdict, r.Reason = group, verdict, Disallowed, ReasonRule
		}
		return
	}
	r.Group, r.GroupNamesClient = group, named
	r.RobotsVerdict = query.verdictOfGroup(robots, r.Group, &scratch.Target)
	if r.RobotsVerdict.Allowed {
		r.Preferences = robots.Preferences(r.Group, &scratch.Target, q.ControlToken())
	}
	if r.RobotsVerdict.Allowed && q.hasOpaqueTarget() { // Servers behind the proxy may serve /.
		scratch.Target.Set("/", s.KeepSlashes)
		r.RobotsVerdict = query.verdictOfGroup(robots, r.Group, &scratch.Target)
	}
	switch {
	case !r.RobotsVerdict.Allowed:
		r.Verdict, r.Reason, r.Preferences = Disallowed, ReasonRule, policy.Preferences{}
	case r.RobotsVerdict.Ambiguous:
		r.Reason = ReasonAmbiguous
	case r.RobotsVerdict.Rule.Line > 0:
		r.Reason = ReasonRule
	case r.Group == nil:
		r.Reason = ReasonNoGroup
	default:
		r.Reason = ReasonNoRule
	}
}

// wildcardAppliesToRequest reports whether the * group applies to the client of a request. It applies
// to every spoofed client and to every product token, unlike [Settings.WildcardApplies].
func (s *Settings) wildcardAppliesToRequest(q *Request) bool {
	return q.Token != "" || q.Verification == verify.Spoofed || s.WildcardApplies(q.Client)
}

// wildcardExemptReason returns the reason why the * group does not apply to a request: the class of
// the client, the method or the URL.
func (s *Settings) wildcardExemptReason(q *Request) Reason {
	if s.wildcardAppliesToRequest(q) {
		switch q.WildcardExemption() {
		case MethodExemption:
			return ReasonMethod
		case WellKnownExemption:
			return ReasonWellKnown
		}
	}
	return ReasonClass
}

// setAction sets the action of r by its verdict and the settings.
func (s *Settings) setAction(q *Request, r *Result) {
	isSpoofed := q.Token == "" && q.Verification == verify.Spoofed
	switch {
	case r.Verdict == Disallowed, r.Reason == ReasonSiteClosed:
	case isSpoofed && s.SpoofedHandling == BlockSpoofed:
		r.OnlySpoofed = true
	default:
		return
	}
	r.LogOnly = q.clientSettingsApply() && s.LogsOnly(q.Client, q.Verification)
	r.Action = Logged
	included := !q.clientSettingsApply() || isSpoofed && s.SpoofedHandling == BlockSpoofed || s.EnforceIncludes(q.Client)
	if s.Enforce && included && !r.LogOnly {
		r.Action = Blocked
	}
}

// selectGroup returns the result of [GroupQuery.Group], from the cache if possible. b may be nil
// for no cache.
func (b *GroupCache) selectGroup(query GroupQuery, robots *policy.Robots) (group *policy.SelectedGroup, named, applies bool) {
	if b == nil {
		return query.Group(robots)
	}
	entry := &b.entries[0]
	if query.WildcardApplies {
		entry = &b.entries[1]
	}
	if !entry.isSet {
		entry.isSet = true
		entry.group, entry.namesClient, entry.applies = query.Group(robots)
	}
	return entry.group, entry.namesClient, entry.applies
}
