package caddymodule

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func explainCommand() *cobra.Command {
	var x explaining
	cmd := &cobra.Command{
		Use:   "explain --user-agent <ua> [--robots <file|url>] [--config <file>] [--json] <url>",
		Short: "Tells step by step why a request is allowed or not",
		Long: `
Tells in plain words how the server judges a request: which words of the
User-Agent counted, who it says to be, by which names a group could address it
and which group decides, in which forms the URL is compared, every rule that
matches by its length, and the verdict.

--robots is a file, a URL, or - for standard input. Without it the robots.txt of
the URL's own site is fetched.

With --config the settings of the robots_guard directive of the URL's site are
taken from that file, and what it would do is told too.

The running server tells the same of its own copy: POST a JSON object with
"user_agent", "url" and, if it is not GET, "method" to /robots_guard/explain on
its admin API.

Exit status: 0 if the request is allowed, 1 if not, 2 if an argument or the
robots.txt cannot be used.
`,
		Example: `
caddy robots-guard explain --robots robots.txt --user-agent "Mozilla/5.0 (compatible; GPTBot/1.3)" /private/report
caddy robots-guard explain --robots robots.txt --config Caddyfile --user-agent Bingbot/2.0 https://example.com/private/
caddy robots-guard explain --robots robots.txt --user-agent curl/8.7.1 --json /
`,
		RunE: runCommand(x.run),
	}
	flags := cmd.Flags()
	flags.StringVarP(&x.userAgent, "user-agent", "u", "", "the User-Agent of the request")
	flags.StringVarP(&x.robots, "robots", "r", "", "the robots.txt: a file, a URL, or - for standard input")
	flags.StringVarP(&x.config, "config", "c", "", "a configuration file to take the settings from")
	flags.StringVarP(&x.adapter, "adapter", "a", "", "the adapter of that file")
	flags.StringVar(&x.identity, "identity", "claimed", "what to assume of the client: claimed, verified, unknown or spoofed")
	completeWords(cmd, "identity", "claimed", "verified", "unknown", "spoofed")
	flags.StringVarP(&x.method, "method", "X", http.MethodGet, "the method of the request")
	flags.BoolVar(&x.json, "json", false, "print a JSON object")
	return cmd
}

// explaining is the command with its flags.
type explaining struct {
	userAgent, robots, config, adapter, identity, method string
	json                                                 bool
}

// assumedIdentity reads what is assumed of a client, claimed for "".
func assumedIdentity(word string) (identity, error) {
	if word == "" {
		return identityClaimed, nil
	}
	who, ok := parseIdentity(word)
	if !ok {
		return 0, fmt.Errorf("unknown identity %q; it is claimed, verified, unknown or spoofed", word)
	}
	return who, nil
}

func (x *explaining) run(cmd *cobra.Command, urls []string) (int, error) {
	switch {
	case len(urls) != 1:
		return 0, errors.New("give one URL; see caddy robots-guard explain --help")
	case !cmd.Flags().Changed("user-agent"):
		return 0, errors.New("no --user-agent given; an empty one is written --user-agent \"\"")
	}
	who, err := assumedIdentity(x.identity)
	if err != nil {
		return 0, err
	}
	configured := new(configuredGuard)
	g := &guard{app: &App{registry: uaident.Default()}}
	if x.config != "" {
		guards, registry, err := loadGuards(x.config, x.adapter)
		if err != nil {
			return 0, err
		}
		if configured, err = guardFor(guards, urls[0]); err != nil {
			return 0, err
		}
		if g, err = newOfflineGuard(&configured.handler, registry); err != nil {
			return 0, err
		}
		if source := configured.handler.Source; x.robots == "" && source != nil {
			x.robots = source.URL + source.File // one of the two
		}
	}
	from, err := x.read(cmd, urls[0])
	if err != nil {
		return 0, err
	}
	e := g.explain(from, explainedRequest{userAgent: x.userAgent, url: urls[0], method: x.method, identity: who}, x.config != "")
	if e.Handler != nil {
		e.Handler.Site = configured.site()
		if configured.matched {
			e.Handler.Note = "matchers beside the host stand before it; whether they let this request through is not told here"
		}
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	if x.json {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		err = enc.Encode(e)
	} else {
		err = e.Write(out)
	}
	code := exitAllowed
	if !e.Allowed {
		code = exitDisallowed
	}
	return code, errors.Join(err, out.Flush())
}

// read reads the robots.txt that is asked, that of the URL's own site if none is
// named.
func (x *explaining) read(cmd *cobra.Command, rawURL string) (explainedRobots, error) {
	name := x.robots
	if name == "" {
		if hostOf(rawURL) == "" {
			return explainedRobots{}, fmt.Errorf("%q names no site; say whose robots.txt is meant with --robots", rawURL)
		}
		scheme, _, _ := strings.Cut(rawURL, "://")
		name = scheme + "://" + urlAuthority(rawURL) + "/robots.txt"
	}
	in, err := readInput(cmd.Context(), cmd.InOrStdin(), name)
	if err != nil {
		return explainedRobots{}, err
	}
	from := explainedRobots{name: in.name, robots: policy.Parse(in.body)}
	if in.missing {
		from.note = fmt.Sprintf("the server answers %d: there is none, so nothing is restricted", in.status)
	}
	return from, nil
}
