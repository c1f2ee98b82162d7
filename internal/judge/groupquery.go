package judge

import (
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// GroupQuery describes a client for selecting its group in a robots.txt.
type GroupQuery struct {
	Names           []string // Names are the names of the client, most specific first.
	WildcardApplies bool     // WildcardApplies is true if the * group applies to the client's request.
	// WellKnownOnly is true if only the rules of the * group that begin with /.well-known/ apply. See
	// [policy.SelectedGroup.WellKnownGroup].
	WellKnownOnly bool
	// LenientKeys is true if the client accepts misspelled keys and lines without a colon. See
	// [uaident.Identity.ParsesLeniently].
	LenientKeys bool
	Spoofed     bool // Spoofed is true if the client is spoofed.
	// FirstProductOnly is true if only the first product of the User-Agent identifies the client. See
	// [namesLongerProduct].
	FirstProductOnly bool
}

// GroupQuery returns the query for the client of r. wildcard is true if the * group applies to the
// client. The query uses names as memory for the names of the client.
func (r *Request) GroupQuery(names []string, wildcard bool) GroupQuery {
	if r.Token != "" {
		return tokenQuery(names, r.Token)
	}
	isSpoofed, clientNames := r.Verification == verify.Spoofed, r.Names
	if clientNames == nil {
		clientNames = r.Client.AppendNames(names)
	}
	exemption := r.WildcardExemption()
	return GroupQuery{
		Names:            clientNames,
		WildcardApplies:  (wildcard || isSpoofed) && exemption == NoExemption,
		WellKnownOnly:    (wildcard || isSpoofed) && exemption == WellKnownExemption,
		LenientKeys:      r.Client.ParsesLeniently(),
		Spoofed:          isSpoofed,
		FirstProductOnly: isFirstProductOnly(r.Client),
	}
}

// tokenQuery returns the query for a product token. The token "*" selects the * group. names is
// memory for the result.
func tokenQuery(names []string, token string) GroupQuery {
	if token == "*" {
		return GroupQuery{WildcardApplies: true}
	}
	known := uaident.Default().Lookup(token)
	return GroupQuery{Names: append(names, token), WildcardApplies: true, LenientKeys: known != nil && known.ParsesLeniently()}
}

// Group returns the group of the client. named reports whether the group names the client, and
// applies whether the rules of the group apply to the client. If the file has no group for the
// client, Group returns nil with applies true: every URL is allowed. If only a * group exists and the
// client is exempt from *, Group returns the * group with applies false, which only
// [GroupQuery.WellKnownOnly] uses.
func (s GroupQuery) Group(robots *policy.Robots) (group *policy.SelectedGroup, named, applies bool) {
	group = s.selectGroup(robots, s.WildcardApplies)
	if s.FirstProductOnly && group.NamesCrawler() && namesLongerProduct(group.FirstAgent().Name, s.Names[0]) {
		group = robots.Select(s.WildcardApplies)
	}
	if group != nil || s.WildcardApplies {
		return group, group.NamesCrawler(), true
	}
	group = robots.Select(true)
	return group, false, group == nil
}

// selectGroup returns the group that the client's parser selects, or nil. It selects the * group
// only if wildcard is true.
func (s GroupQuery) selectGroup(robots *policy.Robots, wildcard bool) *policy.SelectedGroup {
	if s.LenientKeys {
		return robots.SelectWithLenientKeys(wildcard, s.Names...)
	}
	return robots.Select(wildcard, s.Names...)
}

// Verdict returns the verdict of a robots.txt about a target. If no group applies to the client,
// every target is allowed.
func (s GroupQuery) Verdict(robots *policy.Robots, target *policy.Target) policy.Verdict {
	group, _, applies := s.Group(robots)
	switch {
	case !applies && s.WellKnownOnly:
		return group.WellKnownGroup().JudgeTarget(target)
	case !applies:
		return policy.Verdict{Allowed: true}
	}
	return s.verdictOfGroup(robots, group, target)
}

// verdictOfGroup returns the verdict of the client's group about a target. For a spoofed client the
// rules of the * group apply too, so that the spoofed name is no advantage.
func (s GroupQuery) verdictOfGroup(robots *policy.Robots, group *policy.SelectedGroup, target *policy.Target) policy.Verdict {
	verdict := group.JudgeTarget(target)
	if !s.Spoofed || !verdict.Allowed {
		return verdict
	}
	wildcardGroup := robots.Select(true)
	switch {
	case s.WildcardApplies:
	case s.WellKnownOnly:
		wildcardGroup = wildcardGroup.WellKnownGroup()
	default:
		return verdict
	}
	if strict := wildcardGroup.JudgeTarget(target); !strict.Allowed {
		return strict
	}
	return verdict
}

// KnownName returns the name of the client of q in the spelling of the registry or of the
// robots.txt, or "" if both lack it.
func (s *Settings) KnownName(q *Request, robots *policy.Robots) string {
	var scratch Scratch
	group, named, _ := q.GroupCache.selectGroup(q.GroupQuery(scratch.names[:0], s.wildcardAppliesToRequest(q)), robots)
	if !named {
		return CrawlerName(q.Client, "")
	}
	return CrawlerName(q.Client, group.FirstAgent().Name)
}

// CrawlerName returns the name of a crawler in the spelling of the registry or of the robots.txt, or
// "" if both lack it. Only these names may be stored, because clients can invent any other name.
// group is the name of the group if the group names the client.
func CrawlerName(client uaident.Identity, group string) string {
	switch {
	case client.HasKnownName():
		return client.Name()
	case group != "" && policy.NameMatches(group, client.Token):
		return group[:len(client.Token)]
	}
	return ""
}
