package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// result is what came of it all.
type result struct {
	rate            float64
	took            time.Duration
	reloads         int64
	texts, outages  int64
	editions, kills int
	samples         [][]sample // of the instances that live through it
	heaps           []heaps    // of the same
	sent, lost      int
	broken          broken
	by              map[protocol]int
	statuses        map[int]int
	as              map[string]int
	asked           int
	loose, wrongs   int
	pending, older  int
	counted         int
	slowest         time.Duration
	mu              sync.Mutex // guards problems and counted
	problems        []string
}

// compared adds what came of comparing the counters of a life.
func (r *result) compared(problems []string, counted int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, problems...)
	r.counted += counted
}

// finish adds what the traffic has seen.
func (r *result) finish(t *traffic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.sent, r.broken, r.lost, r.loose, r.wrongs, r.slowest = t.sent, t.broken, t.lost, t.loose, t.wrongs, t.slowest
	r.by, r.statuses, r.pending, r.older = t.by, t.statuses, t.pending, t.older
	r.as, r.asked = t.as, t.asked
	if t.wrongs > 0 {
		r.problems = append(r.problems, fmt.Sprintf("%d wrong answers, the first:\n%s", t.wrongs, strings.Join(t.wrong, "\n")))
	}
	if n := r.broken.all(); n > r.sent/10 { // Caddy itself breaks some connections while it reloads
		r.problems = append(r.problems, fmt.Sprintf("%d of %d requests had no answer", n, r.sent))
	}
	if len(r.broken.first) > 0 {
		r.problems = append(r.problems, "no answer came though nothing was wrong, first of all:\n"+strings.Join(r.broken.first, "\n"))
	}
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
	row("answers by HTTP/1.1, HTTP/2, HTTP/3", "%d, %d, %d", r.by[1], r.by[2], r.by[3])
	row("answers 200, 403 or 410, 429, 503, 500 or 502", "%d, %d, %d, %d, %d", r.statuses[200], r.statuses[403]+r.statuses[410], r.statuses[429], r.statuses[503], r.statuses[500]+r.statuses[502])
	row("to a verified crawler, to one with its name, to questions of another proxy", "%d, %d, %d", r.as["verified"], r.as["spoofed"], r.asked)
	row("of all while something changed, or to who had read another text last, so that two answers were right", "%d", r.loose)
	row("let pass of what was forbidden, since it was not known yet what the crawler was served", "%d", r.pending)
	row("by a configuration before, to which Caddy had left a connection by HTTP/2", "%d", r.older)
	row("wrong answers", "**%d**", r.wrongs)
	row("without an answer, since an instance was killed, while Caddy was reloaded, otherwise", "%d, %d, %d", r.broken.by[killed], r.broken.by[reloaded], r.broken.by[otherwise])
	row("reloads, other robots.txt files, outages, editions of the registry", "%d, %d, %d, %d", r.reloads, r.texts, r.outages, r.editions)
	row("times that an instance was killed and started again", "%d", r.kills)
	row("requests in the metrics of the guards, as many as were sent", "%d", r.counted)
	row("answered in the second before an instance was killed, and so in no metric", "%d", r.lost)
	row("the slowest page for a browser", "%s", r.slowest.Round(time.Millisecond))
	for i, samples := range r.samples {
		for _, s := range watched {
			if len(samples) >= 8 {
				row(fmt.Sprintf("%s of instance %c, median of the second and of the last quarter", s.name, 'A'+i),
					"%.1f%s, %.1f%s", s.quarter(samples, false)*s.scale, s.unit, s.quarter(samples, true)*s.scale, s.unit)
			}
		}
	}
	for _, problem := range r.problems {
		fmt.Fprintf(&b, "\nPROBLEM: %s\n", problem)
	}
	return b.String()
}

// summary is the table for proof.md.
func (r *result) summary() string {
	var b strings.Builder
	b.WriteString("| figure | value |\n|---|---|\n")
	row := func(what, format string, values ...any) {
		fmt.Fprintf(&b, "| %s | %s |\n", what, fmt.Sprintf(format, values...))
	}
	row("duration, requests", "%s, %d", r.took.Round(time.Second), r.sent)
	row("wrong answers", "**%d**", r.wrongs)
	row("forbidden requests that passed while the served file was unknown", "%d", r.pending)
	row("requests without an answer (instance killed, reload)", "%d", r.broken.all())
	row("reloads, robots.txt changes, outages, kills", "%d, %d, %d, %d", r.reloads, r.texts, r.outages, r.kills)
	row("slowest page for a browser", "%s", r.slowest.Round(time.Millisecond))
	for i, samples := range r.samples {
		for _, s := range watched {
			if s.name == "heap" && len(samples) >= 8 {
				row(fmt.Sprintf("heap of instance %c, second and last quarter", 'A'+i),
					"%.1f%s, %.1f%s", s.quarter(samples, false)*s.scale, s.unit, s.quarter(samples, true)*s.scale, s.unit)
			}
		}
	}
	return b.String()
}

// write puts the summary into proof.md.
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
	return os.WriteFile(page, []byte(before+begin+r.summary()+when+end+after), 0o644)
}
