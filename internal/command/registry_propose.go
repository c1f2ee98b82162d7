package command

import (
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// propose prints frequent names of clients of a running server that no registry has.
func (g *registryRunner) propose(cmd *cobra.Command) error {
	api, err := g.api.find()
	if err != nil {
		return err
	}
	var found admin.Proposals
	body, err := api.read(http.MethodGet, admin.RegistryPath+"/proposals", nil, &found)
	if err != nil {
		return err
	}
	return g.output.print(cmd, body, func(out io.Writer) {
		for i := range found.Proposals {
			printProposal(out, &found.Proposals[i])
		}
		if len(found.Proposals) == 0 {
			fmt.Fprintln(out, "no unregistered name was seen often")
		}
	})
}

// printProposal prints the option for a name, with the details as comments above it. The output can
// be pasted into a Caddyfile.
func printProposal(w io.Writer, p *report.Proposal) {
	about := ""
	if p.Error > 0 {
		about = "up to "
	}
	fmt.Fprintf(w, "# %s: %s%d requests since %s, %s, class by structure: %s\n", p.Name, about, p.Requests, shortTime(p.FirstSeen), p.Seen(), p.Class)
	fmt.Fprintf(w, "# %s\n%s\n\n", text.Printable(p.UserAgent), p.Option)
}
