package lint

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// maxRobotsPerApp is the maximum number of robots of an operator that shares its name with an app.
// An operator with more robots has many products, and no app has the name of the company.
const maxRobotsPerApp = 4

// appRobots maps the lower-case name of an operator to all its robots, the most similar name first.
// appRobots contains an operator only if a robot fetches pages for people, no robot has exactly the
// name of the operator, and an app may have this name.
var appRobots = sync.OnceValue(func() map[string][]string {
	registry := uaident.Default()
	robots := make(map[string][]string)
	forPeople := make(map[string]bool)
	for _, c := range registry.Crawlers() {
		name := strings.ToLower(c.Operator)
		robots[name] = append(robots[name], c.Token)
		forPeople[name] = forPeople[name] || c.Class == uaident.Preview || c.Class == uaident.AIAssistant
	}
	maps.DeleteFunc(robots, func(name string, tokens []string) bool {
		slices.SortStableFunc(tokens, func(a, b string) int {
			return cmp.Or(cmp.Compare(rankRobotForName(b, name), rankRobotForName(a, name)), cmp.Compare(len(a), len(b)))
		})
		return !forPeople[name] || len(tokens) > maxRobotsPerApp || rankRobotForName(tokens[0], name) == 0 || !wouldMatchApp(registry, name)
	})
	return robots
})

// wouldMatchApp reports whether a group with this name would apply to the User-Agent of a phone app
// with this name.
func wouldMatchApp(registry *uaident.Registry, name string) bool {
	client := registry.IdentifyWithOverlay(name+"/1.0 (iPhone; iOS 18.5; Scale/3.00)", registry.NewOverlay([]string{name}))
	return client.Crawler == nil && client.Class != uaident.Browser && strings.EqualFold(client.Token, name)
}

// rankRobotForName returns 2 if a robot's token is name with the ending "bot", 1 if the token begins
// with name, and 0 otherwise. An author who writes name probably wants to address the robot with
// the highest value.
func rankRobotForName(token, name string) int {
	switch folded := strings.ToLower(token); {
	case folded == name+"bot":
		return 2
	case strings.HasPrefix(folded, name):
		return 1
	}
	return 0
}

// checkAppName adds a finding if the group disallows URLs for an app that people use and that is
// not a robot. checkAppName reports whether it added a finding.
func (c *checker) checkAppName(g *policy.Group, a policy.Agent, name string) bool {
	robots := appRobots()[strings.ToLower(name)]
	forbids := slices.IndexFunc(g.Rules, func(r policy.Rule) bool { return !r.Allow && r.CanonicalPath() != "" })
	if forbids < 0 || robots == nil && !uaident.IsApplication(name) {
		return false
	}
	if robots == nil {
		c.addValueFinding(AppName, a.Line, "no crawler uses the name %s, but an application that people use does; robots_guard does not apply the group to people in the application's browser; "+
			"remove the name, or write token:%s in the configuration to block these people", quoteExcerpt(name), text.Printable(name))
		return true
	}
	instead := robots[0]
	if more := robots[1:]; len(more) > 0 {
		instead += " or " + strings.Join(more, ", ")
	}
	c.addValueFinding(AppName, a.Line, "no robot uses the name %s, but an app does, so %s in line %d blocks the users of the app; to block the robot, write %s",
		quoteExcerpt(name), text.Printable(g.Rules[forbids].String()), g.Rules[forbids].Line, instead)
	return true
}
