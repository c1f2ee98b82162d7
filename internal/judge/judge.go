package judge

import (
	"slices"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Rules are what is known of the rules of a site.
type Rules struct {
	// Robots is the robots.txt, nil where nobody knows it.
	Robots *policy.Robots
	// Via is where the robots.txt redirects to, targets of this site among it: who
	// follows reads the rules.
	Via []string
	// Closed says that the configuration closes the site while that is so.
	Closed bool
}

// Result is what becomes of a request, and why.
type Result struct {
	Verdict Verdict // by the rules
	Action  Action  // by the settings
	Reason  Reason  // why the verdict is what it is
	// Evidence is what the rules say, that they allow it where they were not
	// asked.
	Evidence policy.Verdict
	// Group is the group that the client has to obey, nil if there is none, and
	// Named whether it names the client rather than being the * group.
	Group *policy.Selection
	Named bool
	// Preferences are what the file states about the use of what may be fetched.
	Preferences policy.Preferences
	// FalseName says that the rules do not forbid it, and only the false name of the
	// client is held against it.
	FalseName bool
	// LogOnly says that only the configuration keeps it from being blocked in
	// enforce mode.
	LogOnly bool
}

// Scratch is the memory that judging takes. The zero Scratch is ready, and may be
// used again by one goroutine.
type Scratch struct {
	// Target is what was compared with the rules last.
	Target policy.Target
	names  [8]string
}

// Bound is the group that a client has in a robots.txt.
type Bound struct{ by [2]binding } // for a request that the * group does not apply to, and for one that it applies to

type binding struct {
	found, named, applies bool
	group                 *policy.Selection
}

// Judge decides about a request: whether the rules allow it, and what is done if
// they do not. It does not allocate but for targets in many forms and for files
// with two readings.
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

// MarkStale changes the result of a disallowed request to [Stale]: the crawler need not know yet
// the rule that disallows it.
func (s *Settings) MarkStale(q *Request, r *Result) {
	r.Verdict, r.Action, r.Reason, r.FalseName, r.LogOnly = Stale, None, NotKnownYet, false, false
	s.act(q, r)
}

// judgeUnknown judges a request while nobody knows the rules.
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
	if r.Evidence.Allowed && q.isOpaque() { // others than that proxy serve /
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

// wildcardApplies reports whether the * group applies to the client of a request. It applies to
// each spoofed client.
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

// act decides what to do about a request.
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

// group returns the group that a client has to obey, as [Subject.Group] does, and
// remembers it. b may be nil.
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
