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

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/internal/shadow"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

func shadowCommand() *cobra.Command {
	var s trying
	cmd := &cobra.Command{
		Use:   "shadow [--address <host:port>] [--json] [<site>]",
		Short: "Shows what a robots.txt that is tried would change on a running server",
		Long: `
Asks the admin API of a running server what the texts of the option shadow would
change if they were in force: how many requests they would newly forbid and newly
allow since the trial began, and for each crawler the pages with the lines that
decide. Search engines come first.

Exit status: 0, 1 if a search engine would be newly forbidden something, or 2 if an
argument is wrong or no server answers.
`,
		Example: `
caddy robots-guard shadow
caddy robots-guard shadow example.com
caddy robots-guard shadow --json
`,
		RunE: runCommand(s.run),
	}
	flags := cmd.Flags()
	s.api.define(flags)
	flags.BoolVar(&s.json, "json", false, "print JSON")
	return cmd
}

// trying is the command with its flags.
type trying struct {
	api  adminAPI
	json bool
}

func (s *trying) run(cmd *cobra.Command, args []string) (int, error) {
	if len(args) > 1 {
		return 0, fmt.Errorf("give one site, not %d; without any all are shown", len(args))
	}
	api, err := s.api.find()
	if err != nil {
		return 0, err
	}
	uri := "/robots_guard/shadow"
	if len(args) > 0 {
		uri += "?" + url.Values{"site": args[:1]}.Encode()
	}
	var body []byte
	var found report.Shadow
	err = api.ask(http.MethodGet, uri, nil, func(answer io.Reader) (err error) {
		if body, err = io.ReadAll(answer); err != nil {
			return err
		}
		return json.Unmarshal(body, &found)
	})
	if err != nil {
		return 0, err
	}
	code := ExitAllowed
	for _, t := range found.Trials {
		if t.Search.NewlyForbidden > 0 {
			code = ExitDisallowed
		}
	}
	if s.json {
		_, err := cmd.OutOrStdout().Write(body)
		return code, err
	}
	out := screenOf(cmd.OutOrStdout())
	return code, errors.Join(printShadow(out, &found), out.Flush())
}

// printShadow prints what is tried, and what was found.
func printShadow(out io.Writer, found *report.Shadow) error {
	if len(found.Texts)+len(found.Trials) == 0 {
		fmt.Fprintln(out, "No text is tried. This tries one: robots_guard { shadow file <path> }")
		return nil
	}
	for _, t := range found.Texts {
		switch {
		case t.Error != "" && t.Version == "":
			fmt.Fprintf(out, "%s is not tried: %s\n", text.Printable(t.From), text.Printable(t.Error))
		case t.Error != "":
			fmt.Fprintf(out, "%s cannot be read any more, and is tried as it was: %s\n", text.Printable(t.From), text.Printable(t.Error))
		case t.Version == "":
			fmt.Fprintf(out, "%s is not read yet\n", text.Printable(t.From))
		}
	}
	if len(found.Trials) == 0 {
		fmt.Fprintln(out, "No request was judged by a text that is tried yet: it takes one of a crawler.")
	}
	for i := range found.Trials {
		if err := printTrial(out, &found.Trials[i]); err != nil {
			return err
		}
	}
	return nil
}

// printTrial prints what was found at one site.
func printTrial(out io.Writer, t *report.Trial) error {
	fmt.Fprintf(out, "%s: %s since %s\n", text.Printable(t.Site), text.Printable(t.From), t.Since.UTC().Format("2006-01-02 15:04 UTC"))
	fmt.Fprintf(out, "  %s, newly forbidden %d, newly allowed %d\n", requests(t.Requests), t.NewlyForbidden, t.NewlyAllowed)
	fmt.Fprintf(out, "  of search engines: %s, newly forbidden %d, newly allowed %d\n", requests(t.Search.Requests), t.Search.NewlyForbidden, t.Search.NewlyAllowed)
	if t.NewlyForbidden+t.NewlyAllowed == 0 {
		return nil
	}
	table := text.NewTable(out, text.Column{Title: "CRAWLER"}, text.Column{Title: "CLASS"}, text.Column{Title: "IDENTITY"}, text.Column{Title: "WOULD BE"},
		text.Column{Title: "REQUESTS"}, text.Column{Title: "PAGE"}, text.Column{Title: "BY", Kind: text.Prose})
	for _, c := range t.Crawlers {
		for _, p := range c.Pages {
			count := fmt.Sprint(p.Count)
			if p.Error > 0 {
				count = "<=" + count
			}
			table.Row(text.Printable(c.Token), c.Class, c.Identity, wouldBe(p.Difference), count, text.Printable(p.Host+p.Path), by(p))
		}
	}
	return table.Flush()
}

func requests(n uint64) string {
	if n == 1 {
		return "1 request judged by both"
	}
	return fmt.Sprintf("%d requests judged by both", n)
}

// wouldBe is a difference for people to read.
func wouldBe(difference string) string {
	return map[string]string{shadow.NewlyForbidden.String(): "forbidden", shadow.NewlyAllowed.String(): "allowed"}[difference]
}

// by tells the lines that decide about a page, that of the text which forbids it
// first.
func by(p report.TriedPage) string {
	would, was := "tried: "+lineOf(p.Would), "in force: "+lineOf(p.Was)
	if p.Difference == shadow.NewlyAllowed.String() {
		would, was = was, would
	}
	return would + "; " + was
}

func lineOf(l report.TriedLine) string {
	if l.Line == 0 {
		return "no rule"
	}
	return strings.TrimSpace(fmt.Sprintf("line %d, %s", l.Line, text.Printable(l.Rule)))
}
