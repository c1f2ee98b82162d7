package command

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// showManagedHosts prints what a running server serves at each host with robots_txt, or the details
// of a single host.
func (m *managedRunner) showManagedHosts(cmd *cobra.Command, host string) error {
	var all report.ManagedRobots
	return m.requestAndPrint(cmd, http.MethodGet, addSiteParameter(admin.ManagedPath, host), nil, &all, func(w io.Writer) { printManagedHosts(w, &all) })
}

// printManagedHosts prints a summary of each host and, if the response has them, the details of one
// host.
func printManagedHosts(out io.Writer, all *report.ManagedRobots) {
	for i := range all.Managed {
		printManagedHost(out, &all.Managed[i])
	}
	switch {
	case all.Detail != nil:
		printHostDetails(out, all.Detail)
	case len(all.Managed) == 0:
		fmt.Fprintln(out, "no robots_txt is configured")
	case all.MoreHosts > 0:
		fmt.Fprintf(out, "%d more hosts are not shown; give a host to show its file\n", all.MoreHosts)
	}
}

// printManagedHost prints a summary of the served robots.txt of a host.
func printManagedHost(w io.Writer, s *report.ManagedSite) {
	state := "no version yet: robots.txt was not requested, or the site serves its own"
	switch {
	case s.Staging:
		state = "staging: disallows everything for all crawlers"
	case s.Version != "":
		state = fmt.Sprintf("version %s since %s, rules in force: %d", s.Version, formatTime(s.Since), s.RulesInForce)
	}
	fmt.Fprintf(w, "%s: %s\n", text.Printable(cmp.Or(s.Host, "any other host")), state)
	if !s.NextChange.IsZero() {
		fmt.Fprintf(w, "  next change: %s\n", formatTime(s.NextChange))
	}
	if t := s.Trial; t != nil {
		fmt.Fprintf(w, "  change %s is on trial at this host", text.Printable(t.Change))
		if !t.Until.IsZero() {
			fmt.Fprintf(w, ", until %s", formatTime(t.Until))
		}
		fmt.Fprintln(w)
	}
	if b := s.Base; b.Failure != "" {
		fmt.Fprintf(w, "  %s: the base robots.txt has been unreadable since %s: %s\n", text.Colorize(w, "warning"), formatTime(b.FailingSince), text.Printable(b.Failure))
	}
	for _, l := range s.Lists {
		fmt.Fprintf(w, "  list of rules %s, rules: %d\n", text.Printable(l.Name), l.Rules)
		if l.Failure != "" {
			fmt.Fprintf(w, "  %s: the current list cannot be used: %s\n", text.Colorize(w, "warning"), text.Printable(l.Failure))
		}
	}
	if s.Refused != nil {
		fmt.Fprintf(w, "  %s: a robots.txt has been refused since %s: %s\n", text.Colorize(w, "error"), formatTime(s.Refused.Since), text.Printable(s.Refused.Reason))
	}
}

// printHostDetails prints the rules, the scheduled changes and the robots.txt of a host.
func printHostDetails(w io.Writer, d *report.ManagedDetail) {
	for _, r := range d.Rules {
		fmt.Fprintf(w, "\n%s (%s)\n  %s\n", text.Printable(r.Name), strings.ReplaceAll(r.State, "_", " "), text.Printable(r.Effect))
		for _, note := range []struct{ what, says string }{
			{"for", strings.Join(r.For, ", ")}, {"from", formatTime(r.From)}, {"until", formatTime(r.Until)}, {"hosts", strings.Join(r.Hosts, ", ")},
			{"reason", r.Reason}, {"owner", r.Owner}, {"ticket", r.Ticket}, {"at", r.Position},
		} {
			if note.says != "" {
				fmt.Fprintf(w, "  %s: %s\n", note.what, text.Printable(note.says))
			}
		}
	}
	for _, t := range d.ScheduledChanges {
		var parts []string
		for _, rule := range t.Begins {
			parts = append(parts, rule+" begins")
		}
		for _, rule := range t.Ends {
			parts = append(parts, rule+" ends")
		}
		fmt.Fprintf(w, "\n%s: %s\n", formatTime(t.At), text.Printable(strings.Join(parts, ", ")))
		for _, line := range t.Removed {
			fmt.Fprintf(w, "  - %s\n", text.Printable(line))
		}
		for _, line := range t.Added {
			fmt.Fprintf(w, "  + %s\n", text.Printable(line))
		}
	}
	rulesByLine := make(map[int][]string, len(d.Lines))
	for _, line := range d.Lines {
		rulesByLine[line.Line] = line.Rules
	}
	if d.Text != "" {
		fmt.Fprintln(w, "\nrobots.txt:")
	}
	number := 0
	for line := range strings.Lines(d.Text) {
		number++
		line = text.Printable(strings.TrimRight(line, "\r\n"))
		if rules := rulesByLine[number]; rules != nil {
			line = fmt.Sprintf("%-40s  <- %s", line, text.Printable(strings.Join(rules, ", ")))
		}
		fmt.Fprintf(w, "%4d  %s\n", number, line)
	}
	for _, f := range d.Findings {
		fmt.Fprintf(w, "%s: %s [%s]\n", text.Colorize(w, f.Severity), text.Printable(f.Message), f.Code)
	}
}

// formatTime returns a time in UTC, to the minute. formatTime returns "" for the zero time.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
