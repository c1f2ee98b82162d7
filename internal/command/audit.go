package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/replay"
)

func auditCommand(config Config) *cobra.Command {
	a := auditRunner{config: config}
	cmd := &cobra.Command{
		Use: "audit [--robots <file|dir|url>] [--config <file>] [--site <host>] [--since <time>] [--until <time>] [--rate] [--paths] [--json] <log>...\n" +
			"  caddy robots-guard audit --xarf <dir> --reporter <name and address> ... <log>...\n" +
			"  caddy robots-guard audit --verify-report <report>",
		Short: "Shows from access logs what crawlers did and what enforce would have blocked",
		Long: `
Reads access logs and judges each request as the server would have judged it. The
report shows requests and violations by crawler, class, rule and path, and when each
crawler last fetched the robots.txt.

A log is a file, also compressed by gzip or zstd, a pattern such as "access.log*", or -
for standard input. The formats are Common and Combined, also with the host at the
beginning of each line, and the JSON of Caddy, nginx and Traefik.

--robots is a file, a URL, or a directory with dated versions, such as
robots-2026-11-20T10:00:00Z.txt. Each request is then judged by the version of its
time. A directory may instead hold one directory for each host.

--config reads the settings of each robots_guard from a Caddyfile. Requests are then
judged by the settings and the robots.txt of their host.

--site limits the audit to requests for one host, and may be repeated. --since and
--until take a date, a time, or a duration before now such as 24h or 30d.

--rate compares the speed of crawlers with the Crawl-delay of the robots.txt and the
limits of --config. It also shows how many requests "rate enforce" would have answered
429. Give the logs in the order of time.

--paths shows how many requests of browsers would get a challenge: with a challenge on
every page, and with a challenge only on the pages that robots.txt disallows to crawlers
that no group names (robots_disallowed *).

--xarf writes reports of abuse (XARF v4) into a directory: one for each network and
crawler with requests that enforce would have blocked. --verify-report checks a report
of abuse against the robots.txt that is attached to the report.

Ctrl-C stops reading and prints the report so far.

Exit status: 1 for violations, response audit findings, or a wrong report of abuse.
`,
		Example: `
caddy robots-guard audit --robots robots.txt /var/log/caddy/access.log
caddy robots-guard audit --robots https://example.com/robots.txt --since 30d "/var/log/nginx/access.log*"
caddy robots-guard audit --robots robots.txt --rate --paths access.log
caddy robots-guard audit --robots robots.txt --xarf reports --reporter "Example Ltd <abuse@example.com>" access.log
caddy robots-guard audit --verify-report reports/0001-198.51.100.0_24-GPTBot.json
zcat logs/*.gz | caddy robots-guard audit --robots versions/ --json -
`,
		RunE: wrapRun(a.run),
	}
	flags := cmd.Flags()
	flags.StringVarP(&a.robots, "robots", "r", "", "the robots.txt: a file, a URL, or a directory with dated versions")
	flags.StringVarP(&a.configFile, "config", "c", "", "a configuration file with the settings")
	flags.StringVarP(&a.adapter, "adapter", "a", "", "the adapter of the configuration file")
	flags.StringArrayVar(&a.sites, "site", nil, "a host to audit")
	flags.StringVar(&a.since, "since", "", "audit only requests at or after this time")
	flags.StringVar(&a.until, "until", "", "audit only requests before this time")
	flags.BoolVar(&a.rate, "rate", false, "show how fast crawlers sent requests")
	flags.BoolVar(&a.paths, "paths", false, "show which requests a challenge on disallowed pages would affect")
	flags.StringVar(&a.xarf, "xarf", "", "a directory for reports of abuse")
	flags.StringVar(&a.reporter, "reporter", "", "the sender of the reports: a name with an email address")
	flags.StringVar(&a.verifyReportPath, "verify-report", "", "a report of abuse to check; no log is read")
	a.output.defineFlag(flags)
	cmd.MarkFlagsRequiredTogether("xarf", "reporter")
	for _, flag := range []string{"robots", "config", "site", "since", "until", "rate", "paths", "xarf", "json"} {
		cmd.MarkFlagsMutuallyExclusive("verify-report", flag)
	}
	return cmd
}

