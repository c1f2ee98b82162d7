package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/notify"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

func statusCommand() *cobra.Command {
	var s statusRunner
	cmd := &cobra.Command{
		Use: `status [<site>] [--top] [--address <host:port>] [--json]
  caddy robots-guard status [<site>] --refresh
  caddy robots-guard status <site> --end-grace
  caddy robots-guard status --acknowledge <id> [--note <text>] | --undo <id> | --test-notify`,
		Short: "Shows the sites of a running server, its alerts, and what to do",
		Long: `
Prints the state of a running server, from its admin API: each site with its mode,
robots.txt and problems, the open alerts with their remedies, and the results of
files on trial. A site is a host as configured, or an address such as
https://example.com:8443.

--top prints the crawlers with the most violations in the last 24 hours. For each
crawler it prints the most requested disallowed page, and the time of the first
violation.

--refresh fetches the robots.txt of the site, or of all sites, and prints the
result: a new version, unchanged, failed, or waiting for a request that comes
through a proxy.

--end-grace applies the current robots.txt of the site at once, and not 24 hours
after the change. This blocks crawlers that still obey the old file, as RFC 9309
allows.

--acknowledge silences the alert with this id until it changes, and --undo reverts
this. The id is printed with each alert. --test-notify sends a test message to each
receiver of the option notify.

Exit status: 1 if a critical alert is open, a file on trial would shut out a search
engine, a fetched robots.txt protects nothing or cannot be fetched, or a receiver did
not get the test message.
`,
		Example: `
caddy robots-guard status
caddy robots-guard status --top
caddy robots-guard status --refresh example.com
caddy robots-guard status --end-grace example.com
caddy robots-guard status --acknowledge robots_gone-951623a26f8b --note "moved to the shop"
caddy robots-guard status --test-notify
`,
		Args: maxArgs(1),
		RunE: wrapRun(s.run),
	}
	flags := cmd.Flags()
	s.adminAPI.defineFlags(flags)
	flags.BoolVar(&s.showTopCrawlers, "top", false, "print the crawlers with the most violations")
	flags.BoolVar(&s.refresh, "refresh", false, "fetch the robots.txt of the site, or of all sites, now")
	flags.BoolVar(&s.endGrace, "end-grace", false, "block at once what only the current robots.txt disallows")
	flags.StringVar(&s.acknowledgeID, "acknowledge", "", "acknowledge the alert with this id")
	flags.StringVar(&s.undoID, "undo", "", "undo the acknowledgement of the alert with this id")
	flags.StringVar(&s.note, "note", "", "with --acknowledge, the reason")
	flags.BoolVar(&s.testNotify, "test-notify", false, "send each receiver of alerts a test message")
	cmd.MarkFlagsMutuallyExclusive("top", "refresh", "end-grace", "acknowledge", "undo", "test-notify")
	return cmd
}

// statusRunner runs "caddy robots-guard status". Its fields are the values of the flags.
type statusRunner struct {
	adminAPI
	acknowledgeID, undoID, note                    string
	showTopCrawlers, refresh, endGrace, testNotify bool
}

func (s *statusRunner) run(cmd *cobra.Command, args []string) (findings bool, err error) {
	site := ""
	if len(args) > 0 {
		site = strings.TrimSuffix(args[0], "/")
	}
	isAlertAction := s.acknowledgeID != "" || s.undoID != "" || s.testNotify
	switch {
	case site != "" && isAlertAction:
		return false, fmt.Errorf("--acknowledge, --undo and --test-notify take no site; remove %q", site)
	case site == "" && s.endGrace:
		return false, errors.New("--end-grace needs a site, for example example.com")
	case s.note != "" && s.acknowledgeID == "":
		return false, errors.New("--note needs --acknowledge with the id of an alert")
	}
	switch {
	case s.showTopCrawlers:
		if err := s.showTopViolators(cmd, site); err != nil {
			return false, err
		}
		return s.hasCriticalAlert(site)
	case s.refresh:
		if findings, err := s.refreshRobots(cmd, site); findings || err != nil {
			return findings, err
		}
		return s.hasCriticalAlert(site)
	case s.endGrace:
		var report admin.PolicyReport
		return false, s.requestAndPrint(cmd, http.MethodPost, policyURI(site, "/end-grace", ""), nil, &report, func(w io.Writer) {
			fmt.Fprintf(w, "%s: requests that the current robots.txt disallows are blocked from now on\n", text.Printable(site))
		})
	case s.testNotify:
		return s.sendTestMessage(cmd)
	case isAlertAction:
		return false, s.acknowledgeOrUndo(cmd)
	}
	return s.showAll(cmd, site)
}

