package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robotsguard/caddy-robots-guard/internal/admin"
	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

func alertsCommand() *cobra.Command {
	var a alerts
	cmd := &cobra.Command{
		Use:   "alerts [--address <host:port>] [--json] [--acknowledge <id> [--note <text>] | --undo <id>]",
		Short: "Shows what its owner should do something about on a running server",
		Long: `
Asks the admin API of a running server. It prints each alert with what is known,
what to do, and the line or command that this takes; the most urgent come first.

--acknowledge makes an alert quiet until it becomes another thing, and --undo
takes that back. The id is printed with each alert.
`,
		Example: `
caddy robots-guard alerts
caddy robots-guard alerts --json
caddy robots-guard alerts --acknowledge robots_gone-951623a26f8b --note "moved to the shop"
caddy robots-guard alerts --undo robots_gone-951623a26f8b
`,
		RunE: runCommand(a.run),
	}
	flags := cmd.Flags()
	a.api.define(flags)
	flags.StringVar(&a.acknowledge, "acknowledge", "", "the id of an alert that is known, or meant")
	flags.StringVar(&a.undo, "undo", "", "the id of an alert that is not acknowledged any more")
	flags.StringVar(&a.note.Note, "note", "", "why it is acknowledged")
	flags.StringVar(&a.note.By, "by", "", "who acknowledges it")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	return cmd
}

// alerts is the command with its flags.
type alerts struct {
	api               adminAPI
	acknowledge, undo string
	note              admin.AlertNote
	json              bool
}

func (a *alerts) run(cmd *cobra.Command, args []string) (int, error) {
	switch {
	case len(args) > 0:
		return 0, fmt.Errorf("alerts takes no argument such as %q; --acknowledge takes the id of an alert", args[0])
	case a.acknowledge != "" && a.undo != "":
		return 0, errors.New("give one of --acknowledge and --undo")
	case a.acknowledge == "" && a.note != admin.AlertNote{}:
		return 0, errors.New("--note and --by need --acknowledge with the id of an alert")
	}
	api, err := a.api.find()
	if err != nil {
		return 0, err
	}
	method, uri, body := http.MethodGet, admin.AlertsPath, []byte(nil)
	switch {
	case a.acknowledge != "":
		method, uri = http.MethodPost, alertURI(a.acknowledge)
		if body, err = json.Marshal(a.note); err != nil {
			return 0, err
		}
	case a.undo != "":
		method, uri = http.MethodDelete, alertURI(a.undo)
	}
	return 0, api.ask(method, uri, body, func(answer io.Reader) error {
		if a.json {
			_, err := io.Copy(cmd.OutOrStdout(), answer)
			return err
		}
		return a.print(cmd.OutOrStdout(), method, answer)
	})
}

func alertURI(id string) string {
	return admin.AlertsPath + "/" + url.PathEscape(id) + "/acknowledge"
}

// print prints an answer for people to read.
func (a *alerts) print(out io.Writer, method string, body io.Reader) error {
	screen := screenOf(out)
	var list alert.List
	var one alert.Alert
	var into any = &list
	if method != http.MethodGet {
		into = &one
	}
	if err := json.NewDecoder(body).Decode(into); err != nil {
		return err
	}
	if method != http.MethodGet {
		list.Alerts = []alert.Alert{one}
	}
	if len(list.Alerts) == 0 {
		fmt.Fprintln(screen, "nothing to do")
	}
	for i, one := range list.Alerts {
		if i > 0 {
			fmt.Fprintln(screen)
		}
		printAlert(screen, one)
	}
	if list.More > 0 {
		fmt.Fprintf(screen, "\n%d more are left out\n", list.More)
	}
	return screen.Flush()
}

// printAlert prints what is known of an alert, and what to do.
func printAlert(out io.Writer, a alert.Alert) {
	const timeLayout = "2006-01-02 15:04 UTC"
	state := fmt.Sprintf("since %s", a.Since.UTC().Format(timeLayout))
	switch {
	case a.State == alert.Over:
		state += ", over at " + a.Until.UTC().Format(timeLayout)
	case a.Acknowledged != nil:
		state += ", acknowledged"
		if a.Acknowledged.By != "" {
			state += " by " + text.Printable(a.Acknowledged.By)
		}
		if a.Acknowledged.Note != "" {
			state += ": " + text.Printable(a.Acknowledged.Note)
		}
	}
	fmt.Fprintf(out, "%s: %s (%s)\n  %s\n", a.Severity, text.Printable(a.Title), a.ID, state)
	fmt.Fprintf(out, "  %s\n", text.Printable(a.Detail))
	if a.State == alert.Over {
		return
	}
	fmt.Fprintf(out, "  %s\n", text.Printable(a.Do))
	for line := range strings.Lines(a.Copy) {
		fmt.Fprintf(out, "    %s\n", text.Printable(strings.TrimSuffix(line, "\n")))
	}
}
