package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/diff"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

func diffCommand(config Config) *cobra.Command {
	d := diffing{config: config}
	cmd := &cobra.Command{
		Use:   "diff [--fail-on search-block|any-block|change|never] [--json] <old> <new>",
		Short: "Tells what an edit of a robots.txt changes",
		Long: `
Compares two robots.txt files, each a file, a URL, or - for standard input, and
tells for which crawlers verdicts change, by which rules, and for which URLs.
Search engines come first. The URLs are examples made from the rules and judged
by both files; a URL that is not shown may change too.

Exit status: 0 if nothing changes that --fail-on asks for, 1 if so, 2 if a file
cannot be read. --fail-on search-block asks for URLs that a search engine may
not fetch any more, any-block for such of any crawler, change for any change of
a verdict.
`,
		Example: `
caddy robots-guard diff robots.txt robots.new.txt
caddy robots-guard diff --fail-on any-block --json robots.txt robots.new.txt
git show HEAD~1:robots.txt | caddy robots-guard diff - robots.txt
`,
		RunE: runCommand(d.run),
	}
	flags := cmd.Flags()
	flags.StringVar(&d.failOn, "fail-on", "search-block", "what makes the exit status 1: search-block, any-block, change, or never")
	flags.BoolVar(&d.json, "json", false, "print a JSON object")
	completeWords(cmd, "fail-on", "search-block", "any-block", "change", "never")
	return cmd
}

// diffing is the command with its flags.
type diffing struct {
	config Config
	failOn string
	json   bool
}

func (d *diffing) run(cmd *cobra.Command, names []string) (int, error) {
	fails := map[string]func(diff.Pair, *diff.Result) bool{
		"search-block": diff.Pair.ShutsOutSearch,
		"any-block":    func(_ diff.Pair, r *diff.Result) bool { return r.Blocks() },
		"change":       func(_ diff.Pair, r *diff.Result) bool { return len(r.Changes) > 0 },
		"never":        func(diff.Pair, *diff.Result) bool { return false },
	}
	failed := fails[d.failOn]
	switch {
	case failed == nil:
		return 0, fmt.Errorf("unknown condition %q; --fail-on takes search-block, any-block, change or never", d.failOn)
	case len(names) != 2:
		return 0, errors.New("give two files: the robots.txt before the edit and the one after it")
	case names[0] == "-" && names[1] == "-":
		return 0, errors.New("only one of the two files can be standard input")
	}
	both, err := d.read(cmd, names)
	if err != nil {
		return 0, err
	}
	pair := diff.Pair{Old: both[0], New: both[1]}
	result := pair.Compare()
	code := ExitOK
	if failed(pair, result) {
		code = ExitFindings
	}
	return code, writeResult(cmd.OutOrStdout(), d.json, result, func(out *text.Screen) error { return result.Write(out) })
}

// read reads the two files. A URL without a robots.txt restricts nothing.
func (d *diffing) read(cmd *cobra.Command, names []string) ([]*policy.Robots, error) {
	both := make([]*policy.Robots, 2)
	for i, name := range names {
		in, err := d.config.readInput(cmd.Context(), cmd.InOrStdin(), name)
		if err != nil {
			return nil, err
		}
		robots, err := in.rules()
		if err != nil {
			return nil, err
		}
		if note := in.noteOn(robots); note != "" {
			printNote(cmd.ErrOrStderr(), "note", note)
		}
		both[i] = robots
	}
	return both, nil
}
