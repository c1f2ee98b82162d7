package main

import (
	"fmt"
	"os"
	"strings"
)

// page tells what was measured, as seen from the folder of the repository.
const page = "docs/libraries.md"

const begin, end = "<!-- written by uaident/internal/measure -->\n", "<!-- end -->\n"

// figures are what was found of one half of the lists, or of all.
type figures struct {
	robots, browsers counts // robots are those of tier A
	services         served
}

// table returns what the page tells: of all, and of the half that was not looked at.
func table(all, half *figures) string {
	var b strings.Builder
	b.WriteString("| of | | all | the half that was not looked at |\n|---|---|---|---|\n")
	row := func(of, what string, say func(f *figures) string) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", of, what, say(all), say(half))
	}
	share := func(n, of int) string { return fmt.Sprintf("%.1f %%", percent(n, of)) }
	row(thousands(all.robots.all)+" robots", "are called by a name", func(f *figures) string { return share(f.robots.all-f.robots.browsers, f.robots.all) })
	row("their crawlers, libraries and headless browsers", "are called by exactly the labelled product token", func(f *figures) string { return share(f.robots.exact, f.robots.crawlers+f.robots.tools) })
	row("the robots", "are judged by the `*` group", func(f *figures) string { return share(f.robots.judged, f.robots.all) })
	row("those that it does not spare for what they are", "are judged by it", func(f *figures) string { return share(f.robots.judged, f.robots.all-f.robots.spared) })
	row(thousands(all.browsers.all)+" browsers and apps", "are taken for a robot", func(f *figures) string { return fmt.Sprint(f.browsers.crawlers + f.browsers.tools) })
	row(thousands(all.services.all)+" clients that are no crawlers", "are kept from a page by `*`", func(f *figures) string {
		return fmt.Sprintf("%d (%.2f %%)", f.services.get, percent(f.services.get, f.services.all))
	})
	row("the same", "are kept by `*` from what they post", func(f *figures) string { return fmt.Sprint(f.services.post) })
	return b.String()
}

// thousands writes a number as pages do.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// hold compares the table of a page with one that was measured, or writes it.
func hold(page, table string, write bool) error {
	content, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(strings.ReplaceAll(string(content), "\r\n", "\n"), begin)
	said, after, ended := strings.Cut(rest, end)
	switch {
	case !ok || !ended:
		return fmt.Errorf("%s has no place for the table: it needs the lines %sand %s", page, begin, end)
	case said == table:
		return nil
	case !write:
		return fmt.Errorf("%s says otherwise; write it with -write", page)
	}
	return os.WriteFile(page, []byte(before+begin+table+end+after), 0o644)
}
