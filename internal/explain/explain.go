package explain

import (
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Explanation is the chain of reasoning about one request, as --json and the
// admin API print it.
type Explanation struct {
	UserAgent string  `json:"user_agent"`
	Token     string  `json:"token,omitempty"` // that was asked about instead of a User-Agent
	URL       string  `json:"url"`
	Robots    Robots  `json:"robots"`
	Client    Client  `json:"client"`
	Delay     *Delay  `json:"delay"`   // that the group asks for; null for none
	Group     *Group  `json:"group"`   // null where no group was looked for or found
	Target    string  `json:"target"`  // what is compared with rules, as requested
	Forms     []Form  `json:"forms"`   // in which it is compared
	Matches   []Match `json:"matches"` // rules of the group that match, the decisive one first
	// Readings are what each way to read the file says, where it has two for the
	// client; Group and Matches are the forgiving one's.
	Readings []Reading `json:"readings,omitempty"`
	// Preferences is nil where nothing is stated, or nothing may be fetched.
	Preferences *Preferences `json:"preferences"`
	Verdict     string       `json:"verdict"` // allowed, disallowed, stale, exempt or unknown
	Allowed     bool         `json:"allowed"`
	Why         string       `json:"why"` // the verdict in a sentence
	Rule        string       `json:"rule"`
	Line        int          `json:"line"` // of the rule, 0 for none
	Ambiguous   bool         `json:"ambiguous"`
	Handler     *Handler     `json:"handler"` // null where no configuration is known
}

// Robots is the file that was asked.
type Robots struct {
	Name    string `json:"name"`              // file, URL or authority
	Version string `json:"version,omitempty"` // SHA-256 of a version that a server holds
	Rules   int    `json:"rules"`
	Note    string `json:"note,omitempty"` // such as that there is none
	// Licenses are the terms that License lines lead to; left out for none.
	Licenses []string `json:"licenses,omitempty"`
}

// Client is who the User-Agent claims to be.
type Client struct {
	Words    []uaident.SeenWord `json:"words"` // those that counted for something
	Token    string             `json:"token"` // as sent
	Name     string             `json:"name"`  // as the registry or the robots.txt spells it
	Class    string             `json:"class"`
	Evidence string             `json:"evidence"`
	Identity string             `json:"identity"` // claimed, verified, unknown or spoofed: what is assumed here
	Operator string             `json:"operator,omitempty"`
	Source   string             `json:"source,omitempty"` // of what the registry says
	Wildcard bool               `json:"wildcard"`         // whether the * group is meant for its class
	Note     string             `json:"note,omitempty"`   // such as that no request carries the name
	// CrawlDelay is what the crawler does with Crawl-delay by its operator's word: obeys,
	// ignores or undocumented. DelaySource is the page that says so, if there is one.
	CrawlDelay  string `json:"crawl_delay"`
	DelaySource string `json:"crawl_delay_source,omitempty"`
	Chain       []Try  `json:"chain"` // names under which a group may address it, in this order
}

// Try is a name that was looked for in the robots.txt.
type Try struct {
	Name  string `json:"name"`
	Found bool   `json:"found"`
}

// Group is the group that decides.
type Group struct {
	Name  string `json:"name"`  // of the first user-agent line that chose it
	Lines []int  `json:"lines"` // of all of them: they are merged
	Named bool   `json:"named"` // whether it names the client rather than being the * group
	Rules int    `json:"rules"`
}

// Form is a form of the target.
type Form struct {
	Text string `json:"text"`
	Form string `json:"form"` // how it was made, "canonical" for the first
}

// Reading is what one way to read the file says about the target.
type Reading struct {
	Reading string `json:"reading"` // forgiving or strict
	Allowed bool   `json:"allowed"`
	Group   *Group `json:"group"`
	Rule    string `json:"rule"` // that decides, "" for none
	Line    int    `json:"line"` // 0 for none
}

// Match is a rule that matches.
type Match struct {
	Rule   string `json:"rule"`
	Line   int    `json:"line"`
	Length int    `json:"length"` // in bytes of the canonical form; the longest wins
	Form   string `json:"form"`
}

// Handler is what a configured robots_guard would do.
type Handler struct {
	Site   string `json:"site,omitempty"` // that the configuration is for, "" for any
	Mode   string `json:"mode"`
	Action string `json:"action"` // none, logged or blocked
	Why    string `json:"why"`
	Note   string `json:"note,omitempty"` // such as that not every request gets there
	Rate   *Rate  `json:"rate,omitempty"` // how fast the client may ask, nil where nothing is asked of it
}

// FirstOfSeveral is the note where a site has several guards, of which matchers choose.
const FirstOfSeveral = "the site has several robots_guard, and this is the first: which of them the request comes to is not told here"

// clientOf describes a client. wildcard says whether the * group is meant for
// it, which may be configured.
func clientOf(r *uaident.Registry, userAgent string, id uaident.Identity, wildcard bool, robots *policy.Robots) Client {
	c := Client{
		Words: r.Seen(userAgent), Token: id.Token, Name: id.Name(), Class: id.Class.String(),
		Evidence: id.Evidence.String(), Wildcard: wildcard, Chain: []Try{},
	}
	if id.Crawler != nil {
		c.Operator, c.Source = id.Crawler.Operator, id.Crawler.Source
	}
	c.setHabit(id.CrawlDelay())
	for _, name := range id.AppendChain(nil) {
		c.Chain = append(c.Chain, Try{name, robots != nil && judge.Named(robots, id, name)})
	}
	return c
}

// become makes c the client that is a product token and obeys the * group. What
// the registry says of it stays.
func (c *Client) become(token string, r *uaident.Registry, robots *policy.Robots) {
	c.Words, c.Token, c.Name, c.Evidence, c.Wildcard = []uaident.SeenWord{}, token, token, "token", true
	c.Note = judge.AboutToken(r, token)
	c.Chain = []Try{}
	if token != "*" {
		c.Chain = append(c.Chain, Try{token, robots != nil && robots.Named(token)})
	}
	if known := r.Lookup(token); known != nil {
		c.Name, c.Class, c.Operator, c.Source = known.Token, known.Class.String(), known.Operator, known.Source
		c.setHabit(known.CrawlDelay)
	}
}

// groupOf describes the group that was chosen, nil for none.
func groupOf(s *policy.Selection, named bool) *Group {
	if s == nil {
		return nil
	}
	g := &Group{Name: s.Group().Name, Named: named, Rules: len(s.Rules())}
	for _, a := range s.Agents() {
		g.Lines = append(g.Lines, a.Line)
	}
	return g
}

// maxMatches bounds how many matching rules are told.
const maxMatches = 50

// SetTarget describes the target and the rules that match it.
func (e *Explanation) SetTarget(text string, t *policy.Target, s *policy.Selection) {
	e.Target, e.Forms, e.Matches = text, []Form{}, []Match{}
	for _, f := range t.Forms() {
		e.Forms = append(e.Forms, Form{f.Text, f.Form.String()})
	}
	matches := s.Matches(t)
	for _, m := range matches[:min(len(matches), maxMatches)] {
		e.Matches = append(e.Matches, Match{m.Rule.String(), m.Rule.Line, m.Length, m.Form.String()})
	}
	e.Matches = slices.Clip(e.Matches)
	if !s.Ambiguous() {
		return
	}
	forgiving, strict := s.Readings()
	for _, r := range []struct {
		name string
		says *policy.Selection
	}{{"forgiving", forgiving}, {"strict", strict}} {
		v := r.says.JudgeTarget(t)
		e.Readings = append(e.Readings, Reading{r.name, v.Allowed, groupOf(r.says, r.says.Named()), v.Rule.String(), v.Rule.Line})
	}
}
