// Package judge decides by a robots.txt what a client may fetch. It is what the
// handler, the commands and the replay of logs have in common, so that all of
// them come to the same verdict.
package judge

import (
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Claim is how a client is found in a robots.txt.
type Claim struct {
	Chain     []string // the names to try
	Wildcard  bool     // whether the * group is meant for its request
	Forgiving bool     // it reads misspelt keys and lines without a colon, see [uaident.Identity.Forgiving]
	False     bool     // it is known not to be who it says
}

// Group returns the group that the client has to obey, nil if there is none,
// and whether the group names it. exempt says that there is a * group, which is
// not meant for it.
func (c Claim) Group(robots *policy.Robots) (group *policy.Selection, named, exempt bool) {
	if group = c.choose(robots, c.Wildcard); group != nil || c.Wildcard {
		return group, group.Named(), false
	}
	group = robots.Select(true)
	return group, false, group != nil
}

// choose is Select for the client.
func (c Claim) choose(robots *policy.Robots, global bool) *policy.Selection {
	if c.Forgiving {
		return robots.SelectForgiving(global, c.Chain...)
	}
	return robots.Select(global, c.Chain...)
}

// Verdict judges a target. A client that the * group is not meant for may fetch
// everything.
func (c Claim) Verdict(robots *policy.Robots, target *policy.Target) policy.Verdict {
	group, _, exempt := c.Group(robots)
	if exempt {
		return policy.Verdict{Allowed: true}
	}
	return c.Judge(robots, group, target)
}

// Judge judges a target by the client's group. A client under a false name gains
// nothing by it: what the * group forbids is forbidden to it, too, where that
// group judges at all.
func (c Claim) Judge(robots *policy.Robots, group *policy.Selection, target *policy.Target) policy.Verdict {
	verdict := group.JudgeTarget(target)
	if c.False && c.Wildcard && verdict.Allowed {
		if everybody := robots.Select(true).JudgeTarget(target); !everybody.Allowed {
			return everybody
		}
	}
	return verdict
}

// KnownName returns the crawler's name as the registry or the robots.txt spells
// it, "" if neither does: only such a name may be kept, for clients can invent
// all others. group is the name of its group if that names the client, else "".
func KnownName(client uaident.Identity, group string) string {
	switch {
	case client.Known():
		return client.Name()
	case group != "" && policy.NameMatches(group, client.Token):
		return group[:len(client.Token)]
	}
	return ""
}
