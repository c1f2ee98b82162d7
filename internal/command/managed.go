package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/user"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func managedCommand(config Config) *cobra.Command {
	m := managedRunner{configs: config}
	cmd := &cobra.Command{
		Use: `managed check [--config <Caddyfile>] [--adapter <name>] [--base <file|url|->] [--json]
  caddy robots-guard managed show [<host>] [--address <host:port>] [--json]
  caddy robots-guard managed changes|history|diff [--site <site>] [--from <id>] [--to <id>] [--address <host:port>] [--json]
  caddy robots-guard managed confirm|promote|stop|rollback [<id>] [--site <site>] [--who <name>] [--why <text>] [--ticket <text>]`,
		Short: "Checks and shows the files that robots_txt serves, and confirms or stops changes",
		Long: `
check needs no server. It composes each robots.txt that robots_txt will serve in the next
400 days, and prints the findings of lint that your rules cause. It also prints rules
that have expired, have no effect, or allow URLs that the site's own robots.txt
disallows. --base is the site's own robots.txt if it is not in the configuration.

The other verbs use the admin API of a running server:

show prints the version of the robots.txt that each host serves, and the time of the next
change. For one host, show also prints the rules, future changes, and the file.

changes prints the published and the pending change of each site. history prints all
changes of a site. diff prints the difference between two changes, by default the
published and the pending change.

confirm publishes a change that waits for a person, and needs --why. promote publishes a
change on trial. stop ends its trial. rollback publishes the previous change, or the
change with the id, without gate and confirmation; the change stays until the
configuration changes. Without an id, the command fails if a newer change was made
meanwhile.

Exit status of check: 1 if the option gate refuses the robots.txt of a site.
`,
		Example: `
caddy robots-guard managed check
caddy robots-guard managed show example.com
caddy robots-guard managed history --site example.com
caddy robots-guard managed confirm --why "the shop is closed" --ticket OPS-12
caddy robots-guard managed rollback --why "wrong paths"
`,
		RunE: wrapRun(m.run),
	}
	flags := cmd.Flags()
	m.adminAPI.defineFlags(flags)
	flags.Lookup("config").Usage = "the configuration file to check (default Caddyfile), or with the address of the admin API"
	flags.StringVar(&m.action.Site, "site", "", "a host, or a site as changes prints it; optional if there is only one")
	flags.StringVar(&m.from, "from", "", "with diff, the id of the old change")
	flags.StringVar(&m.to, "to", "", "with diff, the id of the new change")
	flags.StringVar(&m.action.User, "who", "", "your name in the history (default: the user name)")
	flags.StringVar(&m.action.Reason, "why", "", "the reason to record in the history")
	flags.StringVar(&m.action.Ticket, "ticket", "", "the ticket to record in the history")
	flags.StringVar(&m.base, "base", "", "the site's own robots.txt")
	return cmd
}

// managedRunner runs "caddy robots-guard managed". Its fields are the values of the flags.
type managedRunner struct {
	adminAPI
	configs        Config
	action         admin.Action
	from, to, base string
}

func (m *managedRunner) run(cmd *cobra.Command, args []string) (findings bool, err error) {
	verb, argument := "", ""
	switch len(args) {
	case 2:
		verb, argument = args[0], args[1]
	case 1:
		verb = args[0]
	}
	isAction := slices.Contains(admin.ActionVerbs(), verb)
	query := "?" + url.Values{"site": {m.action.Site}, "from": {m.from}, "to": {m.to}}.Encode()
	switch {
	case argument != "" && verb != "show" && !isAction:
		return false, fmt.Errorf("managed %s takes no argument; remove %q", verb, argument)
	case verb == "check":
		return m.checkConfigured(cmd)
	case verb == "show":
		return false, m.showManagedHosts(cmd, argument)
	case verb == "changes":
		var all admin.ManagedSites
		return false, m.requestAndPrint(cmd, http.MethodGet, admin.ManagedPath+"/changes", nil, &all, func(w io.Writer) { printPublishedBySite(w, all.Sites) })
	case verb == "history":
		var history admin.ManagedHistory
		return false, m.requestAndPrint(cmd, http.MethodGet, admin.ManagedPath+"/history"+query, nil, &history, func(w io.Writer) {
			printPublishedAndPending(w, history.ManagedState)
			for i := range history.History {
				printChange(w, &history.History[i])
			}
		})
	case verb == "diff":
		var d admin.ManagedDiff
		return false, m.requestAndPrint(cmd, http.MethodGet, admin.ManagedPath+"/diff"+query, nil, &d, func(w io.Writer) {
			fmt.Fprintf(w, "%s: from %s to %s\n", text.Printable(d.Site), text.Printable(d.From), text.Printable(d.To))
			for _, line := range d.DiffLines {
				fmt.Fprintf(w, "  %s\n", text.Printable(line))
			}
		})
	case isAction:
		return false, m.sendAction(cmd, verb, argument)
	}
	return false, errors.New("give an action: caddy robots-guard managed check, show, changes, history, diff, confirm, promote, stop or rollback")
}

