package command

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

func lintCommand(config Config) *cobra.Command {
	l := lintRunner{config: config}
	cmd := &cobra.Command{
		Use:   "lint [--json | --github] [--fail-on error|warning|info|never] [--pages <n>] [<file|url|->...]",
		Short: "Finds mistakes in a robots.txt",
		Long: `
Shows what crawlers make of a robots.txt: lines that they ignore or read in an
unexpected way, and names, rules and records without effect. docs/findings.md explains
each finding by its code.

Without an argument, lint reads the file robots.txt in the current directory; - is
standard input. For a URL without a path, lint fetches /robots.txt.

If Googlebot, Bingbot, YandexBot, GPTBot and a crawler that follows RFC 9309 read the
file differently, lint shows the differences. With --readings, lint always shows how
each reads the file.

--site is the address of the site, to check sitemaps. --pages is the number of its pages,
to check each Crawl-delay. --github annotates a pull request on GitHub.

Exit status: 1 if there are findings of the severity of --fail-on or above.
`,
		Example: `
caddy robots-guard lint robots.txt
caddy robots-guard lint --fail-on warning --json robots.txt
caddy robots-guard lint --readings --site https://example.com - < robots.txt
`,
		RunE: wrapRun(l.run),
	}
	flags := cmd.Flags()
	flags.StringVar(&l.failOn, "fail-on", "error", "the lowest severity with exit status 1: error, warning, info, or never")
	flags.StringVar(&l.site, "site", "", "the site that a file is for, such as https://example.com")
	flags.IntVar(&l.pageCount, "pages", 0, "the number of pages of the site, to check each Crawl-delay")
	flags.BoolVar(&l.showInterpretations, "readings", false, "always show how crawlers read the file")
	flags.BoolVar(&l.githubFormat, "github", false, "print annotations for GitHub Actions")
	l.output.defineFlag(flags)
	completeValues(cmd, "fail-on", "error", "warning", "info", "never")
	cmd.MarkFlagsMutuallyExclusive("json", "github", "readings")
	return cmd
}

// lintRunner runs "caddy robots-guard lint". Its fields are the values of the flags.
type lintRunner struct {
	config                            Config
	output                            output
	failOn, site                      string
	showInterpretations, githubFormat bool
	pageCount                         int
}

func (l *lintRunner) run(cmd *cobra.Command, names []string) (findings bool, err error) {
	fails := map[string]policy.Severity{"error": policy.Error, "warning": policy.Warning, "info": policy.Info, "never": policy.Error + 1}
	least, ok := fails[l.failOn]
	switch {
	case !ok:
		return false, fmt.Errorf("unknown severity %q; --fail-on takes error, warning, info or never", l.failOn)
	case l.site != "" && site.HostOfURL(l.site) == "":
		return false, fmt.Errorf("%q is not a site; write https://example.com", l.site)
	case l.pageCount < 0:
		return false, fmt.Errorf("--pages %d is negative; give the number of pages of the site", l.pageCount)
	case len(names) == 0:
		names = []string{"robots.txt"}
	}
	files := lint.FileReports{Files: []*lint.Report{}, ShowComparison: l.showInterpretations}
	var errs []error
	for _, name := range names {
		in, err := l.config.readInput(cmd.Context(), cmd.InOrStdin(), name)
		if err == nil && in.isMissing {
			err = fmt.Errorf("%s: the server answers %d, so there is no robots.txt and everything is allowed; check the address", in.name, in.status)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		report := lint.Check(in.name, in.body, lint.Options{Site: cmp.Or(in.site, l.site), Pages: l.pageCount})
		if worst, found := report.HighestSeverity(); found && worst >= least {
			findings = true
		}
		files.Add(report)
	}
	writeText := files.WriteText
	if l.githubFormat {
		writeText = files.WriteGitHub
	}
	errs = append(errs, l.output.print(cmd, files, writeText))
	return findings, errors.Join(errs...)
}
