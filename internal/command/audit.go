package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/replay"
	"github.com/robotsguard/caddy-robots-guard/internal/request"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/internal/xarf"
)

func auditCommand(config Config) *cobra.Command {
	a := audit{config: config}
	cmd := &cobra.Command{
		Use:   "audit [--robots <file|dir|url>] [--config <file>] [--site <host>] [--since <time>] [--until <time>] [--rate] [--paths] [--xarf <dir>] [--json|--csv|--html] <log>...",
		Short: "Tells from access logs what crawlers did and what enforce would have blocked",
		Long: `
Replays access logs: each request is judged by the robots.txt as the server
would have judged it. The report has the crawlers with their requests, those
outside of the robots.txt by crawler, class, rule and path, and when each crawler
has last read the robots.txt.

A log is a file, plain or compressed by gzip or zstd, a pattern such as
"access.log*", or - for standard input. Its format is recognised: Common and
Combined, also with the host in front; the JSON of Caddy, nginx and Traefik
(docs/audit.md shows how to set them). Another format is an error.

--robots is a file, a URL, or a directory with dated versions, named like
robots-2026-11-20T10:00:00Z.txt. With those a request is judged by the version of
its time, and is stale rather than outside if the crawler may still have followed
one that it had read within 24 hours. A directory may instead hold a directory for
each host, such as example.com/robots.txt: no host is then judged by another's file.
Without --robots it is read from --site.

With --config the settings of the robots_guard directive of the site are taken from
that file: exempt, only_log, wildcard, grace, merge_slashes, source, and the
crawlers of the global options. The report then tells what that handler would
have blocked in the mode enforce.

--rate tells how fast crawlers asked of whom the robots.txt asks for a Crawl-delay, or
the configuration by a limit, as the option rate of robots_guard counts: how many
requests were one too many, and how many rate enforce would have answered 429.
A log does not tell who is true, so all who claim a name are one crawler, as without
verify; give logs in the order of time.

--paths compares a challenge on every page with a challenge on the pages that
robots.txt disallows to crawlers that no group names (robots_disallowed *): how many
pages of people each meets, and how many requests for disallowed URLs.

--xarf writes reports of abuse in the format XARF v4 (connection/scraping) into a
directory: one for each network and crawler with requests that enforce would have
blocked, with the robots.txt in force and the first requests attached. The log has to
have full addresses. --reporter says who reports. A report names the client as it
names itself, and no operator. --verify-report replays such a report against the
robots.txt that is attached to it.

--site chooses the requests of one site, where the log says whose they are; it
may be repeated. --since and --until take a date, a time, or 24h or 30d for how
long ago.

Ctrl-C ends the reading and prints what there is so far.

Exit status: 0; 1 if --verify-report finds that a report is wrong; 2 if an argument
is wrong, or not all could be read.
`,
		Example: `
caddy robots-guard audit --robots robots.txt /var/log/caddy/access.log
caddy robots-guard audit --robots https://example.com/robots.txt --since 30d --html "/var/log/nginx/access.log*" >report.html
caddy robots-guard audit --robots robots.txt --config Caddyfile /var/log/caddy/access.log
caddy robots-guard audit --robots robots.txt --xarf reports --reporter "Example Ltd <abuse@example.com>" access.log
caddy robots-guard audit --verify-report reports/0001-198.51.100.0_24-GPTBot.json
caddy robots-guard audit --robots robots.txt --rate /var/log/caddy/access.log
zcat logs/*.gz | caddy robots-guard audit --robots versions/ --json -
`,
		RunE: runCommand(a.run),
	}
	flags := cmd.Flags()
	flags.StringVarP(&a.robots, "robots", "r", "", "the robots.txt: a file, a URL, or a directory with dated versions")
	flags.StringVarP(&a.file, "config", "c", "", "a configuration file to take the settings from")
	flags.StringVarP(&a.adapter, "adapter", "a", "", "the adapter of that file")
	a.logs.addFlags(cmd)
	flags.BoolVar(&a.rate, "rate", false, "also tell how fast crawlers asked, and what rate enforce would do")
	flags.BoolVar(&a.paths, "paths", false, "also tell what a challenge on disallowed pages would meet")
	flags.StringVar(&a.xarf, "xarf", "", "a directory for reports of abuse")
	flags.StringVar(&a.reporter, "reporter", "", "who reports abuse: a name with an email address")
	flags.StringVar(&a.verify, "verify-report", "", "a report of abuse to replay; no log is read")
	cmd.MarkFlagsRequiredTogether("xarf", "reporter")
	for _, flag := range []string{"robots", "config", "site", "since", "until", "rate", "paths", "xarf"} {
		cmd.MarkFlagsMutuallyExclusive("verify-report", flag)
	}
	flags.BoolVar(&a.json, "json", false, "print a JSON object")
	flags.BoolVar(&a.csv, "csv", false, "print a row for each crawler")
	flags.BoolVar(&a.html, "html", false, "print a page for a browser")
	return cmd
}

