package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/registryfile"
)

func registryCommand() *cobra.Command {
	g := registryRunner{}
	cmd := &cobra.Command{
		Use: `registry show [--stale <duration>] [--json] [<token>...]
  caddy robots-guard registry export
  caddy robots-guard registry diff [--json] [<old file>] <new file|->
  caddy robots-guard registry status [--address <host:port>] [--json]
  caddy robots-guard registry propose [--address <host:port>] [--json]`,
		Short: "Shows and compares registries of crawlers",
		Long: `
A registry has data about crawlers in JSON. One is built in.

show prints the entries of the built-in registry, or of the given tokens and aliases.
--stale 180d prints the entries that were not checked within the last 180 days. export
prints the built-in registry as a file.

diff prints the crawlers that the second registry adds, removes and changes. For a single
file, diff prints how it changes the built-in registry. A mistake in a file is an error
with its line and a correction.

status prints the state of the configured registry of a running server: the version in
use, and why a newer version was refused.

propose prints frequent names of crawlers at a running server that are in no registry.
For each name, propose prints the requests, robots.txt fetches and networks since the
start, and the option for the Caddyfile that adds the crawler.

Exit status: 1 if diff finds a difference.
`,
		Example: `
caddy robots-guard registry show Googlebot
caddy robots-guard registry export > registry.json
caddy robots-guard registry diff registry.json
caddy robots-guard registry status
caddy robots-guard registry propose
`,
		RunE: wrapRun(g.run),
	}
	g.adminAPI.defineFlags(cmd.Flags())
	cmd.Flags().StringVar(&g.stale, "stale", "", "with show, only entries last checked before this duration ago, for example 180d")
	return cmd
}

// registryRunner runs "caddy robots-guard registry". Its fields are the values of the flags.
type registryRunner struct {
	adminAPI
	stale string
}

func (g *registryRunner) run(cmd *cobra.Command, args []string) (findings bool, err error) {
	if len(args) == 0 {
		args = []string{""}
	}
	switch what, rest := args[0], args[1:]; {
	case g.stale != "" && what != "show":
		return false, errors.New("--stale is a flag of registry show")
	case what == "show":
		return false, g.showEntries(cmd, rest)
	case what == "export" && len(rest) == 0:
		out := g.newPrinter(cmd)
		_, _ = out.screen.Write(uaident.JSON()) // flush reports the error of earlier writes.
		return false, out.flush()
	case what == "diff" && (len(rest) == 1 || len(rest) == 2):
		return g.diffRegistries(cmd, rest)
	case what == "status" && len(rest) == 0:
		return false, g.showStatus(cmd)
	case what == "propose" && len(rest) == 0:
		return false, g.proposeCrawlers(cmd)
	case what == "diff":
		return false, errors.New("registry diff needs a file; see caddy robots-guard registry --help")
	}
	return false, errors.New("give an action: caddy robots-guard registry show, export, diff, status or propose")
}

// showEntries prints the entries of the built-in registry for the given tokens, or all entries.
// Unknown tokens are errors. With --stale it skips entries that were checked recently.
func (g *registryRunner) showEntries(cmd *cobra.Command, tokens []string) error {
	since := ""
	if g.stale != "" {
		var err error
		if since, err = dateBefore(g.stale, time.Now()); err != nil {
			return err
		}
	}
	crawlers := uaident.Default().Crawlers()
	if len(tokens) > 0 {
		crawlers = nil
	}
	var unknown []error
	for _, token := range tokens {
		if known := uaident.Default().Lookup(token); known != nil {
			crawlers = append(crawlers, *known)
		} else {
			unknown = append(unknown, fmt.Errorf("the built-in registry does not contain %q%s", token, suggestToken(token)))
		}
	}
	out, shown := g.newPrinter(cmd), 0
	for i := range crawlers {
		if g.stale != "" && crawlers[i].Checked >= since {
			continue
		}
		shown++
		entry := json.RawMessage(registryfile.AppendEntry(nil, &crawlers[i]))
		if err := out.print(entry, func(w io.Writer) { fmt.Fprintf(w, "%s\n", entry) }); err != nil {
			return err
		}
	}
	if g.stale != "" && shown == 0 && len(unknown) == 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "each of %d entries was checked within the last %s\n", len(crawlers), g.stale)
	}
	return errors.Join(append(unknown, out.flush())...)
}

// dateBefore returns the day at a duration before now. Registry entries that were last checked
// before that day are stale.
func dateBefore(duration string, now time.Time) (string, error) {
	age, err := caddy.ParseDuration(duration)
	if err != nil || age < 0 {
		return "", fmt.Errorf("--stale %q is not a duration; write for example 180d or 12h", duration)
	}
	return now.Add(-age).UTC().Format(time.DateOnly), nil
}

