package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// printTrials prints the robots.txt files on trial, with their results at each site.
func printTrials(w io.Writer, found *admin.Status) {
	for _, t := range found.TrialFiles {
		from := text.Printable(t.Source)
		switch {
		case t.Error != "" && t.Version == "":
			fmt.Fprintf(w, "\nnot on trial: %s: %s\n", from, text.Printable(t.Error))
		case t.Error != "":
			fmt.Fprintf(w, "\non trial with the last readable version: %s cannot be read: %s\n", from, text.Printable(t.Error))
		case t.Version == "" || len(found.Trials) == 0:
			fmt.Fprintf(w, "\non trial: %s; no crawler has sent a request since\n", from)
		}
	}
	for i := range found.Trials {
		printTrial(w, &found.Trials[i])
	}
}

// printTrial prints the requests at a site whose verdict would change with the robots.txt on trial.
func printTrial(w io.Writer, t *report.Trial) {
	fmt.Fprintf(w, "\non trial at %s: %s since %s\n", text.Printable(t.Site), text.Printable(t.Source), formatTime(t.Since))
	fmt.Fprintf(w, "  %s\n  search engines: %s\n", formatDifferences(t.VerdictDifferences), formatDifferences(t.Search))
	if t.NewlyForbidden+t.NewlyAllowed == 0 {
		return
	}
	table := text.NewTable(w, text.Column{Title: "CRAWLER"}, text.Column{Title: "CLASS"}, text.Column{Title: "IDENTITY"}, text.Column{Title: "WOULD BE"},
		text.Column{Title: "REQUESTS"}, text.Column{Title: "PAGE"}, text.Column{Title: "BY", Kind: text.ProseColumn})
	for _, c := range t.Crawlers {
		for _, p := range c.Pages {
			count := fmt.Sprint(p.Count)
			if p.Error > 0 {
				count = "<=" + count
			}
			wouldBe, by := "disallowed", "on trial: "+formatLine(p.RuleOnTrial)+"; in force: "+formatLine(p.RuleInForce)
			if p.Difference == shadow.NewlyAllowed.String() {
				wouldBe, by = "allowed", "in force: "+formatLine(p.RuleInForce)+"; on trial: "+formatLine(p.RuleOnTrial)
			}
			table.AddRow(text.Printable(c.Token), c.Class, c.Identity, wouldBe, count, text.Printable(p.Host+p.Path), by)
		}
	}
	table.Flush()
}

func formatDifferences(d report.VerdictDifferences) string {
	return fmt.Sprintf("requests judged by both: %d, newly disallowed %d, newly allowed %d", d.Requests, d.NewlyForbidden, d.NewlyAllowed)
}

func formatLine(l report.TrialRule) string {
	if l.Line == 0 {
		return "no rule"
	}
	return strings.TrimSpace(fmt.Sprintf("line %d, %s", l.Line, text.Printable(l.Rule)))
}
