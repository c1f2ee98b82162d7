package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

func policiesCommand() *cobra.Command {
	var p policies
	cmd := &cobra.Command{
		Use:   "policies [--address <host:port>] [--json] [--refresh | --end-grace] [--server <address>] [<authority>]",
		Short: "Shows what a running server knows of the robots.txt of its sites",
		Long: `
Asks the admin API of a running server. Without an authority it prints a line
for each site: the status of the last good answer, its age, when the file will be
read again, the number of rules and findings, and the last error. With one it
prints all that is known, as JSON.

Where two servers have the same host, --server tells which is meant by where it
listens, which --json lists as "server".

--refresh reads the robots.txt of the authority at once, or without one those of
all sites that the configuration names and that are known, and prints for each
what came of it: a new version, unchanged, failed and why, or waiting where that
takes a request of a crawler, as behind a proxy that has sent none yet. With --json
it prints an object a line. A site is known once a crawler has asked for it, or
once its robots.txt was read by its authority here.

--end-grace blocks what only the current robots.txt of the authority forbids at once,
and not 24 hours after the change. A crawler that obeys the file before, as RFC 9309
lets it, is blocked by that.

Exit status: 0, 1 if some robots.txt was not read with --refresh, or 2 if an
argument is wrong or no server answers.
`,
		Example: `
caddy robots-guard policies
caddy robots-guard policies example.com
caddy robots-guard policies --refresh
caddy robots-guard policies --refresh example.com
caddy robots-guard policies --end-grace example.com
caddy robots-guard policies --server :8443 example.com
`,
		RunE: runCommand(p.run),
	}
	flags := cmd.Flags()
	p.api.define(flags)
	flags.StringVar(&p.server, "server", "", "where the server of the authority listens, if several have its host")
	flags.BoolVar(&p.json, "json", false, "print JSON")
	flags.BoolVar(&p.endGrace, "end-grace", false, "let no earlier robots.txt of the authority count any more")
	flags.BoolVar(&p.refresh, "refresh", false, "read the robots.txt of the authority, or all, at once")
	cmd.MarkFlagsMutuallyExclusive("refresh", "end-grace")
	return cmd
}

// policies is the command with its flags.
type policies struct {
	api           adminAPI
	server        string
	json, refresh bool
	endGrace      bool
}

func (p *policies) run(cmd *cobra.Command, args []string) (int, error) {
	switch {
	case len(args) > 1:
		return 0, fmt.Errorf("give one authority, not %d; without any all are listed", len(args))
	case p.server != "" && len(args) == 0:
		return 0, errors.New("--server needs an authority such as example.com")
	case p.endGrace && len(args) == 0:
		return 0, errors.New("--end-grace needs an authority such as example.com")
	}
	api, err := p.api.find()
	if err != nil {
		return 0, err
	}
	out := cmd.OutOrStdout()
	switch {
	case p.refresh:
		return p.refreshAt(api, out, args)
	case p.endGrace:
		return 0, api.ask(http.MethodPost, policyURI(args[0], "/end-grace", p.server), nil, func(io.Reader) error {
			_, err := fmt.Fprintf(out, "%s: what the current robots.txt forbids is blocked from now on\n", text.Printable(args[0]))
			return err
		})
	case p.json || len(args) > 0:
		uri := admin.PoliciesPath
		if len(args) > 0 {
			uri = policyURI(args[0], "", p.server)
		}
		return 0, api.ask(http.MethodGet, uri, nil, func(body io.Reader) error {
			_, err := io.Copy(out, body)
			return err
		})
	}
	return 0, p.list(api, out)
}

// policyURI returns where what is known of an authority at a server stands on the
// admin API, with what follows that, such as "/refresh".
func policyURI(authority, then, server string) string {
	uri := url.URL{Path: admin.PoliciesPath + "/" + admin.PathName(authority) + then}
	if server != "" {
		uri.RawQuery = url.Values{"server": {server}}.Encode()
	}
	return uri.String()
}

// list prints what is known of all sites.
func (p *policies) list(api adminServer, out io.Writer) error {
	screen := screenOf(out)
	table := text.NewTable(screen, text.Column{Title: "AUTHORITY"}, text.Column{Title: "STATUS"}, text.Column{Title: "AGE"}, text.Column{Title: "NEXT"},
		text.Column{Title: "RULES"}, text.Column{Title: "FINDINGS"}, text.Column{Title: "VERSIONS"}, text.Column{Title: "ERROR", Kind: text.Prose})
	known := false
	err := p.each(api, func(s admin.PolicySummary) error {
		known = true
		printPolicy(table, s, time.Now())
		return nil
	})
	if err != nil {
		return err // a table without its rows says nothing
	}
	if !known {
		_, err := fmt.Fprintln(out, nothingRead)
		return err
	}
	return errors.Join(table.Flush(), screen.Flush())
}

// nothingRead stands in place of an empty table.
const nothingRead = `No robots.txt has been read yet: that of a site is read when its first crawler comes.
This reads one now: caddy robots-guard policies --refresh example.com`

// each calls do with what is known of each site.
func (p *policies) each(api adminServer, do func(admin.PolicySummary) error) error {
	for after := ""; ; {
		var list admin.PolicyList
		uri := admin.PoliciesPath + "?after=" + url.QueryEscape(after)
		if err := api.ask(http.MethodGet, uri, nil, func(body io.Reader) error { return json.NewDecoder(body).Decode(&list) }); err != nil {
			return err
		}
		for _, s := range list.Policies {
			if err := do(s); err != nil {
				return err
			}
		}
		if after = list.Next; after == "" {
			return nil
		}
	}
}

// printPolicy prints a row of the table.
func printPolicy(table *text.Table, s admin.PolicySummary, now time.Time) {
	status, age, next, lastError := "-", "-", "-", "-"
	if s.LastRead != nil {
		status, age = fmt.Sprint(s.Status), now.Sub(*s.LastRead).Round(time.Second).String()
	}
	if s.NextRefresh != nil {
		next = max(0, s.NextRefresh.Sub(now)).Round(time.Second).String()
	}
	if n := s.NotProtecting; n != nil {
		lastError = "not protecting: " + n.Detail + "; " + n.Cure
	}
	if s.TakesEffect != nil {
		lastError = "the new rules take effect in " + max(0, s.TakesEffect.Sub(now)).Round(time.Second).String()
	}
	if s.LastError != "" {
		lastError = text.Printable(s.LastError)
	}
	if len(s.Withheld) > 0 {
		lastError = strings.TrimPrefix(lastError+"; ", "-; ") + text.Printable(strings.Join(s.Withheld, "; "))
	}
	table.Row(text.Printable(s.Authority), status, age, next, fmt.Sprint(s.Rules), fmt.Sprint(s.Findings), fmt.Sprint(s.Versions), lastError)
}