// audit is the command with its flags.
type audit struct {
	config          Config
	robots          string
	file, adapter   string
	logs            auditedLogs
	json, csv, html bool
	rate, paths     bool
	byHost          bool // each host is judged by the settings of its site

	xarf, reporter, verify string
}

func (a *audit) run(cmd *cobra.Command, logs []string) (int, error) {
	switch {
	case a.verify != "" && len(logs) > 0:
		return 0, errors.New("--verify-report reads no log; leave " + logs[0] + " out")
	case a.verify != "":
		return a.verifyReport(cmd)
	case len(logs) == 0:
		return 0, errors.New("no log given; see caddy robots-guard audit --help")
	case a.json && a.csv, a.json && a.html, a.csv && a.html:
		return 0, errors.New("give only one of --json, --csv and --html")
	}
	a.logs.names = logs
	o, err := a.logs.options(cmd)
	if err != nil {
		return 0, err
	}
	o.URLs, o.Sources = a.paths, a.xarf != ""
	var reporter xarf.Contact
	if a.xarf != "" {
		if reporter, err = xarf.ParseContact(a.reporter); err != nil {
			return 0, fmt.Errorf("--reporter: %w", err)
		}
	}
	if a.rate {
		enforced := rate.Default
		enforced.Enforce = true
		o.Rate = &enforced
	}
	notes, err := a.configure(cmd.Context(), &o)
	if err != nil {
		return 0, err
	}
	var report *replay.Report
	err = a.logs.replay(cmd, o, func(ctx context.Context, o replay.Options) (err error) {
		report, err = replay.Run(ctx, o)
		return err
	})
	if report == nil {
		return 0, err
	}
	if a.byHost && err == nil && len(report.Hosts) == 0 {
		return 0, errors.New("several sites use robots_guard, and the logs name no hosts; choose one with --site")
	}
	report.Notes = append(report.Notes, notes...)
	if a.xarf != "" {
		written, failed := a.writeReports(report.Sources, reporter)
		if failed != nil {
			return 0, failed
		}
		report.Notes = append(report.Notes, written...)
	}
	out := text.NewScreen(cmd.OutOrStdout(), 0, false)
	write := report.WriteTable
	if err != nil && !a.json && !a.csv && !a.html {
		err = errIncomplete
	}
	switch {
	case a.json:
		write = report.WriteJSON
	case a.csv:
		write = report.WriteCSV
	case a.html:
		write = report.WriteHTML
	default:
		out = screenOf(cmd.OutOrStdout())
	}
	if err := write(out); err != nil {
		return 0, err
	}
	return 0, errors.Join(out.Flush(), err)
}

// errIncomplete is the error where the report itself has said more.
var errIncomplete = errors.New("not all was read; the report ends with the reason")

// readRobots reads the robots.txt, or its versions.
func (a *audit) readRobots(ctx context.Context, o *replay.Options) error {
	name := a.robots
	switch {
	case name == "" && len(o.Sites) == 0:
		return errors.New("say by which robots.txt to judge with --robots, or whose with --site")
	case name == "":
		name = robotsOf(o.Sites[0])
	case name == "-":
		return errors.New("--robots cannot be standard input; name a file")
	}
	versions, site, err := a.config.readVersions(ctx, name)
	if err != nil {
		return err
	}
	if site != "" && len(o.Sites) == 0 {
		o.Sites = []string{siteOf(site)}
	}
	o.Versions = versions
	return nil
}

// robotsOf returns the URL of the robots.txt of a host, or of a URL's.
func robotsOf(site string) string {
	if !isURL(site) {
		site = "https://" + site
	}
	return strings.TrimSuffix(site, "/") + "/robots.txt"
}

