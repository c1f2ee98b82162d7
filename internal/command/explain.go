package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/explain"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func explainCommand(config Config) *cobra.Command {
	x := explainRunner{config: config}
	cmd := &cobra.Command{
		Use: "explain [--user-agent <ua> | --token <token>] [--robots <file|url>] [--config <file>] [--brief] [--json] <url>...\n" +
			"  caddy robots-guard explain --batch [--robots <file|dir|url>]",
		Short: "Explains why a crawler may or may not fetch a URL",
		Long: `
Explains step by step how the server judges a request: the words of the User-Agent that
identify the client, the group that applies, the rules that match, and the verdict.
--brief prints one line for each URL instead.

--user-agent is a User-Agent, which explain identifies as the server does: browsers are
not judged, and the * group applies to some classes only. --token is a product token,
to which the * group always applies. Without both options, only the * group
applies.

--robots is a file, a URL, or - for standard input. Without --robots, explain fetches
the robots.txt of each URL's own site.

With --config, explain also shows the settings and the action of the site's robots_guard.
If the site has several robots_guard with matchers, explain uses the first that may match.

--identity is the assumed result of the verification. A "spoofed" client is judged by
the stricter of the group of its name and the * group.

--batch reads JSON objects from standard input, one a line, and prints one for each. The
fields are "id", "robots" or "robots_b64" (the content of the file, plain or in Base64),
"token" or "user_agent" (null for none), "url" and "method". For lines without a
robots.txt, --robots applies. --robots may be a directory of dated versions, as for audit:
"host" and "time" (seconds since 1970, or RFC 3339) select the version. If no version
fits, the verdict is "unknown".

Exit status: 1 if a request is not allowed.
`,
		Example: `
caddy robots-guard explain --robots robots.txt --user-agent "Mozilla/5.0 (compatible; GPTBot/1.3)" /private/report
caddy robots-guard explain --robots robots.txt --token Googlebot /private/report
caddy robots-guard explain --robots robots.txt --config Caddyfile --user-agent Bingbot/2.0 https://example.com/private/
caddy robots-guard explain --brief --robots robots.txt --token GPTBot /private/report /
echo '{"user_agent":"GPTBot/1.2","url":"/private/report"}' | caddy robots-guard explain --batch --robots robots.txt
`,
		RunE: wrapRun(x.run),
	}
	flags := cmd.Flags()
	flags.StringVarP(&x.userAgent, "user-agent", "u", "", "the User-Agent of the request")
	flags.StringVarP(&x.token, "token", "t", "", "the product token, instead of a User-Agent")
	flags.StringVarP(&x.robots, "robots", "r", "", "the robots.txt: a file, a URL, - for standard input, or with --batch a directory")
	flags.StringVarP(&x.configFile, "config", "c", "", "a configuration file with the settings")
	flags.StringVarP(&x.adapter, "adapter", "a", "", "the adapter of the configuration file")
	flags.StringVar(&x.identity, "identity", "claimed", "the assumed identity of the client: claimed, verified, unknown or spoofed")
	completeValues(cmd, "identity", "claimed", "verified", "unknown", "spoofed")
	flags.StringVarP(&x.method, "method", "X", http.MethodGet, "the method of the request")
	flags.BoolVar(&x.brief, "brief", false, "print a line for each URL")
	flags.BoolVar(&x.batch, "batch", false, "read requests as JSON lines from standard input")
	x.output.defineFlag(flags)
	cmd.MarkFlagsMutuallyExclusive("user-agent", "token", "batch")
	for _, flag := range []string{"identity", "method"} {
		cmd.MarkFlagsMutuallyExclusive("token", flag)
		cmd.MarkFlagsMutuallyExclusive("batch", flag)
	}
	cmd.MarkFlagsMutuallyExclusive("batch", "brief")
	cmd.MarkFlagsMutuallyExclusive("batch", "config")
	return cmd
}

// explainRunner runs "caddy robots-guard explain". Its fields are the values of the flags.
type explainRunner struct {
	config                             Config
	output                             output
	userAgent, token, identity, method string
	robots, configFile, adapter        string
	brief, batch                       bool
}

func (x *explainRunner) run(cmd *cobra.Command, urls []string) (findings bool, err error) {
	flags := cmd.Flags()
	r := explain.Request{UserAgent: x.userAgent, Token: x.token, Method: x.method}
	switch {
	case x.batch && len(urls) > 0:
		return false, errors.New("--batch reads the URLs from standard input; leave out the arguments")
	case x.batch:
		return false, x.judgeStdin(cmd)
	case len(urls) == 0:
		return false, errors.New("no URL given; see caddy robots-guard explain --help")
	case strings.ContainsAny(x.token, "/,;()") && uaident.Default().Lookup(x.token) == nil:
		return false, fmt.Errorf("--token %q is not a product token, for example GPTBot; use --user-agent for a whole User-Agent", x.token)
	case !flags.Changed("user-agent") && (flags.Changed("identity") || flags.Changed("method")):
		return false, errors.New("--identity and --method need --user-agent")
	case !flags.Changed("user-agent"):
		r.Token = cmp.Or(x.token, "*")
	}
	for _, u := range urls {
		if err := checkURLOrPath(u); err != nil {
			return false, err
		}
	}
	if r.Identity, err = explain.ParseIdentity(x.identity); err != nil {
		return false, err
	}
	if x.brief {
		return x.printVerdicts(cmd, urls, r)
	}
	reader := newRobotsReader(&x.config, cmd)
	for i, u := range urls {
		r.URL = u
		e, err := x.explain(reader, r)
		if err != nil {
			return false, err
		}
		findings = findings || !e.Allowed
		err = x.output.print(cmd, e, func(w io.Writer) {
			if i > 0 {
				fmt.Fprintln(w)
			}
			if len(urls) > 1 {
				fmt.Fprintf(w, "%s\n\n", text.Printable(u))
			}
			e.WriteText(w)
		})
		if err != nil {
			return false, err
		}
	}
	return findings, nil
}

