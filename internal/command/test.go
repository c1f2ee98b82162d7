package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/expect"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func testCommand(config Config) *cobra.Command {
	x := caseTesting{config: config}
	cmd := &cobra.Command{
		Use:   "test [--robots <file|url>] [--format tap|junit|json] <cases>...",
		Short: "Tests a robots.txt by a table of expected verdicts",
		Long: `
Reads tables of expected verdicts, judges each case by the robots.txt, and prints the
results as TAP, JUnit or JSON. Keep a table next to your robots.txt and test it in CI.

A line of a table has three fields: a product token or a quoted User-Agent, a URL or
path, and the expected verdict: allow, disallow, or a preference of Content-Usage
(train-ai, ai-use or search with =y, =n or =unknown):

	# crawler                               URL              expected
	Googlebot                               /private/        disallow
	"Mozilla/5.0 (compatible; GPTBot/1.3)"  /                disallow
	*                                       /private/press/  allow
	GPTBot                                  /blog/           train-ai=n
	expect preference search=y for /blog/ as Bingbot

The last form is a preference in words; without "as", the crawler is *. A line may also
be a JSON object with "user_agent" or "token", "url", "expect" and an optional "name".
Lines that begin with # are comments. - reads a table from standard input.

The * group applies to a product token; * is a crawler without a group of its own. A
User-Agent is identified as the server does it, so a browser may fetch everything.

Exit status: 1 if a case fails.
`,
		Example: `
caddy robots-guard test --robots robots.txt cases.txt
caddy robots-guard test --robots robots.txt --format junit cases.txt cases.jsonl > report.xml
`,
		RunE: runCommand(x.run),
	}
	flags := cmd.Flags()
	flags.StringVarP(&x.robots, "robots", "r", "robots.txt", "the robots.txt: a file or a URL")
	flags.StringVar(&x.format, "format", "tap", "the output format: "+strings.Join(expect.Formats(), ", "))
	flags.BoolVar(&x.json, "json", false, "the same as --format json")
	completeWords(cmd, "format", expect.Formats()...)
	return cmd
}

// caseTesting is the command with its flags.
type caseTesting struct {
	config         Config
	robots, format string
	json           bool
}

func (x *caseTesting) run(cmd *cobra.Command, names []string) (int, error) {
	if x.json && cmd.Flags().Changed("format") && x.format != "json" {
		return 0, errors.New("give either --json or --format")
	} else if x.json {
		x.format = "json"
	}
	switch {
	case !slices.Contains(expect.Formats(), x.format):
		return 0, fmt.Errorf("unknown format %q; --format takes %s", x.format, strings.Join(expect.Formats(), ", "))
	case len(names) == 0:
		return 0, errors.New("no table of cases given; see caddy robots-guard test --help")
	case x.robots == "-" && slices.Contains(names, "-"):
		return 0, errors.New("only one of the robots.txt and the table can be standard input")
	}
	in, err := x.config.readInput(cmd.Context(), cmd.InOrStdin(), x.robots)
	if err != nil {
		return 0, err
	}
	robots, err := in.rules()
	if err != nil {
		return 0, err
	}
	if note := in.noteOn(robots); note != "" {
		printNote(cmd.ErrOrStderr(), "note", note)
	}
	var results []expect.Result
	var errs []error
	notes := make(map[string]string) // notes by client, cached because finding them is slow
	overlay := overlayOf(robots)
	for _, name := range names {
		cases, err := readCases(cmd.InOrStdin(), name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, c := range cases {
			r := JudgeCase(robots, overlay, c)
			who := c.Token + "\x00" + c.UserAgent
			note, known := notes[who]
			if !known {
				note = (&claimant{token: c.Token, userAgent: c.UserAgent, isAgent: c.Token == ""}).note()
				notes[who] = note
			}
			r.Note = note
			results = append(results, r)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return 0, err
	}
	out := text.NewScreen(cmd.OutOrStdout(), 0, false)
	if x.format == "tap" {
		out = screenOf(cmd.OutOrStdout())
	}
	code := ExitOK
	if slices.ContainsFunc(results, func(r expect.Result) bool { return !r.OK() }) {
		code = ExitFindings
	}
	return code, errors.Join(expect.Write(out, x.format, results), out.Flush())
}

// maxCases bounds the table of cases, in bytes.
const maxCases = 16 << 20

// readCases reads a table of cases.
func readCases(stdin io.Reader, name string) ([]expect.Case, error) {
	body, err := readTable(stdin, name)
	switch {
	case err != nil:
		return nil, err
	case len(body) > maxCases:
		return nil, fmt.Errorf("%s: it has more than %d MiB; is this a table of cases?", name, maxCases>>20)
	case name != "-" && isBinary(body):
		return nil, fmt.Errorf("%s is a binary file and no table of cases", name)
	}
	return expect.Read(name, bytes.NewReader(body))
}

// readTable reads a file or standard input. It stops when the table exceeds maxCases.
func readTable(stdin io.Reader, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(stdin, maxCases+1))
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s; check the name of the table of cases", name)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory; give the tables of cases in it", name)
	}
	return readMost(name, maxCases)
}

// JudgeCase judges one case as explain does. The overlay has the names that only the robots.txt
// has.
func JudgeCase(robots *policy.Robots, overlay *uaident.Overlay, c expect.Case) expect.Result {
	who := claimant{token: c.Token, userAgent: c.UserAgent, isAgent: c.Token == ""}
	if who.isAgent {
		who.client = uaident.Default().IdentifyWith(c.UserAgent, overlay)
	}
	verdict := judgeURL(&defaultSite, robots, who, c.URL)
	r := expect.Result{Case: c, Got: verdict.Allowed}
	if c.About != "" {
		r.States, r.Because = verdict.stated(c.About)
		return r
	}
	switch {
	case verdict.reason == judge.TwoReadings:
		r.Because = verdict.reason.String()
	case verdict.Rule != "":
		r.Because = fmt.Sprintf("%s in line %d of group %s", verdict.Rule, verdict.Line, verdict.Group)
	case verdict.reason == judge.NoRule:
		r.Because = "no rule of group " + verdict.Group + " matches"
	case verdict.reason == judge.NotMeant, verdict.reason == judge.NobodyJudged:
		r.Because = "class " + verdict.Class + " is not judged"
	default:
		r.Because = verdict.reason.String()
	}
	return r
}

// stated returns the preference with this label, and its lines in words.
func (r *briefResult) stated(label string) (says policy.Preference, because string) {
	about := slices.IndexFunc(policy.Uses(), func(u policy.Use) bool { return u.String() == label })
	if r.Verdict != judge.Allowed.String() {
		return policy.PreferenceUnknown, "preferences do not apply to a URL that is " + r.Verdict
	}
	var lines []string
	for _, line := range r.statements {
		says = says.And(line.Preferences[about])
	}
	for _, line := range r.statements {
		if says == policy.PreferenceUnknown || line.Preferences[about] == says {
			lines = append(lines, fmt.Sprintf("%s in line %d", line.By, line.Line))
		}
	}
	if len(lines) == 0 {
		return says, "no line has a preference for the URL"
	}
	return says, strings.Join(lines[:min(len(lines), 10)], ", ")
}
