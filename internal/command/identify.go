package command

import (
	"bufio"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func identifyCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "identify [--json] [<user-agent>...]",
		Short: "Tells who a User-Agent claims to be",
		Long: `
Prints for each User-Agent its product token and its class, separated by a tab,
and "-" and "browser" for a browser. Without arguments the User-Agents are read
from standard input, one a line; an empty line and "-" are a browser.

With --json a line holds all that is known and what decided.
`,
		Example: `
caddy robots-guard identify "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
caddy robots-guard identify --json curl/8.7.1
caddy robots-guard identify < user-agents.txt
`,
		RunE: runCommand(func(cmd *cobra.Command, args []string) (int, error) {
			out := bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16)
			print := printIdentity
			if asJSON {
				print = printIdentityJSON
			}
			if len(args) == 0 {
				return 0, identifyLines(cmd.InOrStdin(), out, print)
			}
			for _, arg := range args {
				if err := print(out, arg); err != nil {
					return 0, err
				}
			}
			return 0, out.Flush()
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object a line")
	return cmd
}

// identifyLines answers each line of in by a line on out, in order. Of a line
// longer than the buffer the rest is dropped: who it is stands in the first two
// thousand bytes.
func identifyLines(in io.Reader, out *bufio.Writer, print func(*bufio.Writer, string) error) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, long, err := lines.ReadLine()
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		if err := print(out, string(line)); err != nil {
			return err
		}
		for long && err == nil {
			_, long, err = lines.ReadLine()
		}
		if lines.Buffered() == 0 {
			// Somebody may be waiting for the answer before sending more.
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

// printIdentity prints the token and the class.
func printIdentity(out *bufio.Writer, userAgent string) error {
	id := uaident.Identify(userAgent)
	token := id.Token
	if token == "" {
		token = "-"
	}
	_, err := out.WriteString(token + "\t" + id.Class.String() + "\n")
	return err
}

// identityReport is what --json prints.
type identityReport struct {
	UserAgent string   `json:"user_agent"`
	Token     string   `json:"token"`
	Name      string   `json:"name"`
	Class     string   `json:"class"`
	Evidence  string   `json:"evidence"`
	Wildcard  bool     `json:"wildcard"`
	Chain     []string `json:"chain"`
	Registry  *entry   `json:"registry,omitempty"`
}

// entry is what the registry says of a crawler.
type entry struct {
	Token         string   `json:"token"`
	Operator      string   `json:"operator,omitempty"`
	UserTriggered bool     `json:"user_triggered"`
	Aliases       []string `json:"aliases,omitempty"`
	Fallback      []string `json:"fallback,omitempty"`
	RDNS          []string `json:"rdns,omitempty"`
	Ranges        []string `json:"ranges,omitempty"`
	Confirming    []string `json:"confirming_ranges,omitempty"`
	WebBotAuth    string   `json:"web_bot_auth,omitempty"`
	CrawlDelay    string   `json:"crawl_delay"`
	DelayMax      float64  `json:"crawl_delay_max,omitempty"` // seconds
	DelayWildcard bool     `json:"crawl_delay_wildcard,omitempty"`
	DelaySource   string   `json:"crawl_delay_source,omitempty"`
	Purposes      []string `json:"purposes,omitempty"`
	PurposeSource string   `json:"purposes_source,omitempty"`
	RobotsLag     float64  `json:"robots_lag,omitempty"` // seconds
	LagSource     string   `json:"robots_lag_source,omitempty"`
	Source        string   `json:"source,omitempty"`
}

// printIdentityJSON prints all that is known, and why.
func printIdentityJSON(out *bufio.Writer, userAgent string) error {
	id := uaident.Identify(userAgent)
	report := identityReport{
		UserAgent: userAgent, Token: id.Token, Name: id.Name(), Class: id.Class.String(),
		Evidence: id.Evidence.String(), Wildcard: id.Wildcard(), Chain: id.AppendChain([]string{}),
	}
	if c := id.Crawler; c != nil {
		report.Registry = &entry{
			Token: c.Token, Operator: c.Operator, UserTriggered: c.UserTriggered, Aliases: c.Aliases, Fallback: c.Fallback,
			RDNS: c.Verification.RDNS, Ranges: c.Verification.Ranges, Confirming: c.Verification.ConfirmingRanges, WebBotAuth: c.Verification.WebBotAuth,
			CrawlDelay: c.CrawlDelay.Habit.String(), DelayMax: c.CrawlDelay.Max.Seconds(), DelayWildcard: c.CrawlDelay.Wildcard, DelaySource: c.CrawlDelay.Source,
			Purposes: c.Purposes.Of.Words(), PurposeSource: c.Purposes.Source, RobotsLag: c.RobotsLag.Most.Seconds(), LagSource: c.RobotsLag.Source, Source: c.Source,
		}
	}
	return newEncoder(out).Encode(report)
}
