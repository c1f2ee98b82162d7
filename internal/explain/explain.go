package explain

import (
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Explanation describes, as JSON, how robots_guard reaches the verdict on a request.
type Explanation struct {
	UserAgent   string       `json:"user_agent"`
	Token       string       `json:"token,omitempty"` // Token replaces the User-Agent in the request.
	URL         string       `json:"url"`
	Robots      Robots       `json:"robots"`
	Client      Client       `json:"client"`
	Delay       *Delay       `json:"delay"`   // Delay is the delay of the group. It is null if there is none.
	Group       *Group       `json:"group"`   // Group is null if no group was searched or found.
	Target      string       `json:"target"`  // Target is the request target as given.
	TargetForms []TargetForm `json:"forms"`   // TargetForms are the compared forms of the target.
	Matches     []RuleMatch  `json:"matches"` // Matches are the matching rules of the group, the decisive rule first.
	// Interpretations has the verdicts of the strict and of the lenient interpretation of the file.
	// It is empty if the same rules apply to the client. Group and Matches belong to the lenient
	// interpretation.
	Interpretations []Interpretation `json:"readings,omitempty"`
	// Preferences is nil if the file states no preference for the page, or if the page is
	// disallowed.
	Preferences *Preferences `json:"preferences"`
	Verdict     string       `json:"verdict"` // Verdict is allowed, disallowed, exempt or unknown.
	Allowed     bool         `json:"allowed"`
	Reason      string       `json:"why"` // Reason is the verdict in a sentence.
	Rule        string       `json:"rule"`
	Line        int          `json:"line"` // Line is the line of the rule, or 0 if there is none.
	Ambiguous   bool         `json:"ambiguous"`
	Handler     *Handler     `json:"handler"` // Handler is null without a configuration.
}

// Robots describes the robots.txt that decides.
type Robots struct {
	Name      string `json:"name"`              // Name is the file, URL or authority of the robots.txt.
	Version   string `json:"version,omitempty"` // Version is the SHA-256 of a version on a server.
	RuleCount int    `json:"rules"`
	Note      string `json:"note,omitempty"` // Note is a remark, for example that there is no file.
	// Licenses are the URLs in the License lines of the file.
	Licenses []string `json:"licenses,omitempty"`
}

// Client describes the crawler or browser that a User-Agent claims to be.
type Client struct {
	ExaminedWords []uaident.ExaminedWord `json:"words"` // ExaminedWords are the words that affected the result.
	Token         string                 `json:"token"` // Token has the spelling of the User-Agent.
	Name          string                 `json:"name"`  // Name has the spelling of the registry or the robots.txt.
	Class         string                 `json:"class"`
	Evidence      string                 `json:"evidence"`
	// Identity is the assumed identity: claimed, verified, unknown or spoofed.
	Identity string `json:"identity"`
	Operator string `json:"operator,omitempty"`
	// Source is the source of the registry entry about the client.
	Source string `json:"source,omitempty"`
	// WildcardApplies is true if the * group applies to the class of the client.
	WildcardApplies bool `json:"wildcard"`
	// Note is a remark, for example that no request has this name.
	Note string `json:"note,omitempty"`
	// CrawlDelay is how the crawler treats Crawl-delay according to its operator: obeys, ignores or
	// undocumented. DelaySource is the operator's page about Crawl-delay, or empty.
	CrawlDelay  string      `json:"crawl_delay"`
	DelaySource string      `json:"crawl_delay_source,omitempty"`
	GroupNames  []GroupName `json:"chain"` // GroupNames are the names that may select a group, in order.
}

// GroupName is a name that selects a group for the client. Found reports whether a group has the
// name.
type GroupName struct {
	Name  string `json:"name"`
	Found bool   `json:"found"`
}

// Group is the group of the robots.txt that applies to a request. If the * group does not apply
// because of the class, the method or the URL, Group is the * group.
type Group struct {
	Name  string `json:"name"`  // Name is the name in the first user-agent line that matched.
	Lines []int  `json:"lines"` // Lines are all user-agent lines of the merged groups.
	// NamesClient is true if a user-agent line names the client, and false for the * group.
	NamesClient bool `json:"named"`
	RuleCount   int  `json:"rules"`
}

// TargetForm is one of the spellings of the requested target that are compared with the rules. An
// example is the target with resolved dot segments.
type TargetForm struct {
	Text       string `json:"text"`
	Conversion string `json:"form"` // Conversion is the conversion, or "canonical" for the first form.
}

// Interpretation is the verdict of one of the two ways to interpret the file, with its decisive
// rule.
type Interpretation struct {
	Name    string `json:"reading"` // Name is forgiving or strict.
	Allowed bool   `json:"allowed"`
	Group   *Group `json:"group"`
	Rule    string `json:"rule"` // Rule is the deciding rule, or "".
	Line    int    `json:"line"` // Line is the line of the rule, or 0.
}

// RuleMatch is a rule that matches the target.
type RuleMatch struct {
	Rule       string `json:"rule"`
	Line       int    `json:"line"`
	Length     int    `json:"length"` // Length is the length of the canonical form in bytes. The longest rule wins.
	TargetForm string `json:"form"`
}

// Handler describes what the robots_guard of the site does with the request.
type Handler struct {
	Site         string `json:"site,omitempty"` // Site is the configured site, or empty for any site.
	Mode         string `json:"mode"`
	Action       string `json:"action"` // Action is none, logged or blocked.
	ActionReason string `json:"why"`
	// Note is a remark, for example that some requests do not reach the handler.
	Note string `json:"note,omitempty"`
	Rate *Rate  `json:"rate,omitempty"` // Rate is the rate limit of the client. It is nil if there is none.
}

// NoteSeveralGuards is the note if several robots_guard, selected by matchers, serve the site.
const NoteSeveralGuards = "the site has several robots_guard; this is the action of the first, but the request may reach another"

// describeClient returns a description of an identified client. wildcard tells whether the * group
// applies to the client, which is configurable.
func describeClient(r *uaident.Registry, userAgent string, id uaident.Identity, wildcard bool, robots *policy.Robots) Client {
	c := Client{
		ExaminedWords: r.ExaminedWords(userAgent), Token: id.Token, Name: id.Name(), Class: id.Class.String(),
		Evidence: id.Evidence.String(), WildcardApplies: wildcard, GroupNames: []GroupName{},
	}
	if id.Crawler != nil {
		c.Operator, c.Source = id.Crawler.Operator, id.Crawler.Source
	}
	c.setDelaySupport(id.CrawlDelay())
	for _, name := range id.AppendNames(nil) {
		c.GroupNames = append(c.GroupNames, GroupName{name, robots != nil && judge.NamesClient(robots, id, name)})
	}
	return c
}

// replaceByToken changes c to the crawler with a product token. The * group applies to this
// crawler. If the registry does not contain the token, the class, the operator and the data about
// Crawl-delay stay unchanged.
func (c *Client) replaceByToken(token string, r *uaident.Registry, robots *policy.Robots) {
	c.ExaminedWords, c.Token, c.Name, c.Evidence, c.WildcardApplies = []uaident.ExaminedWord{}, token, token, "token", true
	c.GroupNames = []GroupName{}
	if token != "*" {
		c.GroupNames = append(c.GroupNames, GroupName{token, robots != nil && robots.NamesToken(token)})
	}
	if known := r.Lookup(token); known != nil {
		c.Name, c.Class, c.Operator, c.Source = known.Token, known.Class.String(), known.Operator, known.Source
		c.setDelaySupport(known.CrawlDelay)
	}
}

// describeGroup returns a description of the selected group, or nil without a group.
func describeGroup(s *policy.SelectedGroup, named bool) *Group {
	if s == nil {
		return nil
	}
	g := &Group{Name: s.FirstAgent().Name, NamesClient: named, RuleCount: len(s.Rules())}
	for _, a := range s.Agents() {
		g.Lines = append(g.Lines, a.Line)
	}
	return g
}

// maxMatches is the maximum number of reported matching rules.
const maxMatches = 50

// setTarget sets the target, the matching rules, and the interpretations if the file has two.
func (e *Explanation) setTarget(text string, t *policy.Target, s *policy.SelectedGroup) {
	e.Target, e.TargetForms, e.Matches = text, []TargetForm{}, []RuleMatch{}
	for _, f := range t.Variants() {
		e.TargetForms = append(e.TargetForms, TargetForm{f.Text, f.Normalization.String()})
	}
	matches := s.MatchingRules(t)
	for _, m := range matches[:min(len(matches), maxMatches)] {
		e.Matches = append(e.Matches, RuleMatch{m.Rule.String(), m.Rule.Line, m.Length, m.Normalization.String()})
	}
	e.Matches = slices.Clip(e.Matches)
	if !s.IsAmbiguous() {
		return
	}
	lenient, strict := s.LenientAndStrict()
	for _, r := range []struct {
		name string
		says *policy.SelectedGroup
	}{{"forgiving", lenient}, {"strict", strict}} {
		v := r.says.JudgeTarget(t)
		e.Interpretations = append(e.Interpretations, Interpretation{r.name, v.Allowed, describeGroup(r.says, r.says.NamesCrawler()), v.Rule.String(), v.Rule.Line})
	}
}
