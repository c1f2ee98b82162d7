package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// place is where a mutant is, as explanations name it.
func (m mutant) place() string { return m.file + " " + m.function }

// A change is a mutant by what it changes, wherever the line stands.
type change struct{ place, before, after string }

func (m mutant) change() change { return change{m.place(), m.before, m.after} }

// explained is why mutants change nothing. One that is explained twice is in a function
// that has its line twice.
type explained map[change][]string

// readExplanations reads what is explained of a package. Each block has a line with a file and
// a function, pairs of lines, before and after, and what is true of all of these.
func readExplanations(dir, of string) (explained, error) {
	name := filepath.Join(dir, path.Base(of)+".txt")
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := make(explained)
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		if err := all.read(block); err != nil {
			return nil, fmt.Errorf("%s: %w in %q", name, err, block)
		}
	}
	return all, nil
}

// read takes in a block.
func (e explained) read(block string) error {
	lines := strings.Split(strings.TrimSpace(block), "\n")
	place, lines := lines[0], lines[1:]
	var changes []change
	for len(lines) >= 2 {
		before, isBefore := strings.CutPrefix(lines[0], "- ")
		after, isAfter := strings.CutPrefix(lines[1], "+ ")
		if !isBefore || !isAfter {
			break
		}
		changes, lines = append(changes, change{place, before, after}), lines[2:]
	}
	why := strings.Join(lines, "\n\t")
	switch {
	case len(changes) == 0:
		return errors.New("no change")
	case strings.TrimSpace(why) == "":
		return errors.New("no reason")
	}
	for _, c := range changes {
		e[c] = append(e[c], why)
	}
	return nil
}

// take returns why a mutant changes nothing, if that is explained, and uses it up.
func (e explained) take(m mutant) (why string, ok bool) {
	all := e[m.change()]
	if len(all) == 0 {
		return "", false
	}
	e[m.change()] = all[1:]
	return all[0], true
}

// rotten returns what is explained of mutants that are not made any more.
func (e explained) rotten(made []mutant) (what []string) {
	left := make(map[change]int)
	for c, why := range e {
		left[c] = len(why)
	}
	for _, m := range made {
		left[m.change()]--
	}
	for c, n := range left {
		if n > 0 {
			what = append(what, fmt.Sprintf("%s\n\t- %s\n\t+ %s\n\tis explained, but no such change is made", c.place, c.before, c.after))
		}
	}
	slices.Sort(what)
	return what
}
