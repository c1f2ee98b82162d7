package command

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/registryfile"
)

// show prints entries of the built-in registry, and an error for each unknown token. It
// writes to notes if no entry is stale.
func (g *registryRunner) show(w, notes io.Writer, tokens []string) (err error) {
	keep := func(*uaident.Crawler) bool { return true }
	if g.stale != "" {
		if keep, err = uncheckedSince(g.stale, time.Now()); err != nil {
			return err
		}
	}
	crawlers := uaident.Default().Crawlers()
	if len(tokens) > 0 {
		crawlers = nil
	}
	var unknown []error
	for _, token := range tokens {
		if known := uaident.Default().Lookup(token); known != nil {
			crawlers = append(crawlers, *known)
		} else {
			unknown = append(unknown, fmt.Errorf("the built-in registry does not contain %q%s", token, suggestToken(token)))
		}
	}
	shown := 0
	var line []byte
	for i := range crawlers {
		if !keep(&crawlers[i]) {
			continue
		}
		shown++
		line = append(registryfile.AppendEntry(line[:0], &crawlers[i]), '\n')
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	if g.stale != "" && shown == 0 && len(unknown) == 0 {
		fmt.Fprintf(notes, "each of %d entries was checked within the last %s\n", len(crawlers), g.stale)
	}
	return errors.Join(unknown...)
}

// uncheckedSince returns a function that reports whether an entry was last checked longer
// before now than the duration says, or on an unknown day.
func uncheckedSince(duration string, now time.Time) (func(*uaident.Crawler) bool, error) {
	d, err := caddy.ParseDuration(duration)
	if err != nil || d < 0 {
		return nil, fmt.Errorf("--stale %q is not a duration; write one such as 180d or 12h", duration)
	}
	since := now.Add(-d).UTC().Format(time.DateOnly)
	return func(c *uaident.Crawler) bool { return c.Checked < since }, nil
}

// suggestToken suggests a name with a similar spelling, or returns "".
func suggestToken(token string) string {
	var tokens []string
	for _, c := range uaident.Default().Crawlers() {
		tokens = append(tokens, c.Token)
	}
	if near := text.Nearest(token, tokens); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}
