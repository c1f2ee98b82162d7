package diff

import (
	"fmt"
	"io"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// maxListedCrawlers is the maximum number of listed crawlers per class.
const maxListedCrawlers = 5

// WriteText writes the effects of the edit for people. WriteText ignores errors of the writer,
// which a [text.Terminal] stores.
func (r *Result) WriteText(w io.Writer) {
	word := "rules"
	if r.RulesAdded == 1 {
		word = "rule"
	}
	fmt.Fprintf(w, "%d %s added, %d removed\n", r.RulesAdded, word, r.RulesRemoved)
	if len(r.Changes) == 0 {
		fmt.Fprintln(w, "No changed verdict was found.")
	}
	for _, c := range r.Changes {
		fmt.Fprintln(w)
		c.writeText(w)
	}
}

func (c *Change) writeText(w io.Writer) {
	for _, of := range c.Crawlers {
		names := strings.Join(of.Names[:min(len(of.Names), maxListedCrawlers)], ", ")
		if n := len(of.Names) - maxListedCrawlers; n > 0 {
			names += fmt.Sprintf(" and %d more", n)
		}
		fmt.Fprintf(w, "%s: %s\n", of.Class, text.Printable(names))
	}
	before, after := displayGroupName(c.OldGroup), displayGroupName(c.NewGroup)
	if before == after {
		fmt.Fprintf(w, "  group: %s\n", after)
	} else {
		fmt.Fprintf(w, "  group: %s, before %s\n", after, before)
	}
	for _, rule := range c.Added {
		fmt.Fprintf(w, "  + %s\n", text.Printable(rule))
	}
	for _, rule := range c.Removed {
		fmt.Fprintf(w, "  - %s\n", text.Printable(rule))
	}
	if len(c.NewlyDisallowed) > 0 {
		fmt.Fprintln(w, "  may not fetch any more, for example:")
	}
	for _, e := range c.NewlyDisallowed {
		fmt.Fprintf(w, "    %s  by %s (line %d)\n", text.Printable(e.URL), text.Printable(e.NewRule), e.NewLine)
	}
	if len(c.NewlyAllowed) > 0 {
		fmt.Fprintln(w, "  may fetch now, for example:")
	}
	for _, e := range c.NewlyAllowed {
		fmt.Fprintf(w, "    %s  before: %s (line %d)\n", text.Printable(e.URL), text.Printable(e.OldRule), e.OldLine)
	}
}

func displayGroupName(name string) string {
	if name == "" {
		return "none"
	}
	return text.Printable(name)
}
