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

// status prints the state of the registry of a running server.
func (g *registryRunner) status(cmd *cobra.Command) error {
	api, err := g.api.find()
	if err != nil {
		return err
	}
	var known admin.RegistryReport
	body, err := api.read(http.MethodGet, admin.RegistryPath, nil, &known)
	if err != nil {
		return err
	}
	return g.output.print(cmd, body, func(out io.Writer) {
		if known.Registry == nil {
			fmt.Fprintln(out, "no registry is configured; the built-in registry is in use")
		} else {
			printRegistry(out, known.Registry)
		}
	})
}

// printRegistry prints the state of a registry, in one or two lines.
func printRegistry(w io.Writer, r *report.Registry) {
	fmt.Fprintf(w, "%s: ", text.Printable(r.Name))
	if v := r.InUse; v == nil {
		fmt.Fprintln(w, "not in use; the built-in registry is used instead")
	} else {
		fmt.Fprintf(w, "version %s, with %d entries, is in use; last confirmed as current at %s\n", text.Printable(v.ID), v.Crawlers, shortTime(r.Checked))
	}
	if r.Failure != "" {
		fmt.Fprintf(w, "  %s: the registry has been unusable since %s: %s\n", text.Colorize(w, "warning"), shortTime(r.FailingSince), text.Printable(r.Failure))
	}
}
