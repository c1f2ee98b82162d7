package refusal

import (
	"fmt"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// againstUse tells a crawler's author which line it is held to, and that it forbids no
// fetching by itself.
func againstUse(j *guard.Judgement) string {
	var b strings.Builder
	line, number := j.Decided()
	fmt.Fprintf(&b, "The robots.txt of this site states that this page shall not be used to train models.\n\n")
	fmt.Fprintf(&b, "file:  %s\n", text.Printable(j.Site.Own().String()+"/robots.txt"))
	fmt.Fprintf(&b, "group: User-agent: %s (line %d)\n", text.Printable(j.Evidence.Group.Name), j.Evidence.Group.Line)
	fmt.Fprintf(&b, "line:  %s (line %d)\n", text.Printable(line), number)
	if j.Version != nil {
		fmt.Fprintf(&b, "read:  %s, SHA-256 %x\n", j.Version.LastRead.UTC().Format(time.RFC3339), j.Version.Hash)
	}
	fmt.Fprintf(&b, "\nThat is a preference about use, and no rule about access: robots.txt does not forbid this URL.\n"+
		"The owner of this site enforces it for crawlers of which their operators say that they fetch for\n"+
		"training alone, as is said of %s, once they have read it.\n", text.Printable(j.Client.Name()))
	return b.String()
}
