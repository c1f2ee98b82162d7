package command

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

func lintCommand(config Config) *cobra.Command {
	l := linting{config: config}
	cmd := &cobra.Command{
		Use:   "lint [--format text|json|github] [--fail-on error|warning|info|never] [--pages <n>] [<file|url|->...]",
		Short: "Finds mistakes in a robots.txt",
		Long: `
Shows what crawlers make of a robots.txt: lines that they ignore or read in an
unexpected way, and names, rules and records without effect. docs/findings.md explains
each finding by its code.

Without an argument lint reads the file robots.txt in the current directory; - is
standard input. For a URL without a path lint fetches /robots.txt.

If Googlebot, Bingbot, YandexBot, GPTBot and a crawler that follows RFC 9309 read the
file differently, lint shows the differences. --readings shows them always.

--format github annotates a pull request on GitHub.

Exit status: 1 if there are findings of the severity of --fail-on or above.
`,
		Example: `
caddy robots-guard lint robots.txt
caddy robots-guard lint --fail-on warning --format json robots.txt
caddy robots-guard lint --readings --site https://example.com - < robots.txt
`,
		RunE: runCommand(l.run),
	}
	flags := cmd.Flags()
	flags.StringVar(&l.format, "format", "text", "the output format: "+strings.Join(lint.Formats(), ", "))
	flags.StringVar(&l.failOn, "fail-on", "error", "the lowest severity with exit status 1: error, warning, info, or never")
	flags.StringVar(&l.site, "site", "", "the site that a file is for, such as https://example.com")
	flags.IntVar(&l.pages, "pages", 0, "the number of pages of the site, to check each Crawl-delay")
	flags.BoolVar(&l.readings, "readings", false, "always show how crawlers read the file")
	flags.BoolVar(&l.json, "json", false, "the same as --format json")
	completeWords(cmd, "format", lint.Formats()...)
	completeWords(cmd, "fail-on", "error", "warning", "info", "never")
	return cmd
}

// linting is the command with its flags.
type linting struct {
	config               Config
	format, failOn, site string
	readings, json       bool
	pages                int
}

func (l *linting) run(cmd *cobra.Command, names []string) (int, error) {
	fails := map[string]policy.Severity{"error": policy.Error, "warning": policy.Warning, "info": policy.Info, "never": policy.Error + 1}
	least, ok := fails[l.failOn]
	if l.json && cmd.Flags().Changed("format") && l.format != "json" {
		return 0, errors.New("give either --json or --format")
	} else if l.json {
		l.format = "json"
	}
	switch {
	case !ok:
		return 0, fmt.Errorf("unknown severity %q; --fail-on takes error, warning, info or never", l.failOn)
	case !slices.Contains(lint.Formats(), l.format):
		return 0, fmt.Errorf("unknown format %q; --format takes %s", l.format, strings.Join(lint.Formats(), ", "))
	case l.readings && l.format != "text":
		return 0, errors.New("--readings is for the format text; json always has them")
	case l.site != "" && request.HostOf(l.site) == "":
		return 0, fmt.Errorf("%q is not a site; write it as https://example.com", l.site)
	case l.pages < 0:
		return 0, fmt.Errorf("--pages %d is not a number of pages", l.pages)
	case len(names) == 0:
		names = []string{"robots.txt"}
	}
	var reports []*lint.Report
	var errs []error
	code := ExitOK
	for _, name := range names {
		in, err := l.config.readInput(cmd.Context(), cmd.InOrStdin(), name)
		if err == nil && in.missing {
			err = fmt.Errorf("%s: the server answers %d, so there is no robots.txt and everything is allowed; check the address", in.name, in.status)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		site := in.site
		if site == "" {
			site = l.site
		}
		report := lint.Check(in.name, in.body, lint.Options{Site: site, Pages: l.pages})
		if worst, found := report.Worst(); found && worst >= least {
			code = ExitFindings
		}
		reports = append(reports, report)
	}
	out := screenOf(cmd.OutOrStdout())
	if l.format != "text" {
		out = text.NewScreen(cmd.OutOrStdout(), 0, false)
	}
	errs = append(errs, l.print(out, reports), out.Flush())
	return code, errors.Join(errs...)
}

func (l *linting) print(w io.Writer, reports []*lint.Report) error {
	if l.readings {
		return lint.WriteReadings(w, reports)
	}
	return lint.Write(w, l.format, reports)
}
