package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

func managedCommand(config Config) *cobra.Command {
	m := checkingRules{config: config}
	cmd := &cobra.Command{
		Use: `managed check [--config <Caddyfile>] [--adapter <name>] [--base <file|url|->] [--json]
  caddy robots-guard managed show [<host>] [--address <host:port>] [--json]
  caddy robots-guard managed changes|history|diff [--site <site>] [--from <id>] [--to <id>] [--address <host:port>] [--json]
  caddy robots-guard managed confirm|promote|stop|rollback [<id>] [--site <site>] [--who <name>] [--why <text>] [--ticket <text>]`,
		Short: "Checks and shows the robots.txt files that robots_txt makes, and confirms or takes back their changes",
		Long: `
check needs no server. It composes every text that the rules of robots_txt make by time and host in the next
400 days and tells what is wrong or odd in them: what lint finds that the site's own
robots.txt does not have already, rules that are over, rules that decide nothing, and
those that open what the site's own robots.txt forbids. What is in several texts is told
once. It says for each where the rule stands in the Caddyfile.

The site's own robots.txt is the file of the option base; where a site is asked for it
at run time it is taken to be empty, unless --base has it. Lists of rules are read.

show asks the admin API of a running server what it serves: for each host the version and
since when, when the next text comes, and whether the base can be read. Of one host it
shows the rules with their reasons, what each change to come adds and removes, and the
text with the rules that make its lines.

Exit status of check: 0 if nothing was found that the gate of its site stops, 1 if so, 2 if the
configuration, a list of rules or the file cannot be read or contradicts itself.

The others ask the admin API of a running server, too. changes tells what is published at
each site and what waits; history tells all changes of a site, who made them and why, and
diff what one says otherwise than another: without ids what waits, or else what is
published, compared with what is or was published.

confirm publishes a change that waits for it, --why is needed; promote ends the trial
of one by publishing it, stop by giving it up. A new text of a site's own robots.txt that
waits is confirmed in the same way, and refused by stop. Where several wait the id says
which is meant; without one nothing is decided about a change that has come since the
server has told what waits, and nothing is rolled back if another change would be taken
back by now, as where somebody else was faster. rollback publishes what was before, or
the change with this id, at once: without the gate and without a confirmation. It holds
until the configuration says something else. The history keeps --who, which is the
user by default, --why and --ticket.
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
	flags.Lookup("config").Usage = "the configuration file to check, Caddyfile by default, or to take the address from"
	flags.StringVar(&m.changes.deed.Site, "site", "", "a host, or the name of the site that changes prints; needed where several have robots_txt")
	flags.StringVar(&m.changes.from, "from", "", "the id of the change to compare with")
	flags.StringVar(&m.changes.to, "to", "", "the id of the change that is compared")
	flags.StringVar(&m.changes.deed.Who, "who", "", "who does it")
	flags.StringVar(&m.changes.deed.Why, "why", "", "why")
	flags.StringVar(&m.changes.deed.Ticket, "ticket", "", "where it was asked for")
	flags.StringVar(&m.base, "base", "", "the site's own robots.txt")
	flags.BoolVar(&m.json, "json", false, "print JSON")
	return cmd
}

// checkingRules is the command with its flags.
type checkingRules struct {
	config              Config
	changes             changes
	file, adapter, base string
	json                bool
}

// checkedRules is what the command prints as JSON of a robots_txt.
type checkedRules struct {
	Hosts    []string         `json:"hosts"`
	Texts    int              `json:"texts"`
	Stopped  bool             `json:"stopped"`
	Findings []checkedFinding `json:"findings"`
}

type checkedFinding struct {
	Code     policy.Code `json:"code"`
	Severity string      `json:"severity"`
	Rules    []string    `json:"rules"`
	At       string      `json:"at,omitempty"`
	Host     string      `json:"host,omitempty"`
	From     *time.Time  `json:"from,omitempty"`
	Message  string      `json:"message"`
}

func (m *checkingRules) run(cmd *cobra.Command, args []string) (int, error) {
	switch {
	case len(args) > 0 && args[0] == "show":
		return m.show(cmd, args[1:])
	case len(args) > 0 && m.changes.runs(args[0]):
		m.changes.json = m.json
		return m.changes.run(cmd, args)
	case len(args) != 1 || args[0] != "check":
		return 0, errors.New("say what to do: caddy robots-guard managed check, show, changes, history, diff, confirm, promote, stop or rollback")
	}
	m.file, m.adapter = cmp.Or(m.changes.api.config, "Caddyfile"), m.changes.api.adapter
	if err := checkConfig(m.file); err != nil {
		return 0, err
	}
	var base []byte
	if m.base != "" {
		in, err := m.config.readInput(cmd.Context(), cmd.InOrStdin(), m.base)
		if err != nil {
			return 0, err
		}
		base = append([]byte{}, in.body...) // not nil, which would mean the configured one
	}
	all, err := m.config.Rules(m.file, m.adapter, base)
	if err != nil {
		return 0, ofConfig(m.file, err)
	}
	code := ExitOK
	for i := range all {
		if all[i].Gate.Stops(all[i].Report.Findings) != nil {
			code = ExitFindings
		}
	}
	if m.json {
		return code, json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"sites": asJSON(all)})
	}
	out := screenOf(cmd.OutOrStdout())
	for i := range all {
		m.print(out, &all[i])
	}
	return code, out.Flush()
}

func asJSON(all []Rules) []checkedRules {
	sites := make([]checkedRules, 0, len(all))
	for i := range all {
		r := &all[i]
		site := checkedRules{
			Hosts: append([]string{}, r.Hosts...), Texts: r.Report.Texts, Stopped: r.Gate.Stops(r.Report.Findings) != nil, Findings: []checkedFinding{},
		}
		for _, f := range r.Report.Findings {
			found := checkedFinding{Code: f.Code, Severity: f.Severity.String(), Rules: append([]string{}, f.Rules...), At: f.At, Host: f.Host, Message: f.Message}
			if !f.From.IsZero() {
				found.From = &f.From
			}
			site.Findings = append(site.Findings, found)
		}
		sites = append(sites, site)
	}
	return sites
}

// print tells of one robots_txt.
func (m *checkingRules) print(w io.Writer, r *Rules) {
	for i := range r.Report.Findings {
		f := &r.Report.Findings[i]
		fmt.Fprintf(w, "%s: %s: %s\n", text.Printable(cmp.Or(f.At, m.file)), text.Paint(w, f.Severity.String()), text.Printable(f.String()))
	}
	site := strings.Join(r.Hosts, ", ")
	fmt.Fprintf(w, "%s: %s\n", text.Printable(cmp.Or(site, "any host")), verdictOf(r.Report, r.Gate))
}

// verdictOf sums up a report.
func verdictOf(r managed.Report, gate managed.Gate) string {
	texts := fmt.Sprintf("%d texts", r.Texts)
	if r.Texts == 1 {
		texts = "1 text"
	}
	switch {
	case gate.Stops(r.Findings) != nil:
		return texts + " checked; the gate stops this"
	case len(r.Findings) > 0:
		return texts + " checked; the gate lets this pass"
	}
	return texts + " checked; nothing to mend"
}
