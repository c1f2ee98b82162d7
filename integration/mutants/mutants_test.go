package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sample = "./integration/mutants/testdata/sample"

// mutantsOf returns which mutants a package has and the files that have them.
func mutantsOf(t *testing.T, name string) (map[string][]byte, []mutant) {
	t.Helper()
	p, err := load(name)
	if err != nil {
		t.Fatal(err)
	}
	return p.mutate()
}

// TestMutants holds what is changed of a sample, and into what, against the files beside it.
func TestMutants(t *testing.T) {
	golden, err := os.ReadFile("testdata/sample.mutants")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	_, mutants := mutantsOf(t, sample)
	var all strings.Builder
	for i, m := range mutants {
		if m.number != i+1 {
			t.Errorf("mutant %d has the number %d", i+1, m.number)
		}
		all.WriteString(m.String() + "\n")
	}
	if got := all.String(); got != string(golden) {
		t.Errorf("the sample has these mutants:\n%s", got)
	}
}

// TestExamine examines the sample, whose tests leave one function out and another to those that
// take long.
func TestExamine(t *testing.T) {
	t.Chdir("../..")
	for _, c := range []struct {
		slow    bool
		lived   []string // a part of the line after it was changed
		untrue  int
		reasons int
	}{
		{true, []string{"n <= low", "n >= high", "|| (before.IsZero() ||", "&& (before.IsZero() &&"}, 2, 2},
		{false, []string{"n <= low", "n >= high", "|| (before.IsZero() ||", "&& (before.IsZero() &&", "i <= len", "i >= len", "i--", "most[0]--"}, 1, 3},
	} {
		r, err := examine(sample, "integration/mutants/testdata/equivalent", c.slow, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.survivors) != len(c.lived) || len(r.untrue) != c.untrue || r.explained() != c.reasons || r.made != 15 {
			t.Errorf("%+v", r)
		}
		for _, part := range c.lived {
			found := false
			for _, s := range r.survivors {
				found = found || strings.Contains(s.after, part)
			}
			if !found {
				t.Errorf("slow %v: %s is not among the survivors", c.slow, part)
			}
		}
	}
}

// TestSort has a line that a function has twice, which is explained once or twice.
func TestSort(t *testing.T) {
	m := mutant{number: 1, file: "a.go", function: "f", before: "x < y", after: "x <= y"}
	again := m
	again.number = 2
	for _, tc := range []struct {
		lived             map[int]bool
		reasons           int
		explained, untrue int
	}{
		{map[int]bool{}, 0, 0, 0},
		{map[int]bool{}, 1, 0, 1},
		{map[int]bool{1: true}, 1, 1, 0},
		{map[int]bool{2: true}, 1, 1, 0},
		{map[int]bool{2: true}, 2, 1, 1},
		{map[int]bool{1: true, 2: true}, 1, 1, 0},
		{map[int]bool{1: true, 2: true}, 2, 2, 0},
	} {
		why := make(explained)
		for range tc.reasons {
			why[m.change()] = append(why[m.change()], "y is never x")
		}
		var r result
		r.sort([]mutant{m, again}, tc.lived, why)
		if len(r.survivors) != len(tc.lived) || r.explained() != tc.explained || len(r.untrue) != tc.untrue {
			t.Errorf("%d reasons, of which %v live: %+v", tc.reasons, tc.lived, r)
		}
	}
}

// TestExplanations fails where a mutant is explained that the source does not have any more.
func TestExplanations(t *testing.T) {
	t.Chdir("../..")
	names, err := filepath.Glob(explanations + "/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		of := strings.TrimSuffix(filepath.Base(name), ".txt")
		if _, err := os.Stat(of); err != nil {
			of = "internal/" + of
		}
		_, mutants := mutantsOf(t, "./"+of)
		explained, err := readExplanations(explanations, of)
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range explained.rotten(mutants) {
			t.Errorf("%s: %s", of, what)
		}
	}
}

// TestExplanationsAreRead has what is no explanation refused.
func TestExplanationsAreRead(t *testing.T) {
	for _, c := range []struct{ block, want string }{
		{"a.go f\n- x < y\n+ x <= y\nx is never y.", ""},
		{"a.go f\n- x < y\n+ x <= y\n- x > y\n+ x >= y\nx is never y,\n  by its making.", ""},
		{"a.go f\n- x < y\n+ x <= y\n ", "no reason"},
		{"a.go f\n- x < y\nx is never y.", "no change"},
		{"a.go f", "no change"},
	} {
		err := make(explained).read(c.block)
		if got := errorText(err); got != c.want {
			t.Errorf("%q: %q, want %q", c.block, got, c.want)
		}
	}
	e := make(explained)
	twice := "a.go f\n- x < y\n+ x <= y\n"
	m := mutant{file: "a.go", function: "f", before: "x < y", after: "x <= y"}
	for _, why := range []string{"first", "second"} {
		if err := e.read(twice + why); err != nil {
			t.Fatal(err)
		}
	}
	if what := e.rotten([]mutant{m}); len(what) != 1 {
		t.Errorf("of a line that is there once and explained twice: %q", what)
	}
	for _, want := range []string{"first", "second", ""} {
		if why, ok := e.take(m); why != want || ok != (want != "") {
			t.Errorf("it is explained by %q, want %q", why, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestRows has the row of a package replaced, and no other.
func TestRows(t *testing.T) {
	const page = "a\n" + begin + "| package |\n|---|\n| `p` | 1 | 2 | 3 |\n| `internal/p` | 4 | 5 | 6 |\n" + end + "| `p` | b\n"
	r := result{path: "p", made: 1234, survivors: []survivor{{why: "x"}, {}}}
	want := strings.Replace(page, "| 1 | 2 | 3 |", "| 1,234 | 2 | 1 |", 1)
	if got, ok := withRow(page, r); !ok || got != want {
		t.Errorf("it is %q", got)
	}
	for _, none := range []string{"| `p` | 1 |\n", begin + "| `q` | 1 |\n" + end, begin + "| `p` | 1 |\n"} {
		if _, ok := withRow(none, r); ok {
			t.Errorf("%q has a row", none)
		}
	}
}
