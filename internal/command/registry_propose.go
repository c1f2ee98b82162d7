package command

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// propose asks a running server for names that no registry knows.
func (g *registry) propose(w io.Writer) error {
	api, err := g.api.find()
	if err != nil {
		return err
	}
	return api.ask(http.MethodGet, admin.RegistryPath+"/proposals", nil, func(answer io.Reader) error {
		if g.json {
			_, err := io.Copy(w, answer)
			return err
		}
		var found admin.Proposals
		if err := json.NewDecoder(answer).Decode(&found); err != nil {
			return err
		}
		out := screenOf(w)
		for i := range found.Proposals {
			printProposal(out, &found.Proposals[i])
		}
		if len(found.Proposals) == 0 {
			fmt.Fprintln(out, "no name is seen often that no registry knows")
		}
		return out.Flush()
	})
}

// printProposal prints a name with what is known of it as comments above its option, so
// that all of it can be pasted.
func printProposal(w io.Writer, p *report.Proposal) {
	about := ""
	if p.Error > 0 {
		about = "up to "
	}
	fmt.Fprintf(w, "# %s: %s%d requests since %s, %s, class by structure: %s\n", p.Name, about, p.Requests, shortTime(p.FirstSeen), p.Seen(), p.Class)
	fmt.Fprintf(w, "# %s\n%s\n\n", text.Printable(p.UserAgent), p.Option)
}
