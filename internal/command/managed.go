package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

func managedCommand(config Config) *cobra.Command {
	m := managedRunner{config: config}
	cmd := &cobra.Command{
		Use: `managed check [--config <Caddyfile>] [--adapter <name>] [--base <file|url|->] [--json]
  caddy robots-guard managed show [<host>] [--address <host:port>] [--json]
  caddy robots-guard managed changes|history|diff [--site <site>] [--from <id>] [--to <id>] [--address <host:port>] [--json]
  caddy robots-guard managed confirm|promote|stop|rollback [<id>] [--site <site>] [--who <name>] [--why <text>] [--ticket <text>]`,
		Short: "Checks, shows and decides changes of the robots.txt files of robots_txt",
		Long: `
check needs no server. It composes each robots.txt that robots_txt will serve in the next
400 days, and prints new findings of lint and rules that are over, have no effect, or
allow what the site's own robots.txt forbids. --base is the site's own robots.txt if it
is not in the configuration.

The other verbs ask the admin API of a running server:

show prints what each host is served, and when the next change comes. For one host it
also prints the rules, future changes, and the file.

changes prints what is published at each site and what waits, history all changes of a
site, and diff the difference between two changes, by default of what waits and what is
published.

confirm publishes a change that waits, and needs --why. promote publishes a change on
trial, stop ends its trial, and rollback publishes the previous change, or the given one,
without gate and confirmation until the configuration changes. confirm and stop also
decide about a new version of the site's own robots.txt. Without an id the command fails
if a newer change has come since.

Exit status of check: 1 if the gate refuses a file of a site.
`,
		Example: `
caddy robots-guard managed check
caddy robots-guard managed check --config Caddyfile --base robots.txt
caddy robots-guard managed show
caddy robots-guard managed show example.com
caddy robots-guard managed history --site example.com
caddy robots-guard managed confirm --why "the shop is closed" --ticket OPS-12
caddy robots-guard managed rollback --why "wrong paths"
`,
		RunE: runCommand(m.run),
	}
	flags := cmd.Flags()
	m.changes.api.define(flags)
	flags.Lookup("config").Usage = "the configuration file to check (default Caddyfile), or with the address of the server"
	flags.StringVar(&m.changes.action.Site, "site", "", "a host, or a site as changes prints it; optional if there is only one")
	flags.StringVar(&m.changes.from, "from", "", "with diff, the id of the old change")
	flags.StringVar(&m.changes.to, "to", "", "with diff, the id of the new change")
	flags.StringVar(&m.changes.action.Who, "who", "", "your name for the history, by default the user")
	flags.StringVar(&m.changes.action.Why, "why", "", "the reason for the history")
	flags.StringVar(&m.changes.action.Ticket, "ticket", "", "a ticket for the history")
	flags.StringVar(&m.base, "base", "", "the site's own robots.txt")
	m.changes.output.define(flags)
	return cmd
}

// managedRunner is the command with its flags.
type managedRunner struct {
	config                    Config
	changes                   changesRunner
	configFile, adapter, base string
}

func (m *managedRunner) run(cmd *cobra.Command, args []string) (findings bool, err error) {
	switch {
	case len(args) > 0 && args[0] == "show":
		return false, m.show(cmd, args[1:])
	case len(args) > 0 && m.changes.handles(args[0]):
		return false, m.changes.run(cmd, args)
	case len(args) != 1 || args[0] != "check":
		return false, errors.New("give an action: caddy robots-guard managed check, show, changes, history, diff, confirm, promote, stop or rollback")
	}
	m.configFile, m.adapter = cmp.Or(m.changes.api.config, "Caddyfile"), m.changes.api.adapter
	if err := checkConfig(m.configFile); err != nil {
		return false, err
	}
	var base []byte
	if m.base != "" {
		in, err := m.config.readInput(cmd.Context(), cmd.InOrStdin(), m.base)
		if err != nil {
			return false, err
		}
		base = append([]byte{}, in.body...) // not nil, because nil means the configured bases
	}
	all, err := m.config.CheckManaged(m.configFile, m.adapter, base)
	if err != nil {
		return false, withConfigName(m.configFile, err)
	}
	for i := range all {
		findings = findings || all[i].Stopped
	}
	return findings, m.changes.output.print(cmd, map[string]any{"sites": all}, func(w io.Writer) {
		for i := range all {
			m.print(w, &all[i])
		}
	})
}

// print prints the result for one robots_txt.
func (m *managedRunner) print(w io.Writer, r *ManagedCheck) {
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(w, "%s: %s: %s\n", text.Printable(cmp.Or(f.At, m.configFile)), text.Colorize(w, f.Severity.String()), text.Printable(f.String()))
	}
	summary := fmt.Sprintf("%d texts checked", r.Texts)
	if r.Texts == 1 {
		summary = "1 text checked"
	}
	switch {
	case r.Stopped:
		summary += "; the gate stops this"
	case len(r.Findings) > 0:
		summary += "; the gate lets this pass"
	default:
		summary += "; no findings"
	}
	fmt.Fprintf(w, "%s: %s\n", text.Printable(cmp.Or(strings.Join(r.Hosts, ", "), "any host")), summary)
}
