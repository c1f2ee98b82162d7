package explain

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// WriteText writes the explanation for people. It ignores errors of the writer, which a
// [text.Terminal] stores.
func (e *Explanation) WriteText(w io.Writer) {
	p := printer{w}
	if e.Token != "" {
		p.heading("Product token")
		p.line("%s", e.Token)
	} else {
		p.heading("User-Agent")
		p.line("%s", cmp.Or(e.UserAgent, "(empty)"))
	}
	p.client(&e.Client)
	p.heading("robots.txt")
	p.line("%s, %s", e.Robots.Name, ruleCount(e.Robots.Rules))
	if e.Robots.Note != "" {
		p.line("%s", e.Robots.Note)
	}
	for _, license := range e.Robots.Licenses {
		p.line("License: %s, terms for the whole file; they do not block fetching", license)
	}
	p.group(e)
	p.target(e)
	p.preferences(e.Preferences)
	p.heading("Verdict")
	ambiguous := ""
	if e.Ambiguous {
		ambiguous = " (ambiguous: compliant crawlers may differ)"
	}
	p.print("  " + text.Colorize(w, e.Verdict) + ambiguous + ": " + text.Printable(e.Why) + "\n")
	if h := e.Handler; h != nil {
		p.heading("Handler")
		site := "robots_guard"
		if h.Site != "" {
			site += " of " + h.Site
		}
		p.line("%s, mode %s: action %s, %s", site, h.Mode, h.Action, h.Why)
		p.rate(h.Rate)
		if h.Note != "" {
			p.line("%s", h.Note)
		}
	}
}

// printer writes lines.
type printer struct{ w io.Writer }

func (p *printer) heading(s string) { p.print(s + "\n") }

// line prints an indented line. Control characters, which could affect the terminal, are replaced.
func (p *printer) line(format string, args ...any) {
	p.print("  " + text.Printable(fmt.Sprintf(format, args...)) + "\n")
}

func (p *printer) print(s string) {
	_, _ = io.WriteString(p.w, s)
}

func (p *printer) client(c *Client) {
	p.heading("Client")
	if len(c.Words) == 0 && c.Evidence != "token" {
		p.line("only words that browsers send, and numbers")
	}
	for _, word := range c.Words {
		notes := append([]string{wordKinds[word.Kind]}, word.Notes...)
		p.line("%q: %s", word.Text, strings.Join(notes, ", "))
	}
	switch {
	case c.Token == "*":
		p.line("no client is given, so only the * group applies")
		return
	case c.Evidence == "token":
		p.line("product token %s, class %s; the * group applies if no group names it", c.Name, c.Class)
	case c.Token == "":
		p.line("does not claim to be a crawler: class %s", c.Class)
		return
	default:
		p.line("claims to be %s, class %s; evidence: %s", c.Name, c.Class, evidenceText(c.Evidence))
	}
	if c.Identity != "claimed" {
		p.line("its assumed identity is %s", c.Identity)
	}
	if c.Operator != "" {
		p.line("operator: %s", c.Operator)
	}
	if c.Source != "" {
		p.line("source: %s", c.Source)
	}
	if c.Note != "" {
		p.line("note: %s", c.Note)
	}
}

// wordKinds describes the kinds of words in a User-Agent.
var wordKinds = map[string]string{
	"name": "a name in the registry", "contact": "a URL or mail address", "generic": "says that it is a robot",
	"tool": "a word for its purpose", "unknown": "an unknown word",
}

// evidenceText describes the evidence for an identity.
func evidenceText(e string) string {
	switch e {
	case "registry":
		return "its name in the registry"
	case "family":
		return "a registered name at the beginning of its name"
	case "policy name":
		return "a product name in the robots.txt"
	case "suffix":
		return "the end of its name"
	case "convention":
		return `the form "(compatible; name/version; +contact)"`
	case "robot's contact":
		return "a contact that says it is a robot's"
	case "compatible":
		return `its position after "compatible;"`
	case "contact":
		return "the contact after its name"
	case "tool":
		return "a word for its purpose"
	case "structure":
		return "the words after its name"
	case "library", "headless":
		return "the name of a " + e + " client"
	case "first product":
		return "its first product, which is not Mozilla"
	}
	return e
}

func (p *printer) group(e *Explanation) {
	p.heading("Group")
	if len(e.Client.Chain) == 0 {
		p.line("no group name applies to this client")
	}
	for _, try := range e.Client.Chain {
		if try.Found {
			p.line("%s: a group has this name", try.Name)
			break
		}
		p.line("%s: no group has this name", try.Name)
	}
	switch g := e.Group; {
	case g == nil && (e.Client.Token == "" || len(e.Forms) == 0): // or the rules were not compared
	case g == nil:
		p.line("the file has no * group")
	case g.Named:
		p.line("the group %s in %s applies, with %s", g.Name, lines(g.Lines), ruleCount(g.Rules))
	case e.Client.Wildcard:
		p.line("the * group in %s applies, with %s", lines(g.Lines), ruleCount(g.Rules))
	default:
		p.line("the * group in %s does not apply to the class %s", lines(g.Lines), e.Client.Class)
		return
	}
	p.delay(e.Delay)
}

func (p *printer) target(e *Explanation) {
	if e.Target == "" {
		return
	}
	p.heading("Rule")
	p.line("target: %s", e.Target)
	for _, f := range e.Forms {
		p.line("compared as %s (%s)", f.Text, f.Form)
	}
	defer p.interpretations(e.Interpretations)
	if len(e.Matches) == 0 {
		p.line("no rule of the group matches")
		return
	}
	for _, m := range e.Matches {
		form := ""
		if m.Form != "canonical" {
			form = " by " + m.Form
		}
		unit := "bytes"
		if m.Length == 1 {
			unit = "byte"
		}
		p.line("%4d %s: %s in line %d%s", m.Length, unit, m.Rule, m.Line, form)
	}
	if len(e.Matches) > 1 {
		p.line("the longest rule decides; Allow if two are equally long")
	}
}

// interpretations prints the result of each interpretation.
func (p *printer) interpretations(list []Interpretation) {
	if len(list) == 0 {
		return
	}
	p.line("crawlers interpret this file in two ways; a URL is disallowed if both interpretations disallow it:")
	for _, r := range list {
		verdict, group, rule := "disallows", "no group", "no rule"
		if r.Allowed {
			verdict = "allows"
		}
		if r.Group != nil {
			group = "the group " + r.Group.Name
		}
		if r.Rule != "" {
			rule = fmt.Sprintf("%s in line %d", r.Rule, r.Line)
		}
		p.line("the %s interpretation %s it: %s, %s", r.Name, verdict, group, rule)
	}
}

// ruleCount formats a number of rules.
func ruleCount(n int) string {
	if n == 1 {
		return "1 rule"
	}
	return fmt.Sprintf("%d rules", n)
}

func lines(numbers []int) string {
	if len(numbers) == 1 {
		return fmt.Sprintf("line %d", numbers[0])
	}
	const most = 8
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers[:min(len(numbers), most)]), " ", ", "), "[]")
	if len(numbers) > most {
		text += fmt.Sprintf(" and %d more", len(numbers)-most)
	}
	return "lines " + text
}
