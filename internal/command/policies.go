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

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

func policiesCommand() *cobra.Command {
	var p policies
	cmd := &cobra.Command{
		Use:   "policies [--address <host:port>] [--json] [--refresh] [--server <address>] [<authority>]",
		Short: "Shows what a running server knows of the robots.txt of its sites",
		Long: `
Asks the admin API of a running server. Without an authority it prints a line
for each site: the status of the last good answer, its age, when the file will be
read again, the number of rules and findings, and the last error. With one it
prints all that is known, as JSON.

Where two servers have the same host, --server tells which is meant by where it
listens, which --json lists as "server".

--refresh makes the robots.txt of the authority due: a file or a URL is read at
once, a site's own file at the next request of a crawler.
`,
		Example: `
caddy robots-guard policies
caddy robots-guard policies example.com
caddy robots-guard policies --refresh example.com
caddy robots-guard policies --server :8443 example.com
`,
		RunE: runCommand(p.run),
	}
	flags := cmd.Flags()
	flags.StringVar(&p.address, "address", "", "the address of the admin API, if it is not the default")
	flags.StringVarP(&p.config, "config", "c", "", "a configuration file to take the address from")
	flags.StringVarP(&p.adapter, "adapter", "a", "", "the adapter of that file")
	flags.StringVar(&p.server, "server", "", "where the server of the authority listens, if several have its host")
	flags.BoolVar(&p.json, "json", false, "print JSON")
	flags.BoolVar(&p.refresh, "refresh", false, "make the robots.txt of the authority due")
	return cmd
}

// policies is the command with its flags.
type policies struct {
	address, config, adapter, server string
	json, refresh                    bool
}

func (p *policies) run(cmd *cobra.Command, args []string) (int, error) {
	switch {
	case len(args) > 1:
		return 0, fmt.Errorf("give one authority, not %d; without any all are listed", len(args))
	case p.refresh && len(args) == 0:
		return 0, errors.New("--refresh needs an authority such as example.com")
	case p.server != "" && len(args) == 0:
		return 0, errors.New("--server needs an authority such as example.com")
	}
	if err := checkConfig(p.config); err != nil {
		return 0, err
	}
	address, err := caddycmd.DetermineAdminAPIAddress(p.address, nil, p.config, p.adapter)
	if err != nil {
		return 0, err
	}
	method, path := http.MethodGet, admin.PoliciesPath
	if len(args) > 0 {
		path += "/" + admin.PathName(args[0])
	}
	if p.refresh {
		method, path = http.MethodPost, path+"/refresh"
	}
	out := cmd.OutOrStdout()
	if p.json || len(args) > 0 {
		uri := url.URL{Path: path}
		if p.server != "" {
			uri.RawQuery = url.Values{"server": {p.server}}.Encode()
		}
		return 0, p.ask(address, method, uri.String(), func(body io.Reader) error {
			_, err := io.Copy(out, body)
			return err
		})
	}
	screen := screenOf(out)
	table := text.NewTable(screen, text.Column{Title: "AUTHORITY"}, text.Column{Title: "STATUS"}, text.Column{Title: "AGE"}, text.Column{Title: "NEXT"},
		text.Column{Title: "RULES"}, text.Column{Title: "FINDINGS"}, text.Column{Title: "VERSIONS"}, text.Column{Title: "ERROR", Kind: text.Prose})
	for after := ""; ; {
		var list admin.PolicyList
		uri := path + "?after=" + url.QueryEscape(after)
		if err := p.ask(address, method, uri, func(body io.Reader) error { return json.NewDecoder(body).Decode(&list) }); err != nil {
			return 0, err
		}
		for _, s := range list.Policies {
			printPolicy(table, s, time.Now())
		}
		if after = list.Next; after == "" {
			return 0, errors.Join(table.Flush(), screen.Flush())
		}
	}
}

// ask makes one request to the admin API.
func (p *policies) ask(address, method, uri string, use func(io.Reader) error) error {
	response, err := caddycmd.AdminAPIRequest(address, method, uri, nil, nil)
	if err != nil {
		return adminError(address, err)
	}
	defer response.Body.Close()
	return use(response.Body)
}

// adminError says what to do about a request to the admin API that failed. Caddy
// hands down nothing but a text.
func adminError(address string, err error) error {
	if _, body, ok := strings.Cut(err.Error(), "caddy responded with error: HTTP "); ok {
		status, body, _ := strings.Cut(body, ": ")
		var answer struct {
			Error string `json:"error"`
		}
		switch {
		case json.Unmarshal([]byte(body), &answer) == nil && answer.Error != "":
			return errors.New(answer.Error)
		case status == "404":
			return fmt.Errorf("what listens at %s is no Caddy with robots_guard in its configuration", address)
		}
		return fmt.Errorf("the admin API at %s answers %s: %s", address, status, body)
	}
	why := strings.TrimPrefix(err.Error(), "performing request: ")
	if _, short, ok := strings.Cut(why, `": `); ok { // after the URL
		why = short
	}
	return fmt.Errorf("no server answers at %s: %s; start it, or say where its admin API listens with --address or --config", address, why)
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
	if s.LastError != "" {
		lastError = text.Printable(s.LastError)
	}
	table.Row(text.Printable(s.Authority), status, age, next, fmt.Sprint(s.Rules), fmt.Sprint(s.Findings), fmt.Sprint(s.Versions), lastError)
}