// showAll prints the sites, the alerts, and the results of robots.txt files on trial. findings is
// true for an open critical alert, or if a file on trial disallows a search engine.
func (s *statusRunner) showAll(cmd *cobra.Command, site string) (findings bool, err error) {
	var found admin.Status
	err = s.requestAndPrint(cmd, http.MethodGet, addSiteParameter(admin.StatusPath, site), nil, &found, func(w io.Writer) {
		printSites(w, found.Sites, site != "", time.Now())
		printAlerts(w, &found.List)
		printTrials(w, &found)
	})
	shutsOut := func(t report.Trial) bool { return t.Search.NewlyForbidden > 0 }
	return containsOpenCritical(found.Alerts) || slices.ContainsFunc(found.Trials, shutsOut), err
}

// containsOpenCritical reports whether one of the alerts is open and critical.
func containsOpenCritical(alerts []alert.Alert) bool {
	return slices.ContainsFunc(alerts, func(a alert.Alert) bool { return a.State == alert.Open && a.Severity == alert.Critical })
}

// hasCriticalAlert requests the alerts of the server and reports whether a critical alert is open
// at a site (a host or a URL), or at any site for "". Alerts about the server count for each site.
func (s *statusRunner) hasCriticalAlert(name string) (bool, error) {
	server, err := s.serverAddress()
	if err != nil {
		return false, err
	}
	var found alert.List
	if _, err := server.sendAndDecode(http.MethodGet, admin.AlertsPath, nil, &found); err != nil {
		return false, err
	}
	if name != "" {
		host := site.HostOfURL("any://" + name[strings.LastIndexByte(name, '/')+1:])
		found.Alerts = slices.DeleteFunc(found.Alerts, func(a alert.Alert) bool {
			return a.Site != "" && site.HostMatchScore([]string{a.Site}, host) == 0
		})
	}
	return containsOpenCritical(found.Alerts), nil
}

// addSiteParameter adds the query parameter "site" to a URI of the admin API, unless site is "".
func addSiteParameter(uri, site string) string {
	if site == "" {
		return uri
	}
	return uri + "?" + url.Values{"site": {site}}.Encode()
}

// printSites prints a table of sites. details adds the version and the fetch times of each site's
// robots.txt.
func printSites(w io.Writer, sites []report.SiteStatus, details bool, now time.Time) {
	if len(sites) == 0 {
		fmt.Fprintln(w, "no site of this server has a robots_guard")
		return
	}
	table := text.NewTable(w, text.Column{Title: "SITE"}, text.Column{Title: "MODE"}, text.Column{Title: "ROBOTS.TXT OF"},
		text.Column{Title: "STATUS"}, text.Column{Title: "RULES"}, text.Column{Title: "NOTE", Kind: text.ProseColumn})
	for _, s := range sites {
		status, rules := "-", "-"
		if s.Robots.Status != 0 {
			status, rules = fmt.Sprint(s.Robots.Status), fmt.Sprint(s.Robots.RuleCount)
		}
		table.AddRow(text.Printable(s.Site), cmp.Or(s.Mode, "-"), cmp.Or(text.Printable(s.Robots.Authority), "-"), status, rules, cmp.Or(text.Printable(strings.Join(siteNotes(&s.Robots, now), "; ")), "-"))
	}
	table.Flush()
	if !details {
		return
	}
	for _, s := range sites {
		for _, line := range []struct{ name, value string }{
			{"version", s.Robots.Version}, {"in use since", formatTime(s.Robots.FirstFetched)}, {"last fetch", formatTime(s.Robots.LastFetched)}, {"next fetch", formatTime(s.Robots.NextFetch)},
		} {
			if line.value != "" {
				fmt.Fprintf(w, "%s: %s\n", line.name, line.value)
			}
		}
	}
}

// siteNotes returns the problems of a site's robots.txt, and then other remarks for its owner.
func siteNotes(h *report.RobotsHealth, now time.Time) (notes []string) {
	if h.State == report.Unread {
		notes = append(notes, "not fetched yet; the first request of a crawler starts a fetch, or use status --refresh")
	}
	if n := h.ProtectionProblem; n != nil {
		notes = append(notes, "nothing is protected: "+n.Detail+"; "+n.Remedy)
	}
	switch {
	case h.Error != "" && h.State == report.LastGood:
		notes = append(notes, h.Error+"; the copy from "+formatTime(h.LastFetched)+" is in use")
	case h.Error != "":
		notes = append(notes, h.Error)
	}
	if !h.HeldUntil.IsZero() {
		notes = append(notes, "the change guard keeps the previous version until "+formatTime(h.HeldUntil))
	}
	if !h.TakesEffect.IsZero() {
		notes = append(notes, fmt.Sprintf("new rules take effect in %s (%s)", text.Duration(max(0, h.TakesEffect.Sub(now)).Round(time.Minute)), formatTime(h.TakesEffect)))
	}
	if n := h.Findings.Errors + h.Findings.Warnings; n > 0 {
		notes = append(notes, fmt.Sprintf("findings of lint: %d", n))
	}
	return notes
}

