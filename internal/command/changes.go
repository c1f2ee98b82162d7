package command

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/user"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// changesRunner has the verbs of managed that send a request to a running server.
type changesRunner struct {
	api      adminAPI
	output   output
	action   admin.Action
	from, to string
}

// handles reports whether a verb belongs to changes.
func (c *changesRunner) handles(verb string) bool {
	return slices.Contains(append(admin.Verbs(), "changes", "history", "diff"), verb)
}

// userOr returns name, or the user of this machine if name is empty.
func userOr(name string) string {
	if name != "" {
		return name
	}
	known, err := user.Current()
	if err != nil {
		return ""
	}
	return known.Username
}

// run sends the request to the server.
func (c *changesRunner) run(cmd *cobra.Command, args []string) error {
	verb := args[0]
	method, uri, action := http.MethodGet, admin.ManagedPath+"/"+verb, any(nil)
	switch {
	case len(args) > 2 || len(args) > 1 && !slices.Contains(admin.Verbs(), verb):
		return fmt.Errorf("managed %s takes no argument such as %q", verb, args[len(args)-1])
	case slices.Contains(admin.Verbs(), verb):
		if len(args) > 1 {
			c.action.ID = args[1]
		}
		if verb == "confirm" && c.action.Why == "" {
			return errors.New("give a reason with --why; the history records it")
		}
		c.action.Who = userOr(c.action.Who)
		method, action = http.MethodPost, c.action
	case verb == "changes":
	default:
		uri += "?" + url.Values{"site": {c.action.Site}, "from": {c.from}, "to": {c.to}}.Encode()
	}
	api, err := c.api.find()
	if err != nil {
		return err
	}
	answer := newResponse(verb)
	body, err := api.read(method, uri, action, answer)
	if err != nil {
		return err
	}
	return c.output.print(cmd, body, func(w io.Writer) { printChanges(w, answer) })
}

// newResponse returns a value to decode the response to a verb into.
func newResponse(verb string) any {
	switch verb {
	case "changes":
		return new(admin.ManagedSites)
	case "history":
		return new(admin.ManagedHistory)
	case "diff":
		return new(admin.ManagedDiff)
	}
	return new(admin.ActionResult)
}

// printChanges prints a response for people.
func printChanges(out io.Writer, answer any) {
	switch answer := answer.(type) {
	case *admin.ManagedSites:
		for _, s := range answer.Sites {
			fmt.Fprintf(out, "%s\n", text.Printable(s.Site))
			if !s.Known {
				fmt.Fprintln(out, "  the history could not be read yet")
			}
			printState(out, s.ManagedState)
		}
	case *admin.ManagedHistory:
		printState(out, answer.ManagedState)
		for i := range answer.History {
			printChange(out, &answer.History[i])
		}
	case *admin.ManagedDiff:
		fmt.Fprintf(out, "%s: from %s to %s\n", text.Printable(answer.Site), text.Printable(answer.From), text.Printable(answer.To))
		for _, line := range answer.Difference {
			fmt.Fprintf(out, "  %s\n", text.Printable(line))
		}
	case *admin.ActionResult:
		fmt.Fprintf(out, "%s: %s\n", text.Printable(answer.Site), answer.State)
		printState(out, answer.ManagedState)
		if answer.State == publish.RolledBack {
			fmt.Fprintf(out, "  most crawlers read it within 24 hours%s; until then they may use the previous file\n", slowCrawlers())
		}
	}
}

// slowCrawlers returns the crawlers that need longer than others to follow a change.
func slowCrawlers() (words string) {
	for _, c := range uaident.Default().Crawlers() {
		if c.RobotsLag.Max > policy.MaxAge {
			words += fmt.Sprintf(", %s within %g", c.Token, c.RobotsLag.Max.Hours())
		}
	}
	return words
}

// printState prints the published and the pending change.
func printState(out io.Writer, s admin.ManagedState) {
	if s.Published == nil {
		fmt.Fprintln(out, "  nothing is published yet; only the site's own robots.txt is served")
	} else {
		printChange(out, s.Published)
	}
	if s.Pending != nil {
		printChange(out, s.Pending)
	}
}

// printChange prints a change.
func printChange(out io.Writer, c *publish.Change) {
	state := string(c.State)
	if c.State == publish.Waiting {
		state = "waits for confirmation"
	}
	if !c.Until.IsZero() {
		state += " until " + shortTime(c.Until)
	}
	fmt.Fprintf(out, "  %s %s, made at %s by %s\n", c.ID, state, shortTime(c.Made.At), authorText(c.Made))
	for _, action := range []struct {
		verb string
		by   *publish.By
	}{{"confirmed", c.Confirmed}, {"promoted", c.Promoted}, {"over", c.Ended}} {
		if action.by != nil {
			fmt.Fprintf(out, "    %s at %s by %s\n", action.verb, shortTime(action.by.At), authorText(*action.by))
		}
	}
	if len(c.ReadBy) > 0 {
		fmt.Fprintf(out, "    read since by %s\n", text.Printable(strings.Join(c.ReadBy, ", ")))
	}
	for _, line := range slices.Concat(c.Reasons, c.Difference) {
		fmt.Fprintf(out, "    %s\n", text.Printable(line))
	}
}

// authorText returns the person and the reason of an action.
func authorText(by publish.By) string {
	return text.Printable(strings.Join(slices.DeleteFunc([]string{by.Who, by.Why, by.Ticket}, func(s string) bool { return s == "" }), ", "))
}
