package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

const (
	page         = "docs/proof.md"
	explanations = "integration/mutants/equivalent"
)

func main() {
	slow := flag.Bool("slow", false, "run the tests also that -short leaves out, on what the others do not notice")
	write := flag.Bool("write", false, "write the rows of the packages to "+page)
	workers := flag.Int("workers", runtime.GOMAXPROCS(0), "how many mutants to try at the same time")
	flag.Parse()
	well := true
	for _, name := range flag.Args() {
		r, err := examine(name, explanations, *slow, *workers)
		if err == nil && *write {
			err = writeRow(page, r)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "mutants: %s: %v\n", name, err)
			os.Exit(1)
		}
		well = r.print() && well
	}
	if !well {
		os.Exit(1)
	}
}

// A result is what became of the mutants of a package.
type result struct {
	path      string // below the module's
	made      int
	survivors []survivor
	untrue    []string // explanations that are not true
}

// A survivor is a mutant that no test noticed.
type survivor struct {
	mutant
	why string // why it changes nothing, "" if nobody says
}

// examine tries all mutants of a package, of which some are explained in a directory.
func examine(name, explanations string, slow bool, workers int) (result, error) {
	p, err := load(name)
	if err != nil {
		return result{}, err
	}
	files, mutants := p.mutate()
	r := result{path: p.path, made: len(mutants)}
	explained, err := readExplanations(explanations, p.path)
	if err != nil {
		return r, err
	}
	r.untrue = explained.rotten(mutants)
	t, err := prepare(p, files, slow)
	if err != nil {
		return r, err
	}
	defer t.close()
	lived, err := t.try(mutants, workers)
	if err != nil {
		return r, err
	}
	r.sort(mutants, lived, explained)
	return r, nil
}

// sort tells survivors from mutants that are noticed, and looks for what is explained of
// either: of a line that a function has twice one may be noticed and the other change nothing.
func (r *result) sort(mutants []mutant, lived map[int]bool, explained explained) {
	for _, m := range mutants {
		if lived[m.number] {
			why, _ := explained.take(m)
			r.survivors = append(r.survivors, survivor{m, why})
		}
	}
	for _, m := range mutants {
		if lived[m.number] {
			continue
		}
		if _, ok := explained.take(m); ok {
			r.untrue = append(r.untrue, m.String()+"\n\tis explained, but a test notices it")
		}
	}
	slices.SortStableFunc(r.survivors, func(a, b survivor) int { return cmp.Or(strings.Compare(a.file, b.file), a.line-b.line) })
}

// explained returns how many of the survivors change nothing.
func (r result) explained() (n int) {
	for _, s := range r.survivors {
		if s.why != "" {
			n++
		}
	}
	return n
}

// print tells what was found, and reports whether all is well.
func (r result) print() bool {
	for _, s := range r.survivors {
		fmt.Printf("%s/%s\n\t%s\n", r.path, s.mutant, cmp.Or(s.why, "NOT EXPLAINED"))
	}
	for _, what := range r.untrue {
		fmt.Printf("%s/%s\n", r.path, what)
	}
	fmt.Printf("%s: %d changed, %d not noticed, %d of them explained\n", r.path, r.made, len(r.survivors), r.explained())
	return r.explained() == len(r.survivors) && len(r.untrue) == 0
}
