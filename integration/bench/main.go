// Command bench compares Robots Guard with its peers on this machine and prints
// tables in Markdown: all of them, or those it is given.
//
//	go run . [-short] [-write] [table ...]
//
// -short takes a few seconds a table and shows that it works, no more. -write
// puts the tables into docs/benchmarks.md, between the markers that stand there.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// effort says how long to measure.
type effort struct {
	rounds    int           // of each cell
	benchTime time.Duration // of a cell in one round
	questions int           // of each kind in the tables of agreement
	load      time.Duration // of a server under load in one round
	loads     int           // rounds of it
	sites     int           // the most in the table of memory
}

var (
	full  = effort{rounds: 9, benchTime: 200 * time.Millisecond, questions: 1000, load: 2 * time.Second, loads: 21, sites: 100_000}
	short = effort{rounds: 3, benchTime: 10 * time.Millisecond, questions: 100, load: 300 * time.Millisecond, loads: 3, sites: 1000}
)

var started = time.Now()

// section is one table of the page.
type section struct {
	name   string
	render func(effort) (string, error)
}

func contestSection(name string, make func() contest) section {
	return section{name, func(e effort) (string, error) {
		c := make()
		return c.table(c.measure(e.rounds)), nil
	}}
}

var sections = []section{
	contestSection("parse", parseContest),
	contestSection("verdict", verdictContest),
	{"agreement", func(e effort) (string, error) {
		peers, kinds := verdictAgreement(e.questions)
		return agreementTable("kind of question", "we forbid", peers, kinds), nil
	}},
	contestSection("identify", identifyContest),
	{"identify-agreement", func(e effort) (string, error) {
		peers, kinds := identifyAgreement(e.questions)
		return agreementTable("kind of client", "we say robot", peers, kinds), nil
	}},
	{"requests", requestsTable},
	{"chain", func(e effort) (string, error) {
		c, err := startChains()
		if err != nil {
			return "", err
		}
		defer c.stop()
		return c.contest().table(c.contest().measure(e.rounds)), nil
	}},
	{"memory", memoryTable},
	{"contention", contentionTable},
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
	if err := flag.Set("test.benchtime", e.benchTime.String()); err != nil {
		return err
	}
	for _, s := range sections {
		if len(wanted) > 0 && !slices.Contains(wanted, s.name) {
			continue
		}
		circumstances := machine(o.short)
		text, err := s.render(e)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		text += "\n" + circumstances + "\n"
		fmt.Printf("## %s\n\n%s\n", s.name, text)
		if o.write {
			if err := rewrite(page, s.name, text); err != nil {
				return err
			}
		}
	}
	return nil
}

type options struct{ short, write bool }

// parseArguments returns the options and which tables are wanted; none means all.
func parseArguments(args []string) (o options, wanted []string, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.BoolVar(&o.short, "short", false, "a few seconds a table")
	flags.BoolVar(&o.write, "write", false, "put the tables into "+page)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: go run . [-short] [-write] [%s ...]\n", strings.Join(sectionNames(), "|"))
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
