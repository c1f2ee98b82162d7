package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// result is what came of it all.
type result struct {
	rate           float64
	took           time.Duration
	reloads        int
	texts, outages int64
	samples        []sample
	sent, broken   int
	loose, wrongs  int
	counted        int
	slowest        time.Duration
	problems       []string
}

// finish adds what the traffic has seen.
func (r *result) finish(t *traffic, problems []string, counted int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.sent, r.loose, r.wrongs, r.slowest, r.counted = t.sent, t.loose, t.wrongs, t.slowest, counted
	for _, tally := range t.counts {
		r.broken += tally.broken
	}
	if t.wrongs > 0 {
		r.problems = append(r.problems, fmt.Sprintf("%d wrong answers, the first:\n%s", t.wrongs, strings.Join(t.wrong, "\n")))
	}
	if r.broken > r.sent/10 { // Caddy itself breaks some connections while it reloads
		r.problems = append(r.problems, fmt.Sprintf("%d of %d requests had no answer", r.broken, r.sent))
	}
	r.problems = append(r.problems, problems...)
}

// String is the table that is shown and written.
func (r *result) String() string {
	var b strings.Builder
	row := func(what, format string, values ...any) {
		fmt.Fprintf(&b, "| %s | %s |\n", what, fmt.Sprintf(format, values...))
	}
	b.WriteString("| | |\n|---|---|\n")
	row("duration", "%s", r.took.Round(time.Second))
	row("requests", "%d, %.0f a second", r.sent, float64(r.sent)/r.took.Seconds())
	row("of them while something changed, so that two answers were right", "%d", r.loose)
	row("wrong answers", "**%d**", r.wrongs)
	row("without an answer, since Caddy breaks some connections at a reload", "%d", r.broken)
	row("reloads, other robots.txt files, outages", "%d, %d, %d", r.reloads, r.texts, r.outages)
	row("requests in the metrics of the guard, as many as were sent", "%d", r.counted)
	row("the slowest page for a browser", "%s", r.slowest.Round(time.Millisecond))
	for _, s := range watched {
		if len(r.samples) >= 8 {
			row(s.name+", median of the second and of the last quarter", "%.1f%s, %.1f%s", s.quarter(r.samples, false)*s.scale, s.unit, s.quarter(r.samples, true)*s.scale, s.unit)
		}
	}
	for _, problem := range r.problems {
		fmt.Fprintf(&b, "\nPROBLEM: %s\n", problem)
	}
	return b.String()
}

// write puts the table into proof.md, and soak.svg beside it.
func (r *result) write(folder string) error {
	const begin, end = "<!-- written by integration/soak -->\n", "<!-- end -->\n"
	page := filepath.Join(folder, "proof.md")
	content, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(content), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return fmt.Errorf("%s has no place for the table: it needs the lines %sand %s", page, begin, end)
	}
	when := fmt.Sprintf("\nMeasured %s with %s on %s/%s, %d processors.\n",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if err := os.WriteFile(page, []byte(before+begin+r.String()+when+end+after), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "soak.svg"), []byte(plot(r.samples)), 0o644)
}
