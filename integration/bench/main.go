// Command bench compares the performance of Robots Guard with that of similar libraries
// and servers on this machine. It prints tables in Markdown: all tables, or the tables
// named as arguments.
//
//	go run . [-short] [-write] [-effort N] [-google DIR] [table ...]
//
// -short takes a few seconds per table. It shows only that the benchmark works. -write
// inserts each table into docs/benchmarks.md, between its markers, as soon as the table
// is measured. -effort multiplies the number of rounds. -google names a checkout of
// Google's library, which bench then compiles and measures as well.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// effort sets how long the benchmark measures.
type effort struct {
	rounds    int           // per cell
	benchTime time.Duration // per cell and round
	questions int           // per kind, in the agreement tables
	starts    int           // of both servers of a comparison under load
	turns     int           // rounds of a comparison under load after each start
	turn      time.Duration // time per server and turn in such a round
	sites     int           // the largest number of sites to measure
}

var (
	full  = effort{5, 200 * time.Millisecond, 1000, 3, 8, 100 * time.Millisecond, 100_000}
	short = effort{3, 10 * time.Millisecond, 100, 1, 2, 50 * time.Millisecond, 1000}
)

// times returns the effort with n times as many rounds.
func (e effort) times(n float64) effort {
	more := func(rounds int) int { return max(1, int(float64(rounds)*n+0.5)) }
	e.rounds, e.starts = more(e.rounds), more(e.starts)
	return e
}

var started = time.Now()

// section is a measurement with its own table.
type section struct {
	name   string
	anchor string // heading of the section on the page; "" if the section is only printed
	render func(effort, *google) (outcome, error)
}

// outcome is the result of a section.
type outcome struct {
	text   string // Markdown for the page
	detail string // Markdown that is only printed
	aims   []aim  // only printed
	plot   string // SVG, "" for none
}

func contestSection(name, anchor string, make func(*google) contest, aims func(contest, [][]result) []aim) section {
	return section{name, anchor, func(e effort, g *google) (outcome, error) {
		c := make(g)
		results := c.measure(e)
		return outcome{text: c.table(results), detail: c.details(results), aims: aims(c, results)}, nil
	}}
}

var sections = []section{
	contestSection("parse", "parsing-robotstxt", parseContest, parseAims),
	contestSection("verdict", "a-verdict", verdictContest, verdictAims),
	{"growth", "more-and-more-rules", func(e effort, g *google) (outcome, error) {
		c := growthContest(g)
		e.rounds = max(1, e.rounds/2)
		results := c.measure(e)
		return outcome{detail: c.table(results), aims: growthAims(c, results), plot: growthPlot(c, results)}, nil
	}},
	{"agreement", "do-they-answer-the-same", func(e effort, g *google) (outcome, error) {
		peers, kinds := verdictAgreement(e.questions, g)
		return outcome{text: agreementTable(peers, kinds), detail: differenceExamples(kinds)}, nil
	}},
	contestSection("identify", "identifying-a-client", func(*google) contest { return identifyContest() }, identifyAims),
	{"requests", "whole-requests", func(e effort, _ *google) (outcome, error) {
		duels, err := fightAll(e)
		if len(duels) == 0 {
			return outcome{}, err
		}
		return outcome{requestsTable(duels, e), requestsDetails(duels), requestsAims(duels), requestsPlot(duels)}, err
	}},
	{"chain", "", func(e effort, _ *google) (outcome, error) {
		handlers, err := startChains()
		if err != nil {
			return outcome{}, err
		}
		defer handlers.stop()
		c := handlers.contest()
		results := c.measure(e)
		return outcome{text: c.table(results), detail: c.details(results), aims: chainAims(c, results)}, nil
	}},
	{"start", "starting", func(e effort, _ *google) (outcome, error) { return startTable(e) }},
	{"memory", "memory", func(e effort, _ *google) (outcome, error) {
		text, err := memoryTable(e)
		return outcome{text: text}, err
	}},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	o, wanted, err := parseArguments(args)
	if err != nil {
		return err
	}
	e := full
	if o.short {
		e = short
	}
	e = e.times(o.effort)
	testing.Init() // for testing.Benchmark
	if err := flag.Set("test.benchtime", e.benchTime.String()); err != nil {
		return err
	}
	var g *google
	var errs []error
	if o.google != "" {
		if g, err = startGoogle(o.google, abseil()...); err != nil {
			errs = append(errs, fmt.Errorf("no figures of Google's C++: %w", err))
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		defer g.stop()
	}
	for _, s := range sections {
		if len(wanted) > 0 && !slices.Contains(wanted, s.name) {
			continue
		}
		// An error in one table does not stop the measurement of the others.
		if err := s.run(e, g, o); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.name, err))
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", s.name, err)
		}
	}
	return errors.Join(errs...)
}

// run measures a section, prints the result and inserts it into the page.
func (s section) run(e effort, g *google, o options) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v\n%s", reason, debug.Stack())
		}
	}()
	circumstances, begin := machine(o.short), time.Now()
	shown, err := s.render(e, g)
	if shown.text == "" && shown.detail == "" {
		return err
	}
	fmt.Printf("## %s\n\n%s\n%s\n%s\n\n", s.name, shown.text, shown.detail, circumstances)
	if len(shown.aims) > 0 {
		fmt.Println(aimsHead + aimLines(shown.aims))
	}
	fmt.Fprintf(os.Stderr, "bench: %s took %v\n", s.name, time.Since(begin).Round(time.Second))
	if o.write {
		return errors.Join(err, s.write(shown, circumstances))
	}
	return err
}

type options struct {
	short, write bool
	effort       float64
	google       string
}

// parseArguments returns the options and the names of the requested tables. No names
// means all tables.
func parseArguments(args []string) (o options, wanted []string, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.BoolVar(&o.short, "short", false, "a few seconds a table")
	flags.BoolVar(&o.write, "write", false, "put the tables into "+page)
	flags.Float64Var(&o.effort, "effort", 1, "how many times as many rounds")
	flags.StringVar(&o.google, "google", "", "a checkout of github.com/google/robotstxt to compile and measure, too; it takes g++ and Abseil")
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: go run . [-short] [-write] [-effort N] [-google DIR] [%s ...]\n", strings.Join(sectionNames(), "|"))
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return o, nil, err
	}
	for _, name := range flags.Args() {
		if !slices.Contains(sectionNames(), name) {
			return o, nil, fmt.Errorf("no table %q; there are %s", name, strings.Join(sectionNames(), ", "))
		}
	}
	return o, flags.Args(), nil
}

func sectionNames() []string {
	names := make([]string, len(sections))
	for i, s := range sections {
		names[i] = s.name
	}
	return names
}
