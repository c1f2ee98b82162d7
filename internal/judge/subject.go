package judge

import (
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Subject selects the group of a client in a robots.txt.
type Subject struct {
	Chain         []string // names of the client, most specific first
	Wildcard      bool     // whether the * group applies to its request
	WellKnownOnly bool     // only rules of the * group that begin with /.well-known/ apply, see [policy.Selection.WellKnown]
	Forgiving     bool     // the client accepts misspelled keys and lines without a colon, see [uaident.Identity.Forgiving]
	False         bool     // the client is spoofed
	Stranger      bool     // only the first product of the User-Agent identifies the client, see [isLonger]
}

// Subject returns the subject for the client of r. wildcard is true if the * group applies to
// the client. The names of the client are appended to names.
func (r *Request) Subject(names []string, wildcard bool) Subject {
	if r.Token == "*" {
		return Subject{Wildcard: true}
	}
	if r.Token != "" {
		known := uaident.Default().Lookup(r.Token)
		return Subject{Chain: append(names, r.Token), Wildcard: true, Forgiving: known != nil && known.Forgiving()}
	}
	isFalse, chain := r.Identity == verify.Spoofed, r.Names
	if chain == nil {
		chain = r.Client.AppendChain(names)
	}
	exemption := r.WildcardExemption()
	return Subject{
		Chain:         chain,
		Wildcard:      (wildcard || isFalse) && exemption == NoExemption,
		WellKnownOnly: (wildcard || isFalse) && exemption == WellKnownExemption,
		Forgiving:     r.Client.Forgiving(),
		False:         isFalse,
		Stranger:      isStranger(r.Client),
	}
}

// Group returns the group of the client, nil if there is none, and whether the group names the
// client. applies is false if the group is a * group that does not apply to the client.
func (s Subject) Group(robots *policy.Robots) (group *policy.Selection, named, applies bool) {
	group = s.choose(robots, s.Wildcard)
	if s.Stranger && group.Named() && isLonger(group.Group().Name, s.Chain[0]) {
		group = robots.Select(s.Wildcard)
	}
	if group != nil || s.Wildcard {
		return group, group.Named(), true
	}
	group = robots.Select(true)
	return group, false, group == nil
}

// choose selects the group as the parser of the client does.
func (s Subject) choose(robots *policy.Robots, global bool) *policy.Selection {
	if s.Forgiving {
		return robots.SelectForgiving(global, s.Chain...)
	}
	return robots.Select(global, s.Chain...)
}

// Verdict judges a target. If no group applies to the client, every target is allowed.
func (s Subject) Verdict(robots *policy.Robots, target *policy.Target) policy.Verdict {
	group, _, applies := s.Group(robots)
	switch {
	case !applies && s.WellKnownOnly:
		return group.WellKnown().JudgeTarget(target)
	case !applies:
		return policy.Verdict{Allowed: true}
	}
	return s.judge(robots, group, target)
}

// judge judges a target by the group of the client. For a spoofed client the rules of the *
// group apply too, so that the name is no advantage.
func (s Subject) judge(robots *policy.Robots, group *policy.Selection, target *policy.Target) policy.Verdict {
	verdict := group.JudgeTarget(target)
	if !s.False || !verdict.Allowed {
		return verdict
	}
	everybody := robots.Select(true)
	switch {
	case s.Wildcard:
	case s.WellKnownOnly:
		everybody = everybody.WellKnown()
	default:
		return verdict
	}
	if strict := everybody.JudgeTarget(target); !strict.Allowed {
		return strict
	}
	return verdict
}

// KnownName returns the name of the client of q in the spelling of the registry or of the
// robots.txt, or "" if both lack it.
func (s *Settings) KnownName(q *Request, robots *policy.Robots) string {
	var scratch Scratch
	group, named, _ := q.Bound.group(q.Subject(scratch.names[:0], s.wildcardApplies(q)), robots)
	if !named {
		return KnownName(q.Client, "")
	}
	return KnownName(q.Client, group.Group().Name)
}

// KnownName returns the name of a crawler in the spelling of the registry or of the
// robots.txt, or "" if both lack it. Only such names may be stored, because clients can
// invent any other name. group is the name of the group if the group names the client.
func KnownName(client uaident.Identity, group string) string {
	switch {
	case client.Known():
		return client.Name()
	case group != "" && policy.NameMatches(group, client.Token):
		return group[:len(client.Token)]
	}
	return ""
}
