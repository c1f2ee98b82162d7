package command

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// policyURI returns the URI of the robots.txt of a site on the admin API, followed by a verb such
// as "/refresh". The listener is the address of the server with the site; "" selects the first such
// server.
func policyURI(site, verb, listener string) string {
	uri := url.URL{Path: admin.PoliciesPath + "/" + admin.PathEscapeName(site) + verb}
	if listener != "" {
		uri.RawQuery = url.Values{"server": {listener}}.Encode()
	}
	return uri.String()
}

// refreshRobots makes the server fetch the robots.txt of a site, or of all sites for "", and prints
// the results. findings is true if a fetch did not succeed or a robots.txt protects nothing.
func (s *statusRunner) refreshRobots(cmd *cobra.Command, site string) (findings bool, err error) {
	api, err := s.serverAddress()
	if err != nil {
		return false, err
	}
	uris := []string{policyURI(site, "/refresh", "")}
	if site == "" {
		if uris, err = listRefreshURIs(api); err != nil {
			return false, err
		}
	}
	answers := make([]admin.PolicyReport, len(uris))
	for i, uri := range uris {
		answer := &answers[i]
		if _, err := api.sendAndDecode(http.MethodPost, uri, nil, answer); err != nil {
			return false, err
		}
		if answer.Refresh == nil {
			answer.Refresh = new(admin.PolicyRefresh)
		}
		if o := answer.Refresh.Outcome; o != admin.Changed && o != admin.Unchanged || answer.NotProtecting != nil {
			findings = true
		}
	}
	return findings, s.print(cmd, answers, func(w io.Writer) {
		if len(answers) == 0 {
			fmt.Fprintln(w, nothingToRefresh)
			return
		}
		table := text.NewTable(w, text.Column{Title: "ROBOTS.TXT OF"}, text.Column{Title: "RESULT"}, text.Column{Title: "STATUS"}, text.Column{Title: "RULES"},
			text.Column{Title: "NOTE", Kind: text.ProseColumn})
		for i := range answers {
			addRefreshRow(table, &answers[i])
		}
		table.Flush()
	})
}

const nothingToRefresh = `No robots.txt was fetched yet. To fetch one now: caddy robots-guard status --refresh example.com`

// listRefreshURIs returns the admin API's URIs that refetch the robots.txt files of configured
// sites. It leaves out sites without an earlier fetch.
func listRefreshURIs(api adminAddress) (uris []string, err error) {
	for after := ""; ; {
		var list admin.PolicyList
		if _, err := api.sendAndDecode(http.MethodGet, admin.PoliciesPath+"?after="+url.QueryEscape(after), nil, &list); err != nil {
			return nil, err
		}
		for _, s := range list.Policies {
			if s.Segment == policy.ConfiguredHosts.String() {
				uris = append(uris, policyURI(s.Authority, "/refresh", s.Server))
			}
		}
		if after = list.Next; after == "" {
			return uris, nil
		}
	}
}

// addRefreshRow adds a row with the result of a fetch to the table.
func addRefreshRow(table *text.Table, a *admin.PolicyReport) {
	result, rules, note := string(a.Refresh.Outcome), fmt.Sprint(a.RuleCount), a.Refresh.Reason
	switch {
	case a.Refresh.Outcome == admin.Changed && a.Refresh.VersionBefore == "":
		result = "first version"
	case a.Refresh.Outcome == admin.Changed:
		result, rules = "new version", fmt.Sprintf("%d, were %d", a.RuleCount, a.Refresh.RuleCountBefore)
	case a.Refresh.Outcome == admin.Failed && a.LastFetched != nil:
		note += "; the last good copy is in use"
	}
	if n := a.NotProtecting; n != nil && note == "" {
		note = "nothing is protected: " + n.Detail + "; " + n.Remedy
	}
	table.AddRow(text.Printable(a.Authority), result, fmt.Sprint(a.Status), rules, cmp.Or(text.Printable(note), "-"))
}
