package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/explain"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

func checkCommand(config Config) *cobra.Command {
	c := check{config: config}
	cmd := &cobra.Command{
		Use:   "check [--robots <file|url>] [--user-agent <ua> | --token <token>] <url>...",
		Short: "Tells whether a robots.txt allows a crawler to fetch URLs",
		Long: `
Judges each URL by a robots.txt and prints the verdict with the rule, its line
and its group.

--robots is a file, a URL, or - for standard input. Without it the robots.txt of
each URL's own site is fetched.

--user-agent is identified as the server does it: a browser is not judged, and
the * group is not meant for every kind of client, nor for every request: for
/.well-known/ only by rules that begin with it, and for a --method other than GET and HEAD only if the registry
knows the crawler. --token is judged as exactly that product token, which obeys
the * group. Without either, only the * group counts.

--identity says what to assume of the client: one under a false name, "spoofed",
is judged by the stricter of the group of that name and the * group. Which it is
"caddy robots-guard verify" tells.

With --batch each line of standard input is a JSON object with "id", "robots" or
"robots_b64" (the file's text, plain or in base64), "token" or "user_agent",
"url" and, if wanted, "method". The answer to each is a line on standard output.
A "user_agent" of null is that of a client that sends none.
Lines without a robots.txt are judged by --robots, which may then also be a
directory as of audit: with "host" and "time" (seconds since 1970, or like
2026-11-20T10:00:00Z) a line is judged by the text that this host served then, and
is "unknown" where the directory has none of the host.

Exit status: 0 if everything is allowed, 1 if something is not, 2 if an argument
or the robots.txt cannot be used. With --batch it is 0 whatever the verdicts are,
or 2 if a line cannot be understood.
`,
		Example: `
caddy robots-guard check --robots robots.txt --token GPTBot /private/report
caddy robots-guard check --robots https://example.com/robots.txt --token Bingbot https://example.com/a /b?c=d
caddy robots-guard check --robots robots.txt --user-agent "Mozilla/5.0 (compatible; Googlebot/2.1)" --json /
echo '{"user_agent":"GPTBot/1.2","url":"/private/report"}' | caddy robots-guard check --robots robots.txt --batch
`,
		RunE: runCommand(c.run),
	}
	flags := cmd.Flags()
	flags.StringVarP(&c.robots, "robots", "r", "", "the robots.txt: a file, a URL, - for standard input, or with --batch a directory")
	flags.StringVarP(&c.userAgent, "user-agent", "u", "", "the User-Agent to judge")
	flags.StringVar(&c.identity, "identity", "claimed", "what to assume of the client: claimed, verified, unknown or spoofed")
	completeWords(cmd, "identity", "claimed", "verified", "unknown", "spoofed")
	flags.StringVarP(&c.method, "method", "X", http.MethodGet, "the method of the requests")
	flags.StringVarP(&c.token, "token", "t", "", "the product token to judge")
	flags.BoolVar(&c.json, "json", false, "print a JSON object a line")
	flags.BoolVar(&c.batch, "batch", false, "read JSON lines from standard input")
	return cmd
}

// check is the command with its flags.
type check struct {
	config                                     Config
	robots, userAgent, token, identity, method string
	json, batch                                bool
}

// checkResult is the verdict on one URL, as --json and --batch print it.
type checkResult struct {
	ID        any    `json:"id,omitempty"`
	URL       string `json:"url,omitempty"`
	Crawler   string `json:"crawler,omitempty"`
	Class     string `json:"class,omitempty"`
	Identity  string `json:"identity,omitempty"`
	Allowed   bool   `json:"allowed"`
	Verdict   string `json:"verdict"`
	Rule      string `json:"rule"`
	Line      int    `json:"line"`
	Group     string `json:"group"`
	GroupLine int    `json:"group_line,omitempty"`
	Form      string `json:"form,omitempty"`
	Ambiguous bool   `json:"ambiguous"`
	// Preferences is what is stated about the use of what may be fetched.
	Preferences string `json:"preferences,omitempty"`
	// Licenses are the terms that the file leads to.
	Licenses []string `json:"licenses,omitempty"`
	Note     string   `json:"note,omitempty"` // such as that no request carries the name

	reason judge.Reason
	group  *policy.Selection // what Preferences is of, nil for nothing
	target string
}

// claimant is who asks for a URL: a product token, or a User-Agent.
type claimant struct {
	token     string
	userAgent string
	isAgent   bool
	client    uaident.Identity // who that is, by [claimant.identified]
	method    string           // GET if ""
	identity  verify.State     // what is assumed of it
}