// suggestToken returns a hint with the most similar token in the built-in registry, or "".
func suggestToken(token string) string {
	var tokens []string
	for _, c := range uaident.Default().Crawlers() {
		tokens = append(tokens, c.Token)
	}
	if near := text.Nearest(token, tokens); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// readRegistryFile reads a registry from a file or from standard input.
func readRegistryFile(cmd *cobra.Command, name string) (*registryfile.File, error) {
	data, err := readFile(cmd.InOrStdin(), name, registryfile.MaxBytes)
	if err != nil {
		return nil, err
	}
	return registryfile.Parse(name, data, uaident.Default())
}

// diffRegistries prints how a registry file changes another registry file or, for a single file,
// the built-in registry.
func (g *registryRunner) diffRegistries(cmd *cobra.Command, names []string) (findings bool, err error) {
	after, err := readRegistryFile(cmd, names[len(names)-1])
	if err != nil {
		return false, err
	}
	changes := []registryfile.Change{}
	if len(names) == 2 {
		before, err := readRegistryFile(cmd, names[0])
		if err != nil {
			return false, err
		}
		changes = append(changes, registryfile.Diff(before.Crawlers, after.Crawlers)...)
	} else {
		merged, err := after.Merge(uaident.Default())
		if err != nil {
			return false, err
		}
		changes = append(changes, registryfile.Diff(uaident.Default().Crawlers(), merged.Crawlers())...)
	}
	return len(changes) > 0, g.print(cmd, map[string]any{"changes": changes}, func(w io.Writer) {
		printRegistryChanges(w, changes)
	})
}

// printRegistryChanges prints a line for each changed crawler.
func printRegistryChanges(w io.Writer, changes []registryfile.Change) {
	for _, c := range changes {
		fmt.Fprintf(w, "%s: %s", text.Printable(c.Token), c.Kind)
		for i, f := range c.Fields {
			fmt.Fprint(w, map[bool]string{true: ": ", false: "; "}[i == 0])
			switch {
			case f.Before == "":
				fmt.Fprintf(w, "%s is %s", f.Field, text.Printable(f.After))
			case f.After == "":
				fmt.Fprintf(w, "%s is no longer %s", f.Field, text.Printable(f.Before))
			default:
				fmt.Fprintf(w, "%s is %s and was %s", f.Field, text.Printable(f.After), text.Printable(f.Before))
			}
		}
		fmt.Fprintln(w)
	}
	if len(changes) == 0 {
		fmt.Fprintln(w, "nothing differs")
	}
}

// showStatus prints the version of the configured registry that a running server uses, and why a
// newer version was refused.
func (g *registryRunner) showStatus(cmd *cobra.Command) error {
	var known admin.RegistryReport
	return g.requestAndPrint(cmd, http.MethodGet, admin.RegistryPath, nil, &known, func(w io.Writer) {
		r := known.Registry
		if r == nil {
			fmt.Fprintln(w, "no registry is configured; the built-in registry is in use")
			return
		}
		if v := r.InUse; v == nil {
			fmt.Fprintf(w, "%s: not in use; the built-in registry is used instead\n", text.Printable(r.Name))
		} else {
			fmt.Fprintf(w, "%s: version %s, with %d entries, is in use; last confirmed as current at %s\n", text.Printable(r.Name), text.Printable(v.ID), v.Crawlers, formatTime(r.ConfirmedAt))
		}
		if r.Failure != "" {
			fmt.Fprintf(w, "  %s: the registry has been unusable since %s: %s\n", text.Colorize(w, "warning"), formatTime(r.FailingSince), text.Printable(r.Failure))
		}
	})
}

// proposeCrawlers prints the most frequent names of a running server's unregistered clients. For
// each name it prints the Caddyfile option that registers the crawler, and comments about the
// client.
func (g *registryRunner) proposeCrawlers(cmd *cobra.Command) error {
	var found admin.Proposals
	return g.requestAndPrint(cmd, http.MethodGet, admin.RegistryPath+"/proposals", nil, &found, func(w io.Writer) {
		for i := range found.Proposals {
			p, about := &found.Proposals[i], ""
			if p.Error > 0 {
				about = "up to "
			}
			fmt.Fprintf(w, "# %s: %s%d requests since %s, %s, class by structure: %s\n", p.Name, about, p.Requests, formatTime(p.FirstSeen), p.DescribeNetworksAndFetches(), p.Class)
			fmt.Fprintf(w, "# %s\n%s\n\n", text.Printable(p.UserAgent), p.Option)
		}
		if len(found.Proposals) == 0 {
			fmt.Fprintln(w, "no unregistered name was seen often")
		}
	})
}