// configure takes over the settings of the guard in the configuration file, if one is given,
// and reads the robots.txt. The notes are for the report.
func (a *audit) configure(ctx context.Context, o *replay.Options) (notes []string, err error) {
	if a.file == "" {
		return nil, a.readRobots(ctx, o)
	}
	sites, registry, err := a.config.sites(a.file, a.adapter)
	if err != nil {
		return nil, err
	}
	o.Registry = registry
	hosts, notes, err := a.auditedHosts(sites, o.Sites)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.file, err)
	}
	chosen := hosts[0].site
	for _, host := range hosts {
		if host.site.Err != nil {
			return nil, fmt.Errorf("%s: %w", a.file, host.site.Err)
		}
		if a.rate && !reflect.DeepEqual(host.site.Rate, chosen.Rate) {
			return nil, fmt.Errorf("%s: the sites have different rate; choose one with --site", a.file)
		}
	}
	if a.rate && chosen.Rate != nil {
		settings := *chosen.Rate
		settings.Enforce = true // which is what is asked about
		o.Rate = &settings
	}
	if slices.ContainsFunc(hosts, func(host auditedHost) bool { return host.site.Matched }) {
		notes = append(notes, "Matchers beside the host stand before robots_guard in "+a.file+"; all requests were judged as if those let them through.")
	}
	if slices.ContainsFunc(hosts, func(host auditedHost) bool { return host.site != chosen }) {
		a.byHost = true
		left, err := a.readRobotsOf(ctx, hosts, o)
		return append(notes, left...), err
	}
	o.Settings, o.Grace = chosen.Settings, chosen.Grace
	a.robots = cmp.Or(a.robots, chosen.Source)
	if len(o.Sites) == 0 && !slices.ContainsFunc(chosen.Hosts, isPattern) {
		o.Sites = slices.Clone(chosen.Hosts)
	}
	return notes, a.readRobots(ctx, o)
}

// isPattern reports whether a configured host stands for several.
func isPattern(host string) bool { return strings.ContainsAny(host, "*{") }

// auditedHost is a host and the site that it belongs to.
type auditedHost struct {
	name string // in lower case; "" or a pattern only if there is one site
	site *Site
}

// auditedHosts returns the hosts to audit with their sites: those that --site names, or all of
// the configuration. There is at least one.
func (a *audit) auditedHosts(sites []Site, named []string) (hosts []auditedHost, notes []string, err error) {
	if len(named) == 0 && len(sites) == 1 {
		return []auditedHost{{site: &sites[0]}}, nil, nil
	}
	for _, name := range named {
		if !isURL(name) {
			name = "any://" + name // at whichever port
		}
		site, several, err := a.config.siteFor(sites, name)
		if err != nil {
			return nil, nil, err
		}
		if several && len(notes) == 0 {
			notes = append(notes, "Several robots_guard in "+a.file+" are for this site; all requests were judged by the first.")
		}
		hosts = append(hosts, auditedHost{request.HostOf(name), site})
	}
	if len(named) > 0 {
		return hosts, notes, nil
	}
	known := make(map[string]*Site)
	var left []string
	for i := range sites {
		site := &sites[i]
		if len(site.Hosts) == 0 {
			left = append(left, "sites without a host")
		}
		for _, name := range site.Hosts {
			name = strings.ToLower(name)
			switch first := known[name]; {
			case isPattern(name):
				left = append(left, name)
			case first == nil:
				known[name] = site
				hosts = append(hosts, auditedHost{name, site})
			case !first.isLike(site):
				notes = append(notes, "Several robots_guard in "+a.file+" are for "+name+"; its requests were judged by the first.")
			}
		}
	}
	if len(left) > 0 {
		notes = append(notes, "Choose a host with --site to audit these: "+strings.Join(left, ", ")+".")
	}
	if len(hosts) == 0 {
		return nil, nil, errors.New("several sites use robots_guard; choose one with --site")
	}
	return hosts, notes, nil
}

// readRobotsOf reads the robots.txt of each host, to be judged by the settings of its site. The
// notes name the hosts whose robots.txt cannot be read.
func (a *audit) readRobotsOf(ctx context.Context, hosts []auditedHost, o *replay.Options) (notes []string, err error) {
	var given []replay.Version
	if a.robots != "" {
		if given, _, err = a.config.readVersions(ctx, a.robots); err != nil {
			return nil, err
		}
	}
	for _, host := range hosts {
		versions := given
		if a.robots == "" {
			if versions, _, err = a.config.readVersions(ctx, cmp.Or(host.site.Source, robotsOf(host.name))); err != nil {
				notes = append(notes, "No request of "+host.name+" was judged: "+err.Error()+".")
			}
		}
		for _, v := range versions {
			if v.Host == "" || v.Host == host.name {
				v.Host, v.Settings, v.Grace = host.name, &host.site.Settings, host.site.Grace
				o.Versions = append(o.Versions, v)
			}
		}
	}
	if len(o.Versions) == 0 {
		return nil, cmp.Or(err, errors.New("there is no robots.txt of the configured hosts in "+a.robots))
	}
	return notes, nil
}