func (c *check) run(cmd *cobra.Command, urls []string) (int, error) {
	who := claimant{token: c.token, userAgent: c.userAgent, method: c.method, isAgent: cmd.Flags().Changed("user-agent")}
	var err error
	if who.identity, err = explain.ParseIdentity(c.identity); err != nil {
		return 0, err
	}
	switch {
	case c.batch && (len(urls) > 0 || who.isAgent || c.token != "" || cmd.Flags().Changed("identity") || cmd.Flags().Changed("method")):
		return 0, errors.New("--batch takes everything but --robots from standard input; leave out the other arguments")
	case c.batch:
		return ExitAllowed, c.runBatch(cmd)
	case who.isAgent && cmd.Flags().Changed("token"):
		return 0, errors.New("give either --user-agent or --token")
	case !who.isAgent && cmd.Flags().Changed("identity"):
		return 0, errors.New("--identity goes with --user-agent")
	case !who.isAgent && cmd.Flags().Changed("method"):
		return 0, errors.New("--method goes with --user-agent")
	case len(urls) == 0:
		return 0, errors.New("no URL given; see caddy robots-guard check --help")
	}
	if err := checkTokenFlag(cmd, c.token); err != nil {
		return 0, err
	}
	files := robotsFiles{config: &c.config, named: c.robots, stdin: cmd.InOrStdin(), known: make(map[string]*policy.Robots)}
	out := screenOf(cmd.OutOrStdout())
	print, finish := printTable(out)
	if c.json {
		out = text.NewScreen(cmd.OutOrStdout(), 0, false)
		print, finish = printJSON(out)
	}
	code, note := ExitAllowed, who.note()
	for _, u := range urls {
		if err := checkTarget(u); err != nil {
			return 0, err
		}
		robots, err := files.of(cmd.Context(), u)
		if err != nil {
			return 0, err
		}
		result := judgeURL(robots, who.identified(robots), u)
		result.URL, result.Note = u, note
		if !result.Allowed {
			code = ExitDisallowed
		}
		if err := print(result); err != nil {
			return 0, err
		}
	}
	err = errors.Join(finish(), out.Flush())
	if files.note != "" {
		printNote(cmd.ErrOrStderr(), "note", files.note)
	}
	if note != "" && !c.json {
		printNote(cmd.ErrOrStderr(), "note", note)
	}
	return code, err
}

// note tells what is odd about who asks, such as that no request carries the name.
func (who *claimant) note() string {
	token := who.token
	if who.isAgent {
		token = ""
		if c := uaident.Identify(who.userAgent).Crawler; c != nil {
			token = c.Token
		}
	}
	return judge.AboutToken(uaident.Default(), token)
}

// identified returns the claimant with who its User-Agent is by the names of a
// robots.txt.
func (who claimant) identified(robots *policy.Robots) claimant {
	if who.isAgent {
		who.client = uaident.Default().IdentifyWith(who.userAgent, overlayOf(robots))
	}
	return who
}

// overlayOf returns the names that only a robots.txt knows.
func overlayOf(robots *policy.Robots) *uaident.Overlay {
	return uaident.Default().Overlay(robots.Names())
}

// judgeURL judges one URL as the server would. The claimant has been identified.
func judgeURL(robots *policy.Robots, who claimant, u string) checkResult {
	q := judge.Request{Method: who.method, Target: policy.TargetOf(u), Identity: who.identity, Client: who.client}
	if !who.isAgent {
		q.Token = cmp.Or(who.token, "*")
	}
	var scratch judge.Scratch
	var r judge.Result
	(&judge.Settings{}).Judge(&q, judge.Rules{Robots: robots}, &scratch, &r)
	evidence := r.Evidence
	result := checkResult{
		Licenses: robots.Licenses(), Allowed: evidence.Allowed, Verdict: r.Verdict.String(), Ambiguous: evidence.Ambiguous, reason: r.Reason,
		Rule: evidence.Rule.String(), Line: evidence.Rule.Line, Group: evidence.Group.Name, GroupLine: evidence.Group.Line,
	}
	if r.Verdict == judge.Allowed {
		result.group, result.target = r.Group, q.Target
		result.Preferences = r.Preferences.String()
	}
	if evidence.Form != 0 {
		result.Form = evidence.Form.String()
	}
	switch {
	case !who.isAgent:
		if q.Token != "*" {
			result.Crawler = q.Token
		}
	case q.Client.Class == uaident.Browser:
		result.Class = q.Client.Class.String()
	default:
		result.Crawler, result.Class, result.Identity = q.Client.Name(), q.Client.Class.String(), who.identity.String()
	}
	return result
}

// printJSON returns functions that print results a line each.
func printJSON(w io.Writer) (print func(checkResult) error, finish func() error) {
	enc := newEncoder(w)
	return func(r checkResult) error { return enc.Encode(r) }, func() error { return nil }
}

// printTable returns functions that print results as a table.
func printTable(w io.Writer) (print func(checkResult) error, finish func() error) {
	table := text.NewTable(w, text.Column{Title: "VERDICT", Kind: text.Verdict}, text.Column{Title: "URL", Kind: text.Long},
		text.Column{Title: "LINE"}, text.Column{Title: "RULE", Kind: text.Long}, text.Column{Title: "GROUP"})
	return func(r checkResult) error {
		line, rule, group := "-", "-", "-"
		if r.Line > 0 {
			line, rule = fmt.Sprint(r.Line), text.Printable(r.Rule)
		}
		if r.Group != "" {
			group = text.Printable(r.Group)
		}
		if r.Ambiguous {
			group += " (ambiguous)"
		}
		table.Row(r.Verdict, text.Printable(r.URL), line, rule, group)
		return nil
	}, table.Flush
}
