package command

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/explain"
)

func testCommand(config Config) *cobra.Command {
	x := testRunner{config: config}
	cmd := &cobra.Command{
		Use:   "test [--robots <file|url>] [--json] <cases>...",
		Short: "Tests a robots.txt by a table of expected verdicts",
		Long: `
Reads tables of expected verdicts, judges each case by the robots.txt, and prints the
results as TAP (Test Anything Protocol) or JSON. Keep a table of cases next to
your robots.txt, and run the command in CI.

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

The * group applies to every product token; * is a crawler without a group of its own. A
User-Agent is identified as the server does, so a browser may fetch everything.

Exit status: 1 if a case fails.
`,
		Example: `
caddy robots-guard test --robots robots.txt cases.txt
caddy robots-guard test --robots robots.txt --json cases.txt cases.jsonl
`,
		RunE: wrapRun(x.run),
	}
	flags := cmd.Flags()
	flags.StringVarP(&x.robots, "robots", "r", "robots.txt", "the robots.txt: a file or a URL")
	x.output.defineFlag(flags)
	return cmd
}

// testRunner runs "caddy robots-guard test". Its fields are the values of the flags.
type testRunner struct {
	config Config
	output output
	robots string
}

func (x *testRunner) run(cmd *cobra.Command, names []string) (findings bool, err error) {
	switch {
	case len(names) == 0:
		return false, errors.New("no table of test cases given; see caddy robots-guard test --help")
	case x.robots == "-" && slices.Contains(names, "-"):
		return false, errors.New("the robots.txt and the table cannot both be standard input")
	}
	reader := newRobotsReader(&x.config, cmd)
	file, err := reader.read(x.robots)
	if err != nil {
		return false, err
	}
	reader.printNotes()
	report := explain.CaseReport{Cases: []explain.CaseResult{}}
	var errs []error
	// These are the notes by client. They are cached because finding them is slow.
	notes := make(map[explain.Request]string)
	overlay := defaultSite.Registry.NewOverlay(file.rules.GroupNames())
	for _, name := range names {
		cases, err := readCases(cmd.InOrStdin(), name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, c := range cases {
			r := c.Judge(file.rules, overlay)
			client := explain.Request{Token: c.Token, UserAgent: c.UserAgent}
			note, known := notes[client]
			if !known {
				note = defaultSite.ClientNote(client)
				notes[client] = note
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

// maxCases is the maximum size of a table of test cases, in bytes.
const maxCases = 16 << 20

// readCases reads a table of test cases from a file, or from standard input for -.
func readCases(stdin io.Reader, name string) ([]explain.Case, error) {
	body, err := readFile(stdin, name, maxCases)
	switch {
	case err != nil:
		return nil, err
	case len(body) > maxCases:
		return nil, fmt.Errorf("%s: the table of test cases is larger than %d MiB", name, maxCases>>20)
	case name != "-" && isBinary(body):
		return nil, fmt.Errorf("%s is a binary file, not a table of test cases", name)
	}
	return explain.ReadCases(name, body)
}
