// Command bench compares the performance of Robots Guard with that of similar libraries
// and servers on this machine. It prints tables in Markdown: all tables, or the tables
// named as arguments.
//
//	go run . [-short] [-write] [-google DIR] [table ...]
//
// -short takes a few seconds per table. It shows only that the benchmark works. -write
// inserts each table into docs/benchmarks.md, between its markers, as soon as the table
// is measured. -google names a checkout of Google's library, which bench then compiles
// and measures as well.
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

var started = time.Now()

// section is a measurement with its own table on the page.
type section struct {
	name   string
	anchor string // heading of the section on the page
	render func(effort, *google) (outcome, error)
}

// outcome is the result of a section.
type outcome struct {
	text string      // Markdown
	plot *growthPlot // nil for none
}

// table returns a section without a plot.
func table(name, anchor string, render func(effort, *google) (string, error)) section {
	return section{name, anchor, func(e effort, g *google) (outcome, error) {
		text, err := render(e, g)
		return outcome{text: text}, err
	}}
}

var sections = []section{
	table("parse", "parsing-robotstxt", func(e effort, g *google) (string, error) { return parseComparison(g).run(e), nil }),
	table("verdict", "a-verdict", func(e effort, g *google) (string, error) { return verdictComparison(g).run(e), nil }),
	table("agreement", "do-they-answer-the-same", func(e effort, g *google) (string, error) {
		return agreementTable(verdictAgreement(e.questions, g)), nil
	}),
	table("identify", "identifying-a-client", func(e effort, _ *google) (string, error) { return identifyComparison().run(e), nil }),
	table("requests", "whole-requests", func(e effort, _ *google) (string, error) {
		results, err := measurePairs(e)
		if len(results) == 0 {
			return "", err
		}
		return requestsTable(results, e), err
	}),
	table("chain", "without-the-network", func(e effort, _ *google) (string, error) { return chainTable(e) }),
	{"growth", "growth", func(e effort, _ *google) (outcome, error) { return measureGrowth(e) }},
	table("start", "starting", func(e effort, _ *google) (string, error) { return startTable(e) }),
	table("memory", "memory", func(e effort, _ *google) (string, error) { return memoryTable(e) }),
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
	testing.Init() // for testing.Benchmark
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
	result, err := s.render(e, g)
	if result.text == "" {
		return err
	}
	fmt.Printf("## %s\n\n%s\n%s\n\n", s.name, result.text, circumstances)
	fmt.Fprintf(os.Stderr, "bench: %s took %v\n", s.name, time.Since(begin).Round(time.Second))
	if o.write {
		return errors.Join(err, s.write(result, circumstances))
	}
	return err
}

type options struct {
	short, write bool
	google       string
}

// parseArguments returns the options and the names of the requested tables. No names
// means all tables.
func parseArguments(args []string) (o options, wanted []string, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.BoolVar(&o.short, "short", false, "a few seconds per table, with rough figures")
	flags.BoolVar(&o.write, "write", false, "write the tables to "+page)
	flags.StringVar(&o.google, "google", "", "also measure this checkout of github.com/google/robotstxt; requires g++ and Abseil")
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: go run . [-short] [-write] [-google DIR] [%s ...]\n", strings.Join(sectionNames(), "|"))
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return o, nil, err
	}
	for _, name := range flags.Args() {
		if !slices.Contains(sectionNames(), name) {
			return o, nil, fmt.Errorf("unknown table %q; the tables are %s", name, strings.Join(sectionNames(), ", "))
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
