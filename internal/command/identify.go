package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func identifyCommand(config Config) *cobra.Command {
	x := identifyRunner{config: config}
	cmd := &cobra.Command{
		Use: "identify [--config <file>] [--json] [<user-agent>...]\n" +
			"  caddy robots-guard identify --ip <address> [--online] [--config <file>] [--json] <user-agent>",
		Short: "Identifies the crawler of a User-Agent, and verifies its address",
		Long: `
Prints for each User-Agent its product token and its class, separated by a tab, or "-"
and "browser". Without arguments, identify reads User-Agents from standard input, one a line.
--json also prints the registry entry and the evidence.

--ip verifies that a client with this address is the crawler of the User-Agent, and
prints each step. With --online, identify may fetch address lists and signature keys (Web
Bot Auth), and query the DNS.

--config reads the global options of robots_guard from a Caddyfile or a JSON
configuration. Without --config, identify uses "verify on".

Exit status: 1 if --ip finds that the name is false.
`,
		Example: `
caddy robots-guard identify "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
caddy robots-guard identify < user-agents.txt
caddy robots-guard identify --ip 66.249.66.1 --online "Mozilla/5.0 (compatible; Googlebot/2.1)"
caddy robots-guard identify --ip 203.0.113.7 --config Caddyfile --json GPTBot/1.3
`,
		RunE: wrapRun(x.run),
	}
	flags := cmd.Flags()
	flags.StringVar(&x.ip, "ip", "", "the address of a client to verify")
	flags.BoolVar(&x.useNetwork, "online", false, "with --ip, fetch lists and keys, and query the DNS")
	flags.StringVarP(&x.configFile, "config", "c", "", "a configuration file whose robots_guard options apply")
	x.output.defineFlag(flags)
	return cmd
}

// identifyRunner runs "caddy robots-guard identify". Its fields are the values of the flags.
type identifyRunner struct {
	config         Config
	output         output
	ip, configFile string
	useNetwork     bool
}

func (x *identifyRunner) run(cmd *cobra.Command, agents []string) (findings bool, err error) {
	if x.useNetwork && x.ip == "" {
		return false, errors.New("--online needs --ip")
	}
	if err := checkConfigFile(x.configFile); err != nil {
		return false, err
	}
	if x.ip != "" {
		return x.verifyClient(cmd, agents)
	}
	registry := uaident.Default()
	if x.configFile != "" {
		verification, err := x.config.Verification(x.configFile)
		if err != nil {
			return false, err
		}
		registry = verification.Registry
	}
	out := x.output.newPrinter(cmd)
	identify := func(userAgent string) error {
		id := registry.IdentifyWithOverlay(userAgent, nil)
		return out.print(newIdentityReport(userAgent, id), func(w io.Writer) {
			fmt.Fprintf(w, "%s\t%s\n", cmp.Or(id.Token, "-"), id.Class)
		})
	}
	if len(agents) == 0 {
		return false, out.answerLines(cmd.InOrStdin(), func(line []byte) error { return identify(string(line)) })
	}
	for _, agent := range agents {
		if err := identify(agent); err != nil {
			return false, err
		}
	}
	return false, out.flush()
}

// identityReport is the JSON output of identify about a User-Agent.
type identityReport struct {
	UserAgent string         `json:"user_agent"`
	Token     string         `json:"token"`
	Name      string         `json:"name"`
	Class     string         `json:"class"`
	Evidence  string         `json:"evidence"`
	Wildcard  bool           `json:"wildcard"`
	Chain     []string       `json:"chain"`
	Registry  *registryEntry `json:"registry,omitempty"`
}

// registryEntry is the data of the registry about a crawler, as identify --json prints it.
type registryEntry struct {
	Token         string   `json:"token"`
	Operator      string   `json:"operator,omitempty"`
	UserTriggered bool     `json:"user_triggered"`
	Aliases       []string `json:"aliases,omitempty"`
	Fallback      []string `json:"fallback,omitempty"`
	RDNS          []string `json:"rdns,omitempty"`
	Ranges        []string `json:"ranges,omitempty"`
	ConfirmedBy   []string `json:"confirming_ranges,omitempty"`
	WebBotAuth    string   `json:"web_bot_auth,omitempty"`
	CrawlDelay    string   `json:"crawl_delay"`
	DelayMax      float64  `json:"crawl_delay_max,omitempty"` // The unit is the second.
	DelayWildcard bool     `json:"crawl_delay_wildcard,omitempty"`
	DelaySource   string   `json:"crawl_delay_source,omitempty"`
	Purposes      []string `json:"purposes,omitempty"`
	PurposeSource string   `json:"purposes_source,omitempty"`
	RobotsLag     float64  `json:"robots_lag,omitempty"` // The unit is the second.
	LagSource     string   `json:"robots_lag_source,omitempty"`
	Source        string   `json:"source,omitempty"`
}

// newIdentityReport describes the client that was identified by a User-Agent.
func newIdentityReport(userAgent string, id uaident.Identity) *identityReport {
	report := &identityReport{
		UserAgent: userAgent, Token: id.Token, Name: id.Name(), Class: id.Class.String(),
		Evidence: id.Evidence.String(), Wildcard: id.WildcardApplies(), Chain: id.AppendNames([]string{}),
	}
	if c := id.Crawler; c != nil {
		report.Registry = &registryEntry{
			Token: c.Token, Operator: c.Operator, UserTriggered: c.UserTriggered, Aliases: c.Aliases, Fallback: c.Fallback,
			RDNS: c.Verification.RDNS, Ranges: c.Verification.Ranges, ConfirmedBy: c.Verification.PartialRanges, WebBotAuth: c.Verification.WebBotAuth,
			CrawlDelay: c.CrawlDelay.Support.String(), DelayMax: c.CrawlDelay.Max.Seconds(), DelayWildcard: c.CrawlDelay.FallsBackToWildcard, DelaySource: c.CrawlDelay.Source,
			Purposes: c.Purposes.Set.Names(), PurposeSource: c.Purposes.Source, RobotsLag: c.RobotsLag.Max.Seconds(), LagSource: c.RobotsLag.Source, Source: c.Source,
		}
	}
	return report
}
