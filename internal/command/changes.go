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

// changes has the verbs of managed that send a request to a running server.
type changes struct {
	api      adminAPI
	output   output
	deed     admin.Deed
	from, to string
}

// runs reports whether a verb belongs to changes.
func (c *changes) runs(verb string) bool {
	return slices.Contains(append(admin.Verbs(), "changes", "history", "diff"), verb)
}

// whoOr returns said, or the user of this machine if said is empty.
func whoOr(said string) string {
	if said != "" {
		return said
	}
	known, err := user.Current()
	if err != nil {
		return ""
	}
	return known.Username
}

// run sends the request to the server.
func (c *changes) run(cmd *cobra.Command, args []string) error {
	verb := args[0]
	method, uri, deed := http.MethodGet, admin.ManagedPath+"/"+verb, any(nil)
	switch {
	case len(args) > 2 || len(args) > 1 && !slices.Contains(admin.Verbs(), verb):
		return fmt.Errorf("managed %s takes no argument such as %q", verb, args[len(args)-1])
	case slices.Contains(admin.Verbs(), verb):
		if len(args) > 1 {
			c.deed.ID = args[1]
		}
		if verb == "confirm" && c.deed.Why == "" {
			return errors.New("give a reason with --why; the history records it")
		}
		c.deed.Who = whoOr(c.deed.Who)
		method, deed = http.MethodPost, c.deed
	case verb == "changes":
	default:
		uri += "?" + url.Values{"site": {c.deed.Site}, "from": {c.from}, "to": {c.to}}.Encode()
	}
	api, err := c.api.find()
	if err != nil {
		return err
	}
	answer := answerTo(verb)
	body, err := api.read(method, uri, deed, answer)
	if err != nil {
		return err
	}
	return c.output.print(cmd, body, func(w io.Writer) error {
		printChanges(w, answer)
		return nil
	})
}

// answerTo returns a value to decode the response to a verb into.
func answerTo(verb string) any {
	switch verb {
	case "changes":
		return new(admin.ManagedSites)
	case "history":
		return new(admin.ManagedHistory)
	case "diff":
		return new(admin.ManagedDiff)
	}
	return new(admin.Done)
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
	case *admin.Done:
		fmt.Fprintf(out, "%s: %s\n", text.Printable(answer.Site), answer.State)
		printState(out, answer.ManagedState)
		if answer.State == publish.RolledBack {
			fmt.Fprintf(out, "  most crawlers read it within 24 hours%s; until then they may use the previous file\n", slower())
		}
	}
}

// slower returns the crawlers that need longer than others to follow a change.
func slower() (words string) {
	for _, c := range uaident.Default().Crawlers() {
		if c.RobotsLag.Most > policy.MaxAge {
			words += fmt.Sprintf(", %s within %g", c.Token, c.RobotsLag.Most.Hours())
		}
	}
	return words
}

// printState prints the published and the pending change.
func printState(out io.Writer, s admin.ManagedState) {
	if s.Published == nil {
		fmt.Fprintln(out, "  nothing was published yet; the site's own robots.txt stands alone")
	} else {
		printChange(out, s.Published)
	}
	if s.Pending != nil {
		printChange(out, s.Pending)
	}
}

const changeTime = "2006-01-02 15:04 UTC"

// printChange prints a change.
func printChange(out io.Writer, c *publish.Change) {
	state := string(c.State)
	if c.State == publish.Waiting {
		state = "waits for confirmation"
	}
	if !c.Until.IsZero() {
		state += " until " + c.Until.UTC().Format(changeTime)
	}
	fmt.Fprintf(out, "  %s %s, made at %s by %s\n", c.ID, state, c.Made.At.UTC().Format(changeTime), spelled(c.Made))
	if c.Confirmed != nil {
		fmt.Fprintf(out, "    confirmed at %s by %s\n", c.Confirmed.At.UTC().Format(changeTime), spelled(*c.Confirmed))
	}
	if c.Promoted != nil {
		fmt.Fprintf(out, "    promoted at %s by %s\n", c.Promoted.At.UTC().Format(changeTime), spelled(*c.Promoted))
	}
	if c.Ended != nil {
		fmt.Fprintf(out, "    over at %s by %s\n", c.Ended.At.UTC().Format(changeTime), spelled(*c.Ended))
	}
	if len(c.ReadBy) > 0 {
		fmt.Fprintf(out, "    read since by %s\n", text.Printable(strings.Join(c.ReadBy, ", ")))
	}
	for _, line := range slices.Concat(c.Reasons, c.Difference) {
		fmt.Fprintf(out, "    %s\n", text.Printable(line))
	}
}

// spelled returns the person and the reason of an action.
func spelled(by publish.By) string {
	return text.Printable(strings.Join(slices.DeleteFunc([]string{by.Who, by.Why, by.Ticket}, func(s string) bool { return s == "" }), ", "))
}
