package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// writeTable puts what was found into a page, between two lines that are there.
func writeTable(page string, found []string) error {
	const begin, end = "<!-- written by integration/simulate/seeded -->\n", "<!-- end -->\n"
	content, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(content), begin)
	_, after, ended := strings.Cut(rest, end)
	switch {
	case len(found) != len(mistakes):
		return errors.New("the table is written by a run of all mistakes only")
	case !ok || !ended:
		return fmt.Errorf("%s has no place for the table: it needs the lines %sand %s", page, begin, end)
	}
	return os.WriteFile(page, []byte(before+begin+table(found)+end+after), 0o644)
}

// table returns what was found of each mistake.
func table(found []string) string {
	var b strings.Builder
	b.WriteString("| mistake | in | found in |\n|---|---|---|\n")
	for n, m := range mistakes {
		how := found[n]
		if how == "" {
			how = "**not found**"
		}
		how, _, _ = strings.Cut(how, ":")
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", m.what, m.file, how)
	}
	fmt.Fprintf(&b, "\nTried %s.\n", time.Now().UTC().Format("2006-01-02"))
	return b.String()
}
