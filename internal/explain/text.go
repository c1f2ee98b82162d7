package explain

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// WriteText writes the explanation for people. WriteText ignores errors of the writer, which a
// [text.Terminal] stores.
func (e *Explanation) WriteText(w io.Writer) {
	p := printer{w}
	if e.Token != "" {
		p.printHeading("Product token")
		p.printLine("%s", e.Token)
	} else {
		p.printHeading("User-Agent")
		p.printLine("%s", cmp.Or(e.UserAgent, "(empty)"))
	}
	p.printClient(&e.Client)
	p.printHeading("robots.txt")
	p.printLine("%s, %s", e.Robots.Name, formatRuleCount(e.Robots.RuleCount))
	if e.Robots.Note != "" {
		p.printLine("%s", e.Robots.Note)
	}
	for _, license := range e.Robots.Licenses {
		p.printLine("License: %s, terms for the whole file; they do not block fetching", license)
	}
	p.printGroup(e)
	p.printTarget(e)
	p.printPreferences(e.Preferences)
	p.printHeading("Verdict")
	ambiguous := ""
	if e.Ambiguous {
		ambiguous = " (ambiguous: compliant crawlers may differ)"
	}
	p.print("  " + text.Colorize(w, e.Verdict) + ambiguous + ": " + text.Printable(e.Reason) + "\n")
	if h := e.Handler; h != nil {
		p.printHeading("Handler")
		site := "robots_guard"
		if h.Site != "" {
			site += " of " + h.Site
		}
		p.printLine("%s, mode %s: action %s, %s", site, h.Mode, h.Action, h.ActionReason)
		p.printRate(h.Rate)
		if h.Note != "" {
			p.printLine("%s", h.Note)
		}
	}
}

// printer writes the lines of an explanation for people.
type printer struct{ w io.Writer }

func (p *printer) printHeading(s string) { p.print(s + "\n") }

// printLine prints an indented line. A question mark replaces each control character, which could
// change the state of the terminal.
func (p *printer) printLine(format string, args ...any) {
	p.print("  " + text.Printable(fmt.Sprintf(format, args...)) + "\n")
}

func (p *printer) print(s string) {
	_, _ = io.WriteString(p.w, s)
}

func (p *printer) printClient(c *Client) {
	p.printHeading("Client")
	if len(c.ExaminedWords) == 0 && c.Evidence != "token" {
		p.printLine("the User-Agent has only words that browsers send, and numbers")
	}
	for _, word := range c.ExaminedWords {
		notes := append([]string{wordKindDescriptions[word.Kind]}, word.Notes...)
		p.printLine("%q: %s", word.Text, strings.Join(notes, ", "))
	}
	switch {
	case c.Token == "*":
		p.printLine("no client is given, so only the * group applies")
		return
	case c.Evidence == "token":
		p.printLine("product token %s, class %s; the * group applies if no group names it", c.Name, c.Class)
	case c.Token == "":
		p.printLine("does not claim to be a crawler: class %s", c.Class)
		return
	default:
		p.printLine("claims to be %s, class %s; evidence: %s", c.Name, c.Class, describeEvidence(c.Evidence))
	}
	if c.Identity != "claimed" {
		p.printLine("its assumed identity is %s", c.Identity)
	}
	if c.Operator != "" {
		p.printLine("operator: %s", c.Operator)
	}
	if c.Source != "" {
		p.printLine("source: %s", c.Source)
	}
	if c.Note != "" {
		p.printLine("note: %s", c.Note)
	}
}

// wordKindDescriptions describes the kinds of words in a User-Agent.
var wordKindDescriptions = map[string]string{
	"name": "a name in the registry", "contact": "a URL or mail address", "generic": "a word for robots",
	"tool": "a word for its purpose", "unknown": "an unknown word",
}

// describeEvidence returns in words by what evidence a client was identified.
func describeEvidence(e string) string {
	switch e {
	case "registry":
		return "its name in the registry"
	case "family":
		return "its name, which begins with a registered name"
	case "policy name":
		return "a product name in the robots.txt"
	case "suffix":
		return "its name, which ends like the name of a robot"
	case "convention":
		return `the form "(compatible; name/version; +contact)"`
	case "robot's contact":
		return "the URL or mail address of a robot"
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

func (p *printer) printGroup(e *Explanation) {
	p.printHeading("Group")
	if len(e.Client.GroupNames) == 0 {
		p.printLine("no group name applies to this client")
	}
	for _, try := range e.Client.GroupNames {
		if try.Found {
			p.printLine("%s: the file has a group with this name", try.Name)
			break
		}
		p.printLine("%s: the file has no group with this name", try.Name)
	}
	switch g := e.Group; {
	case g == nil && (e.Client.Token == "" || len(e.TargetForms) == 0):
		// The client is a browser, or the rules were not compared.
	case g == nil:
		p.printLine("the file has no * group")
	case g.NamesClient:
		p.printLine("the group %s in %s applies, with %s", g.Name, formatLineNumbers(g.Lines), formatRuleCount(g.RuleCount))
	case e.Client.WildcardApplies && e.Verdict == judge.Exempt.String():
		// The group applies to the class, but not to the method or the URL.
		p.printLine("the * group in %s does not apply to this request", formatLineNumbers(g.Lines))
		return
	case e.Client.WildcardApplies:
		p.printLine("the * group in %s applies, with %s", formatLineNumbers(g.Lines), formatRuleCount(g.RuleCount))
	default:
		p.printLine("the * group in %s does not apply to the class %s", formatLineNumbers(g.Lines), e.Client.Class)
		return
	}
	p.printDelay(e.Delay)
}

func (p *printer) printTarget(e *Explanation) {
	if e.Target == "" {
		return
	}
	p.printHeading("Rule")
	p.printLine("target: %s", e.Target)
	for _, f := range e.TargetForms {
		p.printLine("compared as %s (%s)", f.Text, f.Conversion)
	}
	defer p.printInterpretations(e.Interpretations)
	if len(e.Matches) == 0 {
		p.printLine("no rule of the group matches")
		return
	}
	for _, m := range e.Matches {
		form := ""
		if m.TargetForm != "canonical" {
			form = " by " + m.TargetForm
		}
		unit := "bytes"
		if m.Length == 1 {
			unit = "byte"
		}
		p.printLine("%4d %s: %s in line %d%s", m.Length, unit, m.Rule, m.Line, form)
	}
	if len(e.Matches) > 1 {
		p.printLine("the longest rule decides; if two are equally long, Allow decides")
	}
}

// printInterpretations prints the verdict of each interpretation of the file.
func (p *printer) printInterpretations(list []Interpretation) {
	if len(list) == 0 {
		return
	}
	p.printLine("crawlers interpret this file in two ways; a URL is disallowed if both interpretations disallow it:")
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
		p.printLine("the %s interpretation %s it: %s, %s", r.Name, verdict, group, rule)
	}
}

// formatRuleCount returns "1 rule" or the number and "rules".
func formatRuleCount(n int) string {
	if n == 1 {
		return "1 rule"
	}
	return fmt.Sprintf("%d rules", n)
}

func formatLineNumbers(numbers []int) string {
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
