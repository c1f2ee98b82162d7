package diff

import (
	"fmt"
	"io"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// maxShown is the maximum number of listed crawlers per class.
const maxShown = 5

// WriteText writes the result as text.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	word := "rules"
	if r.RulesAdded == 1 {
		word = "rule"
	}
	fmt.Fprintf(&b, "%d %s added, %d removed\n", r.RulesAdded, word, r.RulesRemoved)
	if len(r.Changes) == 0 {
		b.WriteString("No verdict is found to change.\n")
	}
	for _, c := range r.Changes {
		b.WriteString("\n")
		c.write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Change) write(b *strings.Builder) {
	for _, of := range c.Crawlers {
		names := strings.Join(of.Names[:min(len(of.Names), maxShown)], ", ")
		if n := len(of.Names) - maxShown; n > 0 {
			names += fmt.Sprintf(" and %d more", n)
		}
		fmt.Fprintf(b, "%s: %s\n", of.Class, text.Printable(names))
	}
	before, after := groupName(c.OldGroup), groupName(c.NewGroup)
	if before == after {
		fmt.Fprintf(b, "  group: %s\n", after)
	} else {
		fmt.Fprintf(b, "  group: %s, before %s\n", after, before)
	}
	for _, rule := range c.Added {
		fmt.Fprintf(b, "  + %s\n", text.Printable(rule))
	}
	for _, rule := range c.Removed {
		fmt.Fprintf(b, "  - %s\n", text.Printable(rule))
	}
	if len(c.Blocked) > 0 {
		b.WriteString("  may not fetch any more, for example:\n")
	}
	for _, e := range c.Blocked {
		fmt.Fprintf(b, "    %s  by %s (line %d)\n", text.Printable(e.URL), text.Printable(e.NewRule), e.NewLine)
	}
	if len(c.Opened) > 0 {
		b.WriteString("  may fetch now, for example:\n")
	}
	for _, e := range c.Opened {
		fmt.Fprintf(b, "    %s  before: %s (line %d)\n", text.Printable(e.URL), text.Printable(e.OldRule), e.OldLine)
	}
}

func groupName(name string) string {
	if name == "" {
		return "none"
	}
	return text.Printable(name)
}
