package judge

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Rules is the robots.txt of a site.
type Rules struct {
	// Robots is the parsed robots.txt. It is nil if there is no copy.
	Robots *policy.Robots
	// Via has the targets of redirects of robots.txt. Targets on this site are always allowed,
	// so that crawlers can follow the redirects.
	Via []string
	// Closed is true if the configuration closes the site while Robots is nil.
	Closed bool
}

// Result is the decision about a request and the reasons for it.
type Result struct {
	Verdict Verdict // by the rules
	Action  Action  // by the settings
	Reason  Reason  // why the verdict is what it is
	// Evidence is the matching rule. If no rule was evaluated, it is allowed without a rule.
	Evidence policy.Verdict
	// Group is the group of the client, or nil. Named is true if the group names the client,
	// and false for the * group.
	Group *policy.Selection
	Named bool
	// Preferences are the usage preferences of the file for an allowed target.
	Preferences policy.Preferences
	// FalseName is true if the rules allow the request and only the spoofed name of the client
	// is the reason to block it.
	FalseName bool
	// LogOnly is true if the options of the site prevent a block in enforce mode.
	LogOnly bool
}

// Scratch is reusable memory for [Settings.Judge]. The zero value is ready to use. Only one
// goroutine may use it at a time.
type Scratch struct {
	// Target is the last target that was matched.
	Target policy.Target
	names  [8]string
}

// Bound caches the group of a client in a robots.txt.
type Bound struct{ by [2]binding } // without and with the * group

type binding struct {
	found, named, applies bool
	group                 *policy.Selection
}

// Judge decides whether the rules allow a request, and what to do if they do not. It stores
// the result in r. It allocates only for targets with many forms and for files with two
// interpretations.
func (s *Settings) Judge(q *Request, rules Rules, scratch *Scratch, r *Result) {
	*r = Result{Evidence: policy.Verdict{Allowed: true}}
	switch {
	case q.Token == "" && q.Client.Class == uaident.Browser:
		r.Verdict, r.Reason = Exempt, NobodyJudged
		return
	case IsACMEChallenge(q.Method, q.Target):
		r.Verdict, r.Reason = Exempt, Challenge
		return
	case q.DecodedPath() == robotsTxt, len(rules.Via) > 0 && strings.HasPrefix(q.Target, "/") && slices.Contains(rules.Via, q.Target):
		r.Reason = RobotsTxt
		return
	case q.hasClient() && s.Exempt.Has(q.Client, q.Identity):
		r.Verdict, r.Reason = Exempt, Configured
		return
	case rules.Robots == nil:
		s.judgeUnknown(q, rules, r)
	default:
		s.applyRules(q, rules.Robots, scratch, r)
	}
	s.act(q, r)
}

// MarkStale changes the result of a disallowed request to [Stale], because the crawler may
// still obey an older version without the rule.
func (s *Settings) MarkStale(q *Request, r *Result) {
	r.Verdict, r.Action, r.Reason, r.FalseName, r.LogOnly = Stale, None, NotKnownYet, false, false
	s.act(q, r)
}

// judgeUnknown judges a request to a site without a copy of robots.txt.
func (s *Settings) judgeUnknown(q *Request, rules Rules, r *Result) {
	r.Verdict, r.Reason = Unknown, NoRules
	if rules.Closed && s.wildcardApplies(q) && q.WildcardExemption() == NoExemption {
		r.Reason = Closed
	}
}

// applyRules judges a request by the rules of a robots.txt.
func (s *Settings) applyRules(q *Request, robots *policy.Robots, scratch *Scratch, r *Result) {
	subject := q.Subject(scratch.names[:0], s.wildcardApplies(q))
	var applies bool
	if r.Group, r.Named, applies = q.Bound.group(subject, robots); !applies && !subject.WellKnownOnly {
		r.Verdict, r.Reason = Exempt, s.exemptReason(q)
		return
	}
	scratch.Target.Set(q.Target, s.KeepSlashes)
	if !applies {
		r.Verdict, r.Reason = Exempt, ForPrograms
		if evidence := r.Group.WellKnown().JudgeTarget(&scratch.Target); !evidence.Allowed {
			r.Evidence, r.Verdict, r.Reason = evidence, Disallowed, ByRule
		}
		return
	}
	r.Evidence = subject.judge(robots, r.Group, &scratch.Target)
	if r.Evidence.Allowed {
		r.Preferences = robots.Preferences(r.Group, &scratch.Target, q.ControlToken())
	}
	if r.Evidence.Allowed && q.isOpaque() { // servers behind the proxy may serve /
		scratch.Target.Set("/", s.KeepSlashes)
		r.Evidence = subject.judge(robots, r.Group, &scratch.Target)
	}
	switch {
	case !r.Evidence.Allowed:
		r.Verdict, r.Reason, r.Preferences = Disallowed, ByRule, policy.Preferences{}
	case r.Evidence.Ambiguous:
		r.Reason = TwoReadings
	case r.Evidence.Rule.Line > 0:
		r.Reason = ByRule
	case r.Group == nil:
		r.Reason = NoGroup
	default:
		r.Reason = NoRule
	}
}

// wildcardApplies reports whether the * group applies to the client. It applies to every
// spoofed client.
func (s *Settings) wildcardApplies(q *Request) bool {
	return q.Token != "" || q.Identity == verify.Spoofed || s.WildcardApplies(q.Client)
}

// exemptReason returns why the * group does not apply to a request.
func (s *Settings) exemptReason(q *Request) Reason {
	if s.wildcardApplies(q) {
		switch q.WildcardExemption() {
		case MethodExemption:
			return DeliversOrAsks
		case WellKnownExemption:
			return ForPrograms
		}
	}
	return NotMeant
}

// act sets the action for the verdict.
func (s *Settings) act(q *Request, r *Result) {
	isFalse := q.Token == "" && q.Identity == verify.Spoofed
	switch {
	case r.Verdict == Disallowed, r.Reason == Closed:
	case isFalse && s.FalseName == BlockFalseName:
		r.FalseName = true
	default:
		return
	}
	r.LogOnly = q.hasClient() && s.LogsOnly(q.Client, q.Identity)
	r.Action = Logged
	included := !q.hasClient() || isFalse && s.FalseName == BlockFalseName || s.EnforceIncludes(q.Client)
	if s.Enforce && included && !r.LogOnly {
		r.Action = Blocked
	}
}

// group returns the result of [Subject.Group] and caches it. b may be nil.
func (b *Bound) group(subject Subject, robots *policy.Robots) (group *policy.Selection, named, applies bool) {
	if b == nil {
		return subject.Group(robots)
	}
	known := &b.by[0]
	if subject.Wildcard {
		known = &b.by[1]
	}
	if !known.found {
		known.found = true
		known.group, known.named, known.applies = subject.Group(robots)
	}
	return known.group, known.named, known.applies
}
