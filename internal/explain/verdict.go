package explain

import (
	"encoding/json"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Verdict is the verdict on a request with the decisive rule, but without the steps of an
// [Explanation].
type Verdict struct {
	ID         json.RawMessage `json:"id,omitempty"` // ID is from a line of explain --batch.
	URL        string          `json:"url,omitempty"`
	Allowed    bool            `json:"allowed"`
	Verdict    string          `json:"verdict"`
	Rule       string          `json:"rule"`
	Line       int             `json:"line"`
	Group      string          `json:"group"`
	GroupLine  int             `json:"group_line,omitempty"`
	TargetForm string          `json:"form,omitempty"`
	Ambiguous  bool            `json:"ambiguous"`
	Crawler    string          `json:"crawler,omitempty"`
	Class      string          `json:"class,omitempty"`
	Identity   string          `json:"identity,omitempty"`
	// Preferences are the preferences that the file states for the use of the page.
	Preferences string `json:"preferences,omitempty"`
	// Licenses are the URLs in the License lines of the robots.txt.
	Licenses []string `json:"licenses,omitempty"`
	Note     string   `json:"note,omitempty"` // Note is the result of [Site.ClientNote].
	Error    string   `json:"error,omitempty"`

	reason     judge.Reason
	statements []policy.Statement // statements are the lines of robots.txt with these preferences.
}

// Judge returns the verdict on a request. The overlay has the crawler names that only the
// robots.txt defines.
func (s *Site) Judge(robots *policy.Robots, overlay *uaident.Overlay, r Request) Verdict {
	j := s.judge(judge.Rules{Robots: robots}, overlay, r)
	evidence := &j.result.RobotsVerdict
	v := Verdict{
		Allowed: evidence.Allowed, Verdict: j.result.Verdict.String(), Ambiguous: evidence.Ambiguous, reason: j.result.Reason,
		Rule: evidence.Rule.String(), Line: evidence.Rule.Line, Group: evidence.Group.Name, GroupLine: evidence.Group.Line,
	}
	if j.result.Verdict == judge.Allowed {
		v.statements = robots.DecidingStatements(j.result.Group, &j.scratch.Target, j.request.ControlToken())
		v.Preferences = j.result.Preferences.String()
	}
	if evidence.Normalization != 0 {
		v.TargetForm = evidence.Normalization.String()
	}
	switch client := j.request.Client; {
	case r.Token == "*":
	case r.Token != "":
		v.Crawler = r.Token
	case client.Class == uaident.Browser:
		v.Class = client.Class.String()
	default:
		v.Crawler, v.Class, v.Identity = client.Name(), client.Class.String(), r.Identity.String()
	}
	return v
}