// auditRunner runs "caddy robots-guard audit". Its fields are the values of the flags.
type auditRunner struct {
	config              Config
	output              output
	robots              string
	configFile, adapter string
	sites               []string
	since, until        string
	rate, paths         bool
	judgeByHost         bool // judgeByHost is true if each host is judged by the settings of its site.

	xarf, reporter, verifyReportPath string
}

func (a *auditRunner) run(cmd *cobra.Command, logs []string) (findings bool, err error) {
	switch {
	case a.verifyReportPath != "" && len(logs) > 0:
		return false, errors.New("--verify-report reads no log; remove " + logs[0])
	case a.verifyReportPath != "":
		return a.verifyAbuseReport(cmd)
	case len(logs) == 0:
		return false, errors.New("no log given; see caddy robots-guard audit --help")
	}
	o, err := a.replayOptions(cmd, logs)
	if err != nil {
		return false, err
	}
	var reporter replay.Contact
	if a.xarf != "" {
		if reporter, err = replay.ParseContact(a.reporter); err != nil {
			return false, fmt.Errorf("--reporter: %w", err)
		}
	}
	notes, err := a.configureReplay(cmd.Context(), &o)
	if err != nil {
		return false, err
	}
	report, err := replayLogs(cmd, o)
	if report == nil {
		return false, err
	}
	if a.judgeByHost && err == nil && len(report.Hosts) == 0 {
		return false, errors.New("several sites use robots_guard, and the logs contain no hosts; choose one with --site")
	}
	report.Notes = append(report.Notes, notes...)
	if a.xarf != "" {
		written, failed := a.writeAbuseReports(report.Sources, reporter)
		if failed != nil {
			return false, failed
		}
		report.Notes = append(report.Notes, written...)
	}
	if err != nil && !a.output.json {
		err = errors.New("some logs were not read; see the reason at the end of the report")
	}
	findings = report.Disallowed > 0 || len(report.Findings) > 0
	return findings, errors.Join(err, a.output.print(cmd, report, report.WriteText))
}

// replayOptions returns the options for replaying the logs, from the flags. The options do not
// contain a robots.txt yet.
func (a *auditRunner) replayOptions(cmd *cobra.Command, logs []string) (replay.Options, error) {
	now := time.Now()
	o := replay.Options{
		Logs: logs, Stdin: cmd.InOrStdin(), Sites: a.sites, Now: now, Lines: new(atomic.Int64), Paths: a.paths, Sources: a.xarf != "",
	}
	if a.rate {
		enforced := rate.DefaultSettings
		enforced.Enforce = true
		o.Rate = &enforced
	}
	for _, bound := range []struct {
		flag, text string
		at         *time.Time
	}{{"since", a.since, &o.Since}, {"until", a.until, &o.Until}} {
		if bound.text == "" {
			continue
		}
		at, err := replay.ParseTime(bound.text, now)
		if err != nil {
			return o, fmt.Errorf("--%s: %w", bound.flag, err)
		}
		*bound.at = at
	}
	return o, nil
}

// replayLogs judges the requests in the logs until the logs end or the user presses Ctrl-C.
func replayLogs(cmd *cobra.Command, o replay.Options) (*replay.Report, error) {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // A second Ctrl-C ends the process.
	hide := showProgress(cmd.ErrOrStderr(), o.Lines)
	defer hide()
	return replay.Run(ctx, o)
}

// showProgress prints the number of lines read to w every 200 ms, if w is a terminal. hide ends
// this and clears the line.
func showProgress(w io.Writer, lines *atomic.Int64) (hide func()) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(200 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				fmt.Fprintf(w, "\r%d lines read\x1b[K", lines.Load())
			case <-done:
				fmt.Fprint(w, "\r\x1b[K")
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}
