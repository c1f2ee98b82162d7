package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// writeTable puts what was found into a page, between two lines that are there.
func writeTable(page string, found []string) error {
	if len(found) != len(mistakes) {
		return errors.New("the table is written by a run of all mistakes only")
	}
	return harness.Rewrite(page, "<!-- written by integration/simulate/seeded -->\n", "<!-- end -->\n", table(found))
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
