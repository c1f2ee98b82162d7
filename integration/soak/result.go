package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/integration/harness"
)

// result is the outcome of a run.
type result struct {
	took               time.Duration
	sent, unanswered   int
	statuses, versions map[int]int
	changes            int64
	samples            []sample
	problems           []string
}

// add adds the counts of the traffic.
func (r *result) add(t *traffic) {
	r.sent, r.unanswered, r.statuses, r.versions = t.sent, t.unanswered, t.statuses, t.versions
	if len(t.wrong) > 0 {
		r.problems = append(r.problems, "blocked, but must pass:\n"+strings.Join(t.wrong, "\n"))
	}
	if r.unanswered > r.sent/10 { // Caddy itself resets some connections during a reload
		r.problems = append(r.problems, fmt.Sprintf("%d of %d requests had no answer", r.unanswered, r.sent))
	}
}

// String returns the result as a table.
func (r *result) String() string {
	var b strings.Builder
	b.WriteString("| figure | value |\n|---|---|\n")
	row := func(what, format string, values ...any) {
		fmt.Fprintf(&b, "| %s | %s |\n", what, fmt.Sprintf(format, values...))
	}
	row("duration, requests", "%s, %d", r.took.Round(time.Second), r.sent)
	row("answers by HTTP/1.1, HTTP/2, HTTP/3", "%d, %d, %d", r.versions[1], r.versions[2], r.versions[3])
	row("blocked, slowed", "%d, %d", r.statuses[403]+r.statuses[410], r.statuses[429])
	row("reloads, each with other robots.txt files", "%d", r.changes)
	for _, s := range watched {
		if len(r.samples) >= 8 {
			second, last := s.quarters(r.samples)
			row(s.name+", second and last quarter", "%.1f%s, %.1f%s", second*s.scale, s.unit, last*s.scale, s.unit)
		}
	}
	for _, problem := range r.problems {
		fmt.Fprintf(&b, "\nPROBLEM: %s\n", problem)
	}
	return b.String()
}

// write inserts the table into a page.
func (r *result) write(page string) error {
	when := fmt.Sprintf("\nMeasured %s with %s on %s/%s, %d processors.\n",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	return harness.Rewrite(page, "<!-- written by integration/soak -->\n", "<!-- end -->\n", r.String()+when)
}