// explain explains the verdict about a request, by the configured site and the robots.txt for its
// URL.
func (x *explainRunner) explain(reader *robotsReader, r explain.Request) (*explain.Explanation, error) {
	at, file, err := x.findSiteAndRobots(reader, r.URL)
	if err != nil {
		return nil, err
	}
	e := at.site.Explain(explain.RobotsFile{Name: file.name, Robots: file.rules, Note: file.note}, r)
	if e.Handler != nil {
		e.Handler.Site = at.configuredSite.hostNames()
		switch {
		case at.isAmbiguous:
			e.Handler.Note = explain.NoteSeveralGuards
		case at.configuredSite.HasMatchers:
			e.Handler.Note = "robots_guard has matchers other than the host; explain does not check whether they match the request"
		}
	}
	return e, nil
}

// printVerdicts prints one line for each URL, with the verdict and the decisive rule.
func (x *explainRunner) printVerdicts(cmd *cobra.Command, urls []string, r explain.Request) (findings bool, err error) {
	reader := newRobotsReader(&x.config, cmd)
	verdicts := make([]explain.Verdict, len(urls))
	note := ""
	for i, u := range urls {
		at, file, err := x.findSiteAndRobots(reader, u)
		if err != nil {
			return false, err
		}
		if i == 0 {
			note = at.site.ClientNote(r)
		}
		r.URL = u
		v := at.site.Judge(file.rules, at.site.Registry.NewOverlay(file.rules.GroupNames()), r)
		v.URL, v.Licenses, v.Note = u, file.rules.LicenseURLs(), note
		verdicts[i], findings = v, findings || !v.Allowed
	}
	out := x.output.newPrinter(cmd)
	table := text.NewTable(out.screen, text.Column{Title: "VERDICT", Kind: text.VerdictColumn}, text.Column{Title: "URL", Kind: text.LongColumn},
		text.Column{Title: "LINE"}, text.Column{Title: "RULE", Kind: text.LongColumn}, text.Column{Title: "GROUP"})
	for _, v := range verdicts {
		err := out.print(v, func(io.Writer) {
			line, rule, group := "-", "-", cmp.Or(text.Printable(v.Group), "-")
			if v.Line > 0 {
				line, rule = fmt.Sprint(v.Line), text.Printable(v.Rule)
			}
			if v.Ambiguous {
				group += " (ambiguous)"
			}
			table.AddRow(v.Verdict, text.Printable(v.URL), line, rule, group)
		})
		if err != nil {
			return false, err
		}
	}
	if !x.output.json {
		table.Flush()
	}
	err = out.flush()
	reader.printNotes()
	if note != "" && !x.output.json {
		printNote(cmd.ErrOrStderr(), "note", note)
	}
	return findings, err
}

// siteForURL is the site with the settings for a requested URL.
type siteForURL struct {
	site           explain.Site
	configuredSite *Site // configuredSite is a zero Site without --config.
	isAmbiguous    bool  // isAmbiguous is true if the configuration has other guards for the URL.
}

// findSiteAndRobots returns the site for a URL and the robots.txt for the verdict. Without --config
// the site has the default settings.
func (x *explainRunner) findSiteAndRobots(reader *robotsReader, u string) (at siteForURL, file *robotsFile, err error) {
	at = siteForURL{site: explain.Site{Registry: uaident.Default()}, configuredSite: new(Site)}
	if x.configFile != "" {
		sites, registry, err := x.config.readSites(x.configFile, x.adapter)
		if err != nil {
			return at, nil, err
		}
		if at.configuredSite, at.isAmbiguous, err = findSite(sites, u); err != nil {
			return at, nil, err
		}
		if at.configuredSite.Err != nil {
			return at, nil, at.configuredSite.Err
		}
		at.site = explain.Site{Registry: registry, Settings: at.configuredSite.Settings, Rate: at.configuredSite.Rate, HasGuard: true}
	}
	name := cmp.Or(x.robots, at.configuredSite.Source)
	if name == "" {
		if addr.AuthorityOfURL(u) == "" {
			return at, nil, fmt.Errorf("%q has no host; give the robots.txt with --robots", u)
		}
		name = robotsURL(u)
	}
	file, err = reader.read(name)
	return at, file, err
}
