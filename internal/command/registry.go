package command

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

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

diff prints the crawlers that the second registry adds, removes and changes. A single
file is compared with the built-in registry. Entries that the file lacks stay. A mistake
in a file is an error with its line and a correction.

status asks the admin API of a running server for the state of its configured registry:
the version in use, and why a newer one was refused.

propose asks it for frequent names that no registry has, with their requests, robots.txt
fetches and networks since the start, and the option for the Caddyfile that adds each.

Exit status: 1 if diff finds a difference.
`,
		Example: `
caddy robots-guard registry show Googlebot
caddy robots-guard registry show --stale 180d
caddy robots-guard registry export > registry.json
caddy robots-guard registry diff registry.json
caddy robots-guard registry status
caddy robots-guard registry propose
`,
		RunE: runCommand(g.run),
	}
	g.api.define(cmd.Flags())
	g.output.define(cmd.Flags())
	cmd.Flags().StringVar(&g.stale, "stale", "", "with show, only entries not checked for a time such as 180d")
	return cmd
}

// registryRunner is the command with its flags.
type registryRunner struct {
	api    adminAPI
	output output
	stale  string
}

func (g *registryRunner) run(cmd *cobra.Command, args []string) (findings bool, err error) {
	if len(args) == 0 {
		args = []string{""}
	}
	out := cmd.OutOrStdout()
	if g.stale != "" && args[0] != "show" {
		return false, errors.New("--stale is a flag of registry show")
	}
	switch what, rest := args[0], args[1:]; {
	case what == "show":
		return false, g.show(out, cmd.ErrOrStderr(), rest)
	case what == "export" && len(rest) == 0:
		_, err := out.Write(registryfile.Embedded())
		return false, err
	case what == "diff" && (len(rest) == 1 || len(rest) == 2):
		return g.diff(cmd, rest)
	case what == "status" && len(rest) == 0:
		return false, g.status(cmd)
	case what == "propose" && len(rest) == 0:
		return false, g.propose(cmd)
	case what == "diff":
		return false, errors.New("registry diff needs a file; see caddy robots-guard help registry")
	}
	return false, errors.New("give an action: caddy robots-guard registry show, export, diff, status or propose")
}

// readRegistryFile reads a registry from a file or from standard input.
func readRegistryFile(cmd *cobra.Command, name string) (*registryfile.File, error) {
	data, err := readFile(cmd.InOrStdin(), name, registryfile.MaxBytes)
	if err != nil {
		return nil, err
	}
	return registryfile.Parse(name, data)
}

// changesToBuiltIn returns the changes of a registry file to the built-in registry.
func changesToBuiltIn(e *registryfile.File) ([]registryfile.Change, error) {
	over, err := e.Merge(uaident.Default())
	if err != nil {
		return nil, err
	}
	return append([]registryfile.Change{}, registryfile.Diff(uaident.Default().Crawlers(), over.Crawlers())...), nil
}

// diff prints how a registry differs from another or from the built-in registry.
func (g *registryRunner) diff(cmd *cobra.Command, names []string) (findings bool, err error) {
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
	} else if changes, err = changesToBuiltIn(after); err != nil {
		return false, err
	}
	return len(changes) > 0, g.output.print(cmd, map[string]any{"changes": changes}, func(w io.Writer) {
		printRegistryChanges(w, changes)
	})
}

// printRegistryChanges prints the differences, one crawler per line.
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
