package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/diff"
	"github.com/robotsguard/caddy-robots-guard/internal/replay"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func diffCommand(config Config) *cobra.Command {
	d := diffing{config: config}
	cmd := &cobra.Command{
		Use:   "diff [--log <log>...] [--fail-on search-block|any-block|change|never] [--json] <old> <new>",
		Short: "Tells what an edit of a robots.txt changes",
		Long: `
Compares two robots.txt files, each a file, a URL, or - for standard input, and
tells for which crawlers verdicts change, by which rules, and for which URLs.
Search engines come first. The URLs are examples made from the rules and judged
by both files; a URL that is not shown may change too.

With --log access logs are replayed, too, and the requests are counted that the
edit blocks or opens, by crawler, rule and path, search engines first. What a log
may be, and what --site, --since, --until and --format mean, stands under audit.
--log may be repeated, and what follows the two files is a log, too.

Exit status: 0 if nothing changes that --fail-on asks for, 1 if so, 2 if a file
cannot be read. --fail-on search-block asks for URLs that a search engine may
not fetch any more, any-block for such of any crawler, change for any change of
a verdict. With --log the requests in the logs decide and not the examples,
unless the logs have no request of a robot.
`,
		Example: `
caddy robots-guard diff robots.txt robots.new.txt
caddy robots-guard diff --fail-on any-block --json robots.txt robots.new.txt
caddy robots-guard diff --since 30d robots.txt robots.new.txt --log "/var/log/nginx/access.log*"
git show HEAD~1:robots.txt | caddy robots-guard diff - robots.txt
`,
		RunE: runCommand(d.run),
	}
	flags := cmd.Flags()
	flags.StringVar(&d.failOn, "fail-on", "search-block", "what makes the exit status 1: search-block, any-block, change, or never")
	flags.BoolVar(&d.json, "json", false, "print a JSON object")
	flags.StringArrayVar(&d.logs.names, "log", nil, "an access log: a file, a pattern, or - for standard input")
	d.logs.addFlags(cmd)
	completeWords(cmd, "fail-on", "search-block", "any-block", "change", "never")
	return cmd
}

// diffing is the command with its flags.
type diffing struct {
	config Config
	failOn string
	json   bool
	logs   auditedLogs
}

// difference is what the command prints as JSON.
type difference struct {
	*diff.Result
	Log *replay.EditReport `json:"log,omitempty"`
}

// blocks reports whether crawlers of a class, of any if that is "", may fetch
// less than before: by the logs, if they can tell.
func (d *difference) blocks(class string) bool {
	if d.decidedByLog() {
		return d.Log.Blocks(class) > 0
	}
	return d.Result.Blocks(class)
}

// changes reports whether any verdict changes.
func (d *difference) changes() bool {
	if d.decidedByLog() {
		return d.Log.Blocked+d.Log.Opened > 0
	}
	return len(d.Changes) > 0
}

func (d *difference) decidedByLog() bool { return d.Log != nil && d.Log.Requests > 0 }

// write prints the difference in plain words.
func (d *difference) write(w io.Writer) error {
	if err := d.Result.Write(w); err != nil || d.Log == nil {
		return err
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return d.Log.WriteTable(w)
}

func (d *diffing) run(cmd *cobra.Command, names []string) (int, error) {
	fails := map[string]func(*difference) bool{
		"search-block": func(r *difference) bool { return r.blocks(uaident.Search.String()) },
		"any-block":    func(r *difference) bool { return r.blocks("") },
		"change":       (*difference).changes,
		"never":        func(*difference) bool { return false },
	}
	failed := fails[d.failOn]
	if len(names) > 2 && len(d.logs.names) > 0 {
		d.logs.names = append(d.logs.names, names[2:]...) // --log access.log*, as the shell expands it
		names = names[:2]
	}
	switch {
	case failed == nil:
		return 0, fmt.Errorf("unknown condition %q; --fail-on takes search-block, any-block, change or never", d.failOn)
	case len(names) != 2:
		return 0, errors.New("give two files: the robots.txt before the edit and the one after it")
	case names[0] == "-" && names[1] == "-":
		return 0, errors.New("only one of the two files can be standard input")
	case len(d.logs.names) == 0 && d.logs.chosen():
		return 0, errors.New("--site, --since, --until and --format are about logs; name one with --log")
	case slices.Contains(names, "-") && slices.Contains(d.logs.names, "-"):
		return 0, errors.New("only one of the files and logs can be standard input")
	}
	both, err := d.read(cmd, names)
	if err != nil {
		return 0, err
	}
	result := difference{Result: diff.Pair{Old: both[0].robots, New: both[1].robots}.Compare()}
	var incomplete error
	if len(d.logs.names) > 0 {
		o, err := d.logs.options(cmd)
		if err != nil {
			return 0, err
		}
		before, after := both[0].version(), both[1].version()
		o.Versions = []replay.Version{after}
		incomplete = d.logs.replay(cmd, o, func(ctx context.Context, o replay.Options) (err error) {
			result.Log, err = replay.Compare(ctx, before, o)
			return err
		})
		if result.Log == nil {
			return 0, incomplete
		}
	}
	out := screenOf(cmd.OutOrStdout())
	if d.json {
		out = text.NewScreen(cmd.OutOrStdout(), 0, false)
		enc := newEncoder(out)
		enc.SetIndent("", "  ")
		err = enc.Encode(result)
	} else {
		err = result.write(out)
		if incomplete != nil {
			incomplete = errIncomplete
		}
	}
	code := ExitAllowed
	if failed(&result) {
		code = ExitDisallowed
	}
	return code, errors.Join(err, out.Flush(), incomplete)
}

// side is one of the two files.
type side struct {
	robotsInput
	robots *policy.Robots
}

func (s *side) version() replay.Version { return replay.Version{Name: s.name, Body: s.body} }

// read reads the two files. A URL without a robots.txt restricts nothing. The
// host of a URL is the site whose requests count.
func (d *diffing) read(cmd *cobra.Command, names []string) ([]side, error) {
	both := make([]side, 2)
	site := ""
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
		both[i] = side{in, robots}
		site = cmp.Or(site, in.site)
	}
	if site != "" && len(d.logs.sites) == 0 {
		d.logs.sites = []string{siteOf(site)}
	}
	return both, nil
}