// printAlerts prints the open alerts, and a line for each acknowledged alert.
func printAlerts(w io.Writer, list *alert.List) {
	open := 0
	for _, a := range list.Alerts {
		if a.State == alert.Open {
			fmt.Fprintln(w)
			printAlert(w, a)
			open++
		}
	}
	if open == 0 {
		fmt.Fprintln(w, "\nno alert is open")
	}
	for _, a := range list.Alerts {
		if a.State == alert.Acknowledged {
			fmt.Fprintln(w, acknowledgementText(&a))
		}
	}
	if list.MoreCount > 0 {
		fmt.Fprintf(w, "%d more alerts are left out\n", list.MoreCount)
	}
}

// printAlert prints an alert with its remedy.
func printAlert(w io.Writer, a alert.Alert) {
	fmt.Fprintf(w, "%s: %s (%s)\n  since %s\n", text.Colorize(w, string(a.Severity)), text.Printable(a.Title), a.ID, formatTime(a.Since))
	fmt.Fprintf(w, "  %s\n  %s\n", text.Printable(a.Detail), text.Printable(a.Remedy))
	for line := range strings.Lines(a.RemedySnippet) {
		fmt.Fprintf(w, "    %s\n", text.Printable(strings.TrimSuffix(line, "\n")))
	}
}

// acknowledgementText returns a line about an acknowledged alert, with the user and the note of the
// acknowledgement.
func acknowledgementText(a *alert.Alert) string {
	line := fmt.Sprintf("acknowledged: %s (%s)", text.Printable(a.Title), a.ID)
	if a.Acknowledged == nil {
		return line
	}
	if a.Acknowledged.User != "" {
		line += ", by " + text.Printable(a.Acknowledged.User)
	}
	if a.Acknowledged.Note != "" {
		line += ": " + text.Printable(a.Acknowledged.Note)
	}
	return line
}

// acknowledgeOrUndo acknowledges the alert of --acknowledge, or withdraws the acknowledgement of
// the alert of --undo.
func (s *statusRunner) acknowledgeOrUndo(cmd *cobra.Command) error {
	id, method, request := s.undoID, http.MethodDelete, any(nil)
	if s.acknowledgeID != "" {
		id, method, request = s.acknowledgeID, http.MethodPost, admin.AlertNote{Note: s.note, User: userName()}
	}
	var a alert.Alert
	return s.requestAndPrint(cmd, method, admin.AlertsPath+"/"+url.PathEscape(id)+"/acknowledge", request, &a, func(w io.Writer) {
		if a.State == alert.Acknowledged {
			fmt.Fprintln(w, acknowledgementText(&a))
		} else {
			printAlert(w, a)
		}
	})
}

// sendTestMessage makes the server send a test message to each receiver of alerts. findings is true
// if a receiver did not get the message.
func (s *statusRunner) sendTestMessage(cmd *cobra.Command) (findings bool, err error) {
	var result admin.NotifyTest
	err = s.requestAndPrint(cmd, http.MethodPost, admin.TestNotifyPath, nil, &result, func(w io.Writer) {
		for _, r := range result.Receivers {
			if r.Sent {
				fmt.Fprintf(w, "%s: the test message was sent\n", text.Printable(r.Receiver))
			} else {
				fmt.Fprintf(w, "%s: %s: %s\n", text.Printable(r.Receiver), text.Colorize(w, "error"), text.Printable(r.Error))
			}
		}
	})
	if err == nil && len(result.Receivers) == 0 {
		err = errors.New("the configuration has no receiver of alerts; add notify <url> to the global option robots_guard")
	}
	return slices.ContainsFunc(result.Receivers, func(r notify.TestResult) bool { return !r.Sent }), err
}

// showTopViolators prints the 20 crawlers with the most violations of the last 24 hours.
func (s *statusRunner) showTopViolators(cmd *cobra.Command, site string) error {
	var found report.Crawlers
	return s.requestAndPrint(cmd, http.MethodGet, addSiteParameter("/robots_guard/crawlers", site), nil, &found, func(w io.Writer) {
		const most = 20
		table := text.NewTable(w, text.Column{Title: "CRAWLER"}, text.Column{Title: "CLASS"}, text.Column{Title: "VIOLATIONS"}, text.Column{Title: "BLOCKED"},
			text.Column{Title: "SINCE"}, text.Column{Title: "MOST REQUESTED PAGE", Kind: text.LongColumn}, text.Column{Title: "RULE", Kind: text.LongColumn})
		shown := 0
		for _, c := range found.Crawlers {
			if c.Disallowed == 0 || shown == most {
				continue
			}
			shown++
			page, rule := "-", "-"
			if top := c.TopPath; top != nil {
				page = top.Path
				if host := top.Host; host != "" {
					page = host + page
				} else if site == "" {
					page = top.Site + page
				}
				rule = fmt.Sprintf("%s (line %d)", top.Rule, top.Line)
			}
			table.AddRow(text.Printable(c.Token), c.Class, fmt.Sprint(c.Disallowed), fmt.Sprint(c.ViolationsBlocked), cmp.Or(formatTime(c.ViolatingSince), "-"), text.Printable(page), text.Printable(rule))
		}
		if shown == 0 {
			fmt.Fprintln(w, "no crawler broke a rule in the last 24 hours")
			return
		}
		table.Flush()
	})
}
