package command

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// status asks a running server, and prints how it stands with its registry.
func (g *registry) status(w io.Writer, method, uri string, body []byte) error {
	api, err := g.api.find()
	if err != nil {
		return err
	}
	return api.ask(method, uri, body, func(answer io.Reader) error {
		if g.json {
			_, err := io.Copy(w, answer)
			return err
		}
		var known admin.RegistryReport
		if err := json.NewDecoder(answer).Decode(&known); err != nil {
			return err
		}
		out := screenOf(w)
		if known.Registry == nil {
			fmt.Fprintln(out, "the configuration names no registry; the built-in one is in use")
		} else {
			printRegistry(out, known.Registry)
		}
		return out.Flush()
	})
}

// printRegistry prints how it stands with a registry, in a few lines.
func printRegistry(w io.Writer, r *report.Registry) {
	fmt.Fprintf(w, "%s: ", text.Printable(r.Name))
	if r.InUse == nil {
		fmt.Fprintln(w, "not in use; the built-in registry is")
	} else {
		fmt.Fprintf(w, "%s is in use, last known to be current at %s\n", textWords(r.InUse), shortTime(r.Checked))
	}
	if r.Failure != "" {
		fmt.Fprintf(w, "  %s: it cannot be used as it is now, since %s: %s\n", text.Paint(w, "warning"), shortTime(r.FailingSince), text.Printable(r.Failure))
	}
	if t := r.Waiting; t != nil {
		fmt.Fprintf(w, "  %s: %s waits since %s: %s\n", text.Paint(w, "warning"), textWords(t), shortTime(t.Since), text.Printable(strings.Join(t.Why, "; ")))
		fmt.Fprintf(w, "  to take it into use: caddy robots-guard registry accept %s\n\n", text.Printable(t.ID))
		printRegistryChanges(w, t.Changes)
	}
}

// textWords tells which text is meant.
func textWords(t *report.RegistryText) string {
	words := "text " + text.Printable(t.ID)
	if t.Serial > 0 {
		words += fmt.Sprintf(", serial %d", t.Serial)
	}
	return words + fmt.Sprintf(", with %d entries", t.Crawlers)
}
