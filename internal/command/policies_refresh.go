package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// refreshAt has a server read the robots.txt of an authority, or of all sites that
// its configuration names, and prints what came of it.
func (p *policies) refreshAt(api adminServer, out io.Writer, args []string) (code int, err error) {
	screen := screenOf(out)
	table := text.NewTable(screen, text.Column{Title: "AUTHORITY"}, text.Column{Title: "RESULT"}, text.Column{Title: "RULES"}, text.Column{Title: "FINDINGS"},
		text.Column{Title: "WHY", Kind: text.Prose})
	read := func(authority, server string) error {
		return api.ask(http.MethodPost, policyURI(authority, "/refresh", server), nil, func(body io.Reader) error {
			var answer admin.PolicyReport
			if err := json.NewDecoder(body).Decode(&answer); err != nil {
				return err
			}
			if answer.Refresh == nil {
				return errors.New("the server is of an earlier version, which does not tell what came of it; restart it")
			}
			if o := answer.Refresh.Outcome; o != admin.Changed && o != admin.Unchanged {
				code = ExitDisallowed
			}
			if p.json {
				return json.NewEncoder(out).Encode(answer)
			}
			printRefresh(table, answer)
			return nil
		})
	}
	known := true
	if len(args) > 0 {
		err = read(args[0], p.server)
	} else {
		known = false
		err = p.each(api, func(s admin.PolicySummary) error {
			if s.Segment != policy.Named.String() {
				return nil
			}
			known = true
			return read(s.Authority, s.Server)
		})
	}
	switch {
	case p.json || err != nil:
		return code, err
	case !known:
		_, err = fmt.Fprintln(out, nothingToRefresh)
		return code, err
	}
	return code, errors.Join(err, table.Flush(), screen.Flush())
}

// nothingToRefresh stands in place of an empty table.
const nothingToRefresh = `No site that the configuration names has a known robots.txt yet, so none was read.
This reads one now: caddy robots-guard policies --refresh example.com`

// printRefresh prints a row of the table.
func printRefresh(table *text.Table, a admin.PolicyReport) {
	result, rules, why := string(a.Refresh.Outcome), fmt.Sprint(a.Rules), a.Refresh.Why
	switch {
	case a.Refresh.Outcome == admin.Changed && a.Refresh.Before == "":
		result = "first version"
	case a.Refresh.Outcome == admin.Changed:
		result, rules = "new version", fmt.Sprintf("%d, were %d", a.Rules, a.Refresh.RulesBefore)
	case a.Refresh.Outcome == admin.Failed && a.LastRead != nil:
		why += "; the last good copy holds"
	}
	if n := a.NotProtecting; n != nil && why == "" {
		why = "not protecting: " + n.Detail + "; " + n.Cure
	}
	table.Row(text.Printable(a.Authority), result, rules, fmt.Sprint(a.Findings), text.Printable(why))
}