// checkConfigured prints the findings in the files that the robots_txt directives of a
// configuration file will serve. findings is true if the gate refuses a file.
func (m *managedRunner) checkConfigured(cmd *cobra.Command) (findings bool, err error) {
	file := cmp.Or(m.config, "Caddyfile")
	if err := checkConfigFile(file); err != nil {
		return false, err
	}
	var base []byte
	if m.base != "" {
		in, err := m.configs.readInput(cmd.Context(), cmd.InOrStdin(), m.base)
		if err != nil {
			return false, err
		}
		base = append([]byte{}, in.body...) // This is not nil, because nil means the configured bases.
	}
	all, err := m.configs.CheckManaged(file, m.adapter, base)
	if err != nil {
		return false, addConfigName(file, err)
	}
	for i := range all {
		findings = findings || all[i].HasErrors
	}
	return findings, m.print(cmd, map[string]any{"sites": all}, func(w io.Writer) {
		for i := range all {
			all[i].writeText(w, file)
		}
	})
}

// writeText writes the findings, each with its position, and a summary for people. file is the
// configuration file, for findings without a position.
func (r *ManagedCheck) writeText(w io.Writer, file string) {
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(w, "%s: %s: %s\n", text.Printable(cmp.Or(f.Position, file)), text.Colorize(w, f.Severity.String()), text.Printable(f.String()))
	}
	result := "no findings"
	switch {
	case r.HasErrors:
		result = "the option gate stops these files"
	case len(r.Findings) > 0:
		result = "the option gate lets these files pass"
	}
	fmt.Fprintf(w, "%s: files checked: %d; %s\n", text.Printable(cmp.Or(strings.Join(r.Hosts, ", "), "any host")), r.CheckedFiles, result)
}

// sendAction applies an action, such as confirm, to a change at the running server. id is the
// change, or "" for the current one.
func (m *managedRunner) sendAction(cmd *cobra.Command, verb, id string) error {
	if verb == "confirm" && m.action.Reason == "" {
		return errors.New("--why is missing; give the reason to record in the history")
	}
	m.action.ID, m.action.User = id, cmp.Or(m.action.User, userName())
	var result admin.ActionResult
	return m.requestAndPrint(cmd, http.MethodPost, admin.ManagedPath+"/"+verb, m.action, &result, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s\n", text.Printable(result.Site), result.State)
		printPublishedAndPending(w, result.ManagedState)
		if result.State == publish.RolledBack {
			fmt.Fprintf(w, "  most crawlers read the file within 24 hours%s; until then they may use the previous file\n", slowCrawlersText())
		}
	})
}

// userName returns the login name of the user who runs the command, or "".
func userName() string {
	known, err := user.Current()
	if err != nil {
		return ""
	}
	return known.Username
}

// slowCrawlersText lists the crawlers that may use a previous robots.txt for more than 24 hours,
// with the hours.
func slowCrawlersText() (words string) {
	for _, c := range uaident.Default().Crawlers() {
		if c.RobotsLag.Max > policy.MaxAge {
			words += fmt.Sprintf(", %s within %g", c.Token, c.RobotsLag.Max.Hours())
		}
	}
	return words
}

// printPublishedAndPending prints the published change and the pending change of a site.
func printPublishedAndPending(out io.Writer, s admin.ManagedState) {
	if s.Published == nil {
		fmt.Fprintln(out, "  nothing is published yet; only the site's own robots.txt is served")
	} else {
		printChange(out, s.Published)
	}
	if s.Pending != nil {
		printChange(out, s.Pending)
	}
}

// printChange prints a change of a managed robots.txt: its state, who decided about it, which
// crawlers fetched it, and the changed lines.
func printChange(out io.Writer, c *publish.Change) {
	state := string(c.State)
	if c.State == publish.Waiting {
		state = "waits for confirmation"
	}
	if !c.TrialEnd.IsZero() {
		state += " until " + formatTime(c.TrialEnd)
	}
	fmt.Fprintf(out, "  %s %s, made at %s by %s\n", c.ID, state, formatTime(c.Submitted.At), formatDecision(c.Submitted))
	for _, action := range []struct {
		verb string
		by   *publish.Decision
	}{{"confirmed", c.ConfirmedBy}, {"promoted", c.PromotedBy}, {"over", c.EndedBy}} {
		if action.by != nil {
			fmt.Fprintf(out, "    %s at %s by %s\n", action.verb, formatTime(action.by.At), formatDecision(*action.by))
		}
	}
	if len(c.FetchedBy) > 0 {
		fmt.Fprintf(out, "    read since by %s\n", text.Printable(strings.Join(c.FetchedBy, ", ")))
	}
	for _, line := range slices.Concat(c.Reasons, c.Difference) {
		fmt.Fprintf(out, "    %s\n", text.Printable(line))
	}
}

// formatDecision returns the user, the reason and the ticket of a decision, separated by commas.
func formatDecision(by publish.Decision) string {
	return text.Printable(strings.Join(slices.DeleteFunc([]string{by.User, by.Reason, by.Ticket}, func(s string) bool { return s == "" }), ", "))
}

// printPublishedBySite prints the published and the pending change of each site.
func printPublishedBySite(w io.Writer, sites []admin.ManagedSite) {
	for _, s := range sites {
		fmt.Fprintf(w, "%s\n", text.Printable(s.Site))
		if !s.HistoryReadable {
			fmt.Fprintln(w, "  the history could not be read yet")
		}
		printPublishedAndPending(w, s.ManagedState)
	}
}
