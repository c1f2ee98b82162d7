package command

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/explain"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// briefResult is the verdict on one URL, as --brief prints it.
type briefResult struct {
	ID        any    `json:"id,omitempty"`
	URL       string `json:"url,omitempty"`
	Crawler   string `json:"crawler,omitempty"`
	Class     string `json:"class,omitempty"`
	Identity  string `json:"identity,omitempty"`
	Allowed   bool   `json:"allowed"`
	Verdict   string `json:"verdict"`
	Rule      string `json:"rule"`
	Line      int    `json:"line"`
	Group     string `json:"group"`
	GroupLine int    `json:"group_line,omitempty"`
	Form      string `json:"form,omitempty"`
	Ambiguous bool   `json:"ambiguous"`
	// Preferences are the preferences about the use of the page.
	Preferences string `json:"preferences,omitempty"`
	// Licenses are the license terms that the robots.txt links to.
	Licenses []string `json:"licenses,omitempty"`
	Note     string   `json:"note,omitempty"` // for example that no request carries the name

	reason judge.Reason
	// statements are the lines behind Preferences.
	statements []policy.Statement
}

// requester is the client that requests a URL: a product token, or a User-Agent.
type requester struct {
	token        string
	userAgent    string
	hasUserAgent bool
	client       uaident.Identity // set by [claimant.identified]
	method       string           // GET if ""
	identity     verify.State     // assumed
}

// runBrief judges each URL and prints a line for it.
func (x *explainRunner) runBrief(cmd *cobra.Command, urls []string, who requester) (findings bool, err error) {
	reader := newRobotsReader(&x.config, cmd)
	note := who.note()
	results := make([]briefResult, len(urls))
	for i, u := range urls {
		at, file, err := x.siteOf(reader, u)
		if err != nil {
			return false, err
		}
		result := judgeURL(&at.site, file.rules, who.identified(&at.site, file.rules), u)
		result.URL, result.Note = u, note
		findings = findings || !result.Allowed
		results[i] = result
	}
	err = printBrief(cmd, x.output, results)
	reader.printNotes()
	if note != "" && !x.output.json {
		printNote(cmd.ErrOrStderr(), "note", note)
	}
	return findings, err
}

// note returns a remark about the client, such as that no request carries its name.
func (who *requester) note() string {
	token := who.token
	if who.hasUserAgent {
		token = ""
		if c := uaident.Identify(who.userAgent).Crawler; c != nil {
			token = c.Token
		}
	}
	return judge.TokenHint(uaident.Default(), token)
}

// identified returns the claimant with its client set: the registry of the site and the
// names in the robots.txt identify its User-Agent.
func (who requester) identified(site *explain.Site, robots *policy.Robots) requester {
	if who.hasUserAgent {
		who.client = site.Settings.Identify(site.Registry, who.userAgent, site.Registry.Overlay(robots.Names()))
	}
	return who
}

// overlayOf returns the names that only a robots.txt has.
func overlayOf(robots *policy.Robots) *uaident.Overlay {
	return uaident.Default().Overlay(robots.Names())
}

// judgeURL judges one URL as the server does. The claimant has been identified.
func judgeURL(site *explain.Site, robots *policy.Robots, who requester, u string) briefResult {
	q := judge.Request{Method: who.method, Target: policy.TargetOf(u), Identity: who.identity, Client: who.client}
	if !who.hasUserAgent {
		q.Token = cmp.Or(who.token, "*")
	}
	var scratch judge.Scratch
	var r judge.Result
	site.Settings.Judge(&q, judge.Rules{Robots: robots}, &scratch, &r)
	evidence := r.RobotsVerdict
	result := briefResult{
		Licenses: robots.Licenses(), Allowed: evidence.Allowed, Verdict: r.Verdict.String(), Ambiguous: evidence.Ambiguous, reason: r.Reason,
		Rule: evidence.Rule.String(), Line: evidence.Rule.Line, Group: evidence.Group.Name, GroupLine: evidence.Group.Line,
	}
	if r.Verdict == judge.Allowed {
		result.statements = robots.DecidingStatements(r.Group, &scratch.Target, q.ControlToken())
		result.Preferences = r.Preferences.String()
	}
	if evidence.Form != 0 {
		result.Form = evidence.Form.String()
	}
	switch {
	case !who.hasUserAgent:
		if q.Token != "*" {
			result.Crawler = q.Token
		}
	case q.Client.Class == uaident.Browser:
		result.Class = q.Client.Class.String()
	default:
		result.Crawler, result.Class, result.Identity = q.Client.Name(), q.Client.Class.String(), who.identity.String()
	}
	return result
}

// printBrief prints the results as a table, or a JSON object per line.
func printBrief(cmd *cobra.Command, o output, results []briefResult) error {
	if o.json {
		enc := newEncoder(cmd.OutOrStdout())
		for _, r := range results {
			if err := enc.Encode(r); err != nil {
				return err
			}
		}
		return nil
	}
	return o.print(cmd, results, func(w io.Writer) {
		table := text.NewTable(w, text.Column{Title: "VERDICT", Kind: text.VerdictColumn}, text.Column{Title: "URL", Kind: text.LongColumn},
			text.Column{Title: "LINE"}, text.Column{Title: "RULE", Kind: text.LongColumn}, text.Column{Title: "GROUP"})
		for _, r := range results {
			line, rule, group := "-", "-", cmp.Or(text.Printable(r.Group), "-")
			if r.Line > 0 {
				line, rule = fmt.Sprint(r.Line), text.Printable(r.Rule)
			}
			if r.Ambiguous {
				group += " (ambiguous)"
			}
			table.AddRow(r.Verdict, text.Printable(r.URL), line, rule, group)
		}
		table.Flush()
	})
}
