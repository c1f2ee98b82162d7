package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/expect"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func testCommand(config Config) *cobra.Command {
	x := testRunner{config: config}
	cmd := &cobra.Command{
		Use:   "test [--robots <file|url>] [--json] <cases>...",
		Short: "Tests a robots.txt by a table of expected verdicts",
		Long: `
Reads tables of expected verdicts, judges each case by the robots.txt, and prints the
results as TAP (Test Anything Protocol) or JSON. Keep a table next to your robots.txt
and test it in CI.

A line of a table has three fields: a product token or a quoted User-Agent, a URL or
path, and the expected verdict: allow, disallow, or a preference of Content-Usage
(train-ai, ai-use or search with =y, =n or =unknown):

	# crawler                               URL              expected
	Googlebot                               /private/        disallow
	"Mozilla/5.0 (compatible; GPTBot/1.3)"  /                disallow
	*                                       /private/press/  allow
	GPTBot                                  /blog/           train-ai=n

A line may also be a JSON object with "user_agent" or "token", "url", "expect" and an
optional "name". Lines that begin with # are comments. - reads a table from standard
input.

The * group applies to a product token; * is a crawler without a group of its own. A
User-Agent is identified as the server does it, so a browser may fetch everything.

Exit status: 1 if a case fails.
`,
		Example: `
caddy robots-guard test --robots robots.txt cases.txt
caddy robots-guard test --robots robots.txt --json cases.txt cases.jsonl
`,
		RunE: runCommand(x.run),
	}
	flags := cmd.Flags()
	flags.StringVarP(&x.robots, "robots", "r", "robots.txt", "the robots.txt: a file or a URL")
	x.output.define(flags)
	return cmd
}

// testRunner is the command with its flags.
type testRunner struct {
	config Config
	output output
	robots string
}

func (x *testRunner) run(cmd *cobra.Command, names []string) (findings bool, err error) {
	switch {
	case len(names) == 0:
		return false, errors.New("no table of cases given; see caddy robots-guard test --help")
	case x.robots == "-" && slices.Contains(names, "-"):
		return false, errors.New("only one of the robots.txt and the table can be standard input")
	}
	reader := newRobotsReader(&x.config, cmd)
	file, err := reader.read(x.robots)
	if err != nil {
		return false, err
	}
	reader.printNotes()
	robots := file.rules
	report := expect.Report{Cases: []expect.Result{}}
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
				note = (&requester{token: c.Token, userAgent: c.UserAgent, hasUserAgent: c.Token == ""}).note()
				notes[who] = note
			}
			r.Note = note
			report.Add(r)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return false, err
	}
	return report.Failed > 0, x.output.print(cmd, report, report.WriteText)
}

// maxCases bounds the table of cases, in bytes.
const maxCases = 16 << 20

// readCases reads a table of cases.
func readCases(stdin io.Reader, name string) ([]expect.Case, error) {
	body, err := readFile(stdin, name, maxCases)
	switch {
	case err != nil:
		return nil, err
	case len(body) > maxCases:
		return nil, fmt.Errorf("%s: it has more than %d MiB; is this a table of cases?", name, maxCases>>20)
	case name != "-" && isBinary(body):
		return nil, fmt.Errorf("%s is a binary file, not a table of cases", name)
	}
	return expect.Read(name, bytes.NewReader(body))
}

// JudgeCase judges one case as explain does. The overlay has the names that only the robots.txt
// has.
func JudgeCase(robots *policy.Robots, overlay *uaident.Overlay, c expect.Case) expect.Result {
	who := requester{token: c.Token, userAgent: c.UserAgent, hasUserAgent: c.Token == ""}
	if who.hasUserAgent {
		who.client = uaident.Default().IdentifyWith(c.UserAgent, overlay)
	}
	verdict := judgeURL(&defaultSite, robots, who, c.URL)
	r := expect.Result{Case: c, Got: expect.Access(verdict.Allowed)}
	if label, ok := c.Preference(); ok {
		preference, because := verdict.preference(label)
		r.Got, r.Because = label+"="+preference.String(), because
		return r
	}
	switch {
	case verdict.reason == judge.ReasonAmbiguous:
		r.Because = verdict.reason.String()
	case verdict.Rule != "":
		r.Because = fmt.Sprintf("%s in line %d of group %s", verdict.Rule, verdict.Line, verdict.Group)
	case verdict.reason == judge.ReasonNoRule:
		r.Because = "no rule of group " + verdict.Group + " matches"
	case verdict.reason == judge.ReasonClass, verdict.reason == judge.ReasonBrowser:
		r.Because = "class " + verdict.Class + " is not judged"
	default:
		r.Because = verdict.reason.String()
	}
	return r
}

// preference returns the preference with this label, and the lines that state it.
func (r *briefResult) preference(label string) (preference policy.Preference, because string) {
	use := slices.IndexFunc(policy.Uses(), func(u policy.Use) bool { return u.String() == label })
	if r.Verdict != judge.Allowed.String() {
		return policy.PreferenceUnknown, "preferences do not apply to a URL that is " + r.Verdict
	}
	for _, line := range r.statements {
		preference = preference.And(line.Preferences[use])
	}
	var lines []string
	for _, line := range r.statements {
		if preference == policy.PreferenceUnknown || line.Preferences[use] == preference {
			lines = append(lines, fmt.Sprintf("%s in line %d", line.Source, line.Line))
		}
	}
	if len(lines) == 0 {
		return preference, "no line has a preference for the URL"
	}
	return preference, strings.Join(lines[:min(len(lines), 10)], ", ")
}
