package command

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/explain"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func explainCommand(config Config) *cobra.Command {
	x := explaining{config: config}
	cmd := &cobra.Command{
		Use:   "explain [--user-agent <ua> | --token <token>] [--robots <file|url>] [--config <file>] [--json] <url>",
		Short: "Tells step by step why a request is allowed or not",
		Long: `
Tells in plain words how the server judges a request: which words of the
User-Agent counted, who it says to be, by which names a group could address it
and which group decides, in which forms the URL is compared, every rule that
matches by its length, and the verdict.

--token asks about a product token as a robots.txt names it, without a User-Agent:
it is judged as "caddy robots-guard check --token" does it, and obeys the * group.

--robots is a file, a URL, or - for standard input. Without it the robots.txt of
the URL's own site is fetched.

With --config the settings of the robots_guard directive of the URL's site are
taken from that file, and what it would do is told too. Where the site has several,
with a matcher each, that is the first, and the answer says so.

The running server tells the same of its own copy: POST a JSON object with
"user_agent", "url" and, if it is not GET, "method" to /robots_guard/explain on
its admin API.

Exit status: 0 if the request is allowed, 1 if not, 2 if an argument or the
robots.txt cannot be used.
`,
		Example: `
caddy robots-guard explain --robots robots.txt --user-agent "Mozilla/5.0 (compatible; GPTBot/1.3)" /private/report
caddy robots-guard explain --robots robots.txt --token Googlebot /private/report
caddy robots-guard explain --robots robots.txt --config Caddyfile --user-agent Bingbot/2.0 https://example.com/private/
caddy robots-guard explain --robots robots.txt --user-agent curl/8.7.1 --json /
`,
		RunE: runCommand(x.run),
	}
	flags := cmd.Flags()
	flags.StringVarP(&x.userAgent, "user-agent", "u", "", "the User-Agent of the request")
	flags.StringVarP(&x.token, "token", "t", "", "the product token, instead of a User-Agent")
	flags.StringVarP(&x.robots, "robots", "r", "", "the robots.txt: a file, a URL, or - for standard input")
	flags.StringVarP(&x.file, "config", "c", "", "a configuration file to take the settings from")
	flags.StringVarP(&x.adapter, "adapter", "a", "", "the adapter of that file")
	flags.StringVar(&x.identity, "identity", "claimed", "what to assume of the client: claimed, verified, unknown or spoofed")
	completeWords(cmd, "identity", "claimed", "verified", "unknown", "spoofed")
	flags.StringVarP(&x.method, "method", "X", http.MethodGet, "the method of the request")
	flags.BoolVar(&x.json, "json", false, "print a JSON object")
	return cmd
}

// explaining is the command with its flags.
type explaining struct {
	config                             Config
	userAgent, token, identity, method string
	robots, file, adapter              string
	json                               bool
}

func (x *explaining) run(cmd *cobra.Command, urls []string) (int, error) {
	switch {
	case len(urls) != 1:
		return 0, errors.New("give one URL; see caddy robots-guard explain --help")
	case cmd.Flags().Changed("user-agent") && x.token != "":
		return 0, errors.New("give either --user-agent or --token")
	case !cmd.Flags().Changed("user-agent") && x.token == "":
		return 0, errors.New("no --user-agent and no --token given; an empty User-Agent is written --user-agent \"\"")
	case x.token != "" && (cmd.Flags().Changed("identity") || cmd.Flags().Changed("method")):
		return 0, errors.New("--identity and --method go with --user-agent")
	}
	if err := cmp.Or(checkTokenFlag(cmd, x.token), checkTarget(urls[0])); err != nil {
		return 0, err
	}
	who, err := explain.ParseIdentity(x.identity)
	if err != nil {
		return 0, err
	}
	configured, several := new(Site), false
	site := explain.Site{Registry: uaident.Default()}
	if x.file != "" {
		sites, registry, err := x.config.sites(x.file, x.adapter)
		if err != nil {
			return 0, err
		}
		if configured, several, err = x.config.siteFor(sites, urls[0]); err != nil {
			return 0, err
		}
		if configured.Err != nil {
			return 0, configured.Err
		}
		site = explain.Site{Registry: registry, Settings: configured.Settings, Rate: configured.Rate, Configured: true}
		x.robots = cmp.Or(x.robots, configured.Source)
	}
	from, err := x.read(cmd, urls[0])
	if err != nil {
		return 0, err
	}
	e := site.Explain(from, explain.Request{UserAgent: x.userAgent, Token: x.token, URL: urls[0], Method: x.method, Identity: who})
	if e.Handler != nil {
		e.Handler.Site = configured.name()
		switch {
		case several:
			e.Handler.Note = explain.FirstOfSeveral
		case configured.Matched:
			e.Handler.Note = "matchers beside the host stand before it; whether they let this request through is not told here"
		}
	}
	out := screenOf(cmd.OutOrStdout())
	if x.json {
		out = text.NewScreen(cmd.OutOrStdout(), 0, false)
		enc := newEncoder(out)
		enc.SetIndent("", "  ")
		err = enc.Encode(e)
	} else {
		err = e.Write(out)
	}
	code := ExitAllowed
	if !e.Allowed {
		code = ExitDisallowed
	}
	return code, errors.Join(err, out.Flush())
}

// read reads the robots.txt that is asked, that of the URL's own site if none is
// named.
func (x *explaining) read(cmd *cobra.Command, rawURL string) (explain.Rules, error) {
	name := x.robots
	if name == "" {
		var err error
		if name, err = ownRobots(rawURL); err != nil {
			return explain.Rules{}, err
		}
	}
	in, err := x.config.readInput(cmd.Context(), cmd.InOrStdin(), name)
	if err != nil {
		return explain.Rules{}, err
	}
	robots, err := in.rules()
	if err != nil {
		return explain.Rules{}, err
	}
	from := explain.Rules{Name: in.name, Robots: robots, Note: in.noteOn(robots)}
	if in.missing {
		from.Note = fmt.Sprintf("the server answers %d: there is none, so nothing is restricted", in.status)
	}
	return from, nil
}
