package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/diff"
)

func diffCommand(config Config) *cobra.Command {
	d := diffRunner{config: config}
	cmd := &cobra.Command{
		Use:   "diff [--fail-on search-block|any-block|change|never] [--json] <old> <new>",
		Short: "Shows what an edit of a robots.txt changes",
		Long: `
Compares two robots.txt files, each a file, a URL, or - for standard input. The output
shows which crawlers may fetch less or more, by which rules, and example URLs. The
examples are made from the rules; other URLs may change, too.

Exit status: 1 for a change that --fail-on selects: search-block (a URL is newly
disallowed to a search engine), any-block (newly disallowed to any crawler), or change
(a URL has another verdict).
`,
		Example: `
caddy robots-guard diff robots.txt robots.new.txt
caddy robots-guard diff --fail-on any-block --json robots.txt robots.new.txt
git show HEAD~1:robots.txt | caddy robots-guard diff - robots.txt
`,
		RunE: wrapRun(d.run),
	}
	flags := cmd.Flags()
	flags.StringVar(&d.failOn, "fail-on", "search-block", "the changes with exit status 1: search-block, any-block, change, or never")
	d.output.defineFlag(flags)
	completeValues(cmd, "fail-on", "search-block", "any-block", "change", "never")
	return cmd
}

// diffRunner runs "caddy robots-guard diff". Its fields are the values of the flags.
type diffRunner struct {
	config Config
	output output
	failOn string
}

func (d *diffRunner) run(cmd *cobra.Command, names []string) (findings bool, err error) {
	fails := map[string]func(diff.Edit, *diff.Result) bool{
		"search-block": diff.Edit.ShutsOutSearch,
		"any-block":    func(_ diff.Edit, r *diff.Result) bool { return r.DisallowsNewURL() },
		"change":       func(_ diff.Edit, r *diff.Result) bool { return len(r.Changes) > 0 },
		"never":        func(diff.Edit, *diff.Result) bool { return false },
	}
	failed := fails[d.failOn]
	switch {
	case failed == nil:
		return false, fmt.Errorf("unknown condition %q; --fail-on takes search-block, any-block, change or never", d.failOn)
	case len(names) != 2:
		return false, errors.New("give two files: the robots.txt before the edit and the robots.txt after the edit")
	case names[0] == "-" && names[1] == "-":
		return false, errors.New("only one of the two files can be standard input")
	}
	reader := newRobotsReader(&d.config, cmd)
	before, err := reader.read(names[0])
	if err != nil {
		return false, err
	}
	after, err := reader.read(names[1])
	if err != nil {
		return false, err
	}
	reader.printNotes()
	pair := diff.Edit{Old: before.rules, New: after.rules}
	result := pair.Compare()
	return failed(pair, result), d.output.print(cmd, result, result.WriteText)
}
