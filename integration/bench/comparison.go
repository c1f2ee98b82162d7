package main

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// comparison is a table of libraries or servers that do the same work on the same inputs.
type comparison struct {
	name string // heading of the first column
	rows []comparisonRow
}

type comparisonRow struct {
	name  string
	bytes int // input size per operation, 0 to omit the throughput
	cells []cell
}

// cell is one library or server on one input. Ratios are relative to the first cell of a
// row.
type cell struct {
	who string
	run func() // one operation

	// timed measures an operation of another process for about the given time. It
	// returns the CPU time per operation in nanoseconds, 0 after an error. If timed is
	// set, run is nil.
	timed func(time.Duration) float64
}

// result holds the measurements of a cell.
type result struct {
	rounds []float64 // CPU time per operation in each round, in nanoseconds
	ns     spread    // of rounds
	ratio  spread    // to the time of the first cell in the same round
	allocs int64     // per operation, negative if unknown
}

// spread is a median with its quartiles.
type spread struct{ low, middle, high float64 }

// spreadOf returns the spread of figures, which must not be empty. It sorts figures.
func spreadOf(figures []float64) spread {
	slices.Sort(figures)
	at := func(share float64) float64 {
		position := share * float64(len(figures)-1)
		below := int(position)
		above := min(below+1, len(figures)-1)
		return figures[below] + (position-float64(below))*(figures[above]-figures[below])
	}
	return spread{at(0.25), at(0.5), at(0.75)}
}

// over returns the difference in time per operation between two results of a row, round
// by round.
func (r *result) over(other *result) spread {
	more := make([]float64, len(r.rounds))
	for i := range more {
		more[i] = r.rounds[i] - other.rounds[i]
	}
	return spreadOf(more)
}

// measure runs all cells in rounds. In each round the cells of a row run one after the
// other, so that other load on the machine affects all of them. The order rotates from
// round to round.
func (c comparison) measure(e effort) [][]result {
	results := make([][]result, len(c.rows))
	_ = flag.Set("test.benchtime", e.benchTime.String()) // for testing.Benchmark; testing.Init defines the flag
	for i, row := range c.rows {
		ns := make([][]float64, len(row.cells))
		ratios := make([][]float64, len(row.cells))
		results[i] = make([]result, len(row.cells))
		for round := range e.rounds {
			figures := make([]float64, len(row.cells))
			for turn := range row.cells {
				at := (turn + round) % len(row.cells)
				if timed := row.cells[at].timed; timed != nil {
					figures[at], results[i][at].allocs = timed(e.benchTime), -1
					continue
				}
				r := testing.Benchmark(func(b *testing.B) { row.cells[at].bench(b, row.bytes) })
				figures[at] = r.Extra[cpuMetric]
				results[i][at].allocs = r.AllocsPerOp()
			}
			for at, figure := range figures {
				ns[at] = append(ns[at], figure)
				ratios[at] = append(ratios[at], figure/figures[0])
			}
		}
		for at := range row.cells {
			results[i][at].rounds, results[i][at].ns = ns[at], spreadOf(slices.Clone(ns[at]))
			results[i][at].ratio = spreadOf(ratios[at])
		}
	}
	return results
}

func (c cell) bench(b *testing.B, bytes int) {
	c.run() // warm up
	if bytes > 0 {
		b.SetBytes(int64(bytes))
	}
	b.ReportAllocs()
	before := cpuTime()
	for b.Loop() {
		c.run()
	}
	b.ReportMetric(float64(cpuTime()-before)/float64(b.N), cpuMetric)
}

// cpuMetric is the CPU time per operation. It is more reliable than wall-clock time on
// a machine with other load.
const cpuMetric = "cpu-ns/op"

// over returns an operation that calls do with the next element of list each time.
func over(list []string, do func(string)) func() {
	next := 0
	return func() {
		do(list[next])
		if next++; next == len(list) {
			next = 0
		}
	}
}

// at returns the result of who in a row. Both must exist.
func (c comparison) at(results [][]result, row, who string) result {
	i := slices.IndexFunc(c.rows, func(r comparisonRow) bool { return r.name == row })
	return results[i][slices.IndexFunc(c.rows[i].cells, func(c cell) bool { return c.who == who })]
}

// run measures all cells and returns the table.
func (c comparison) run(e effort) string { return c.table(c.measure(e)) }

// table renders results as Markdown with a line for each row and a column for each
// library or server. The first column shows time and allocations. The others show their time
// and its ratio to the first.
func (c comparison) table(results [][]result) string {
	var b strings.Builder
	b.WriteString("| ")
	b.WriteString(c.name)
	for _, cell := range c.rows[0].cells {
		b.WriteString(" | " + cell.who)
	}
	b.WriteString(" |\n|---" + strings.Repeat("|---", len(c.rows[0].cells)) + "|\n")
	for i, row := range c.rows {
		b.WriteString("| " + row.name)
		for at, r := range results[i] {
			switch {
			case r.ns.middle == 0:
				b.WriteString(" | not measured")
			case at > 0:
				fmt.Fprintf(&b, " | %s, **%s**", duration(r.ns.middle), times(r.ratio.middle))
			case row.bytes > 0:
				fmt.Fprintf(&b, " | %s, %.0f MB/s, %s", duration(r.ns.middle), float64(row.bytes)/r.ns.middle*1e3, count(r.allocs))
			default:
				fmt.Fprintf(&b, " | %s, %s", duration(r.ns.middle), count(r.allocs))
			}
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// count renders a number of allocations.
func count(allocs int64) string {
	if allocs == 1 {
		return "1 alloc"
	}
	return thousands(int(allocs)) + " allocs"
}

// thousands renders a whole number with thousands separators.
func thousands(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 1_000_000:
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return fmt.Sprintf("%d,%03d,%03d", n/1_000_000, n/1000%1000, n%1000)
}

func times(ratio float64) string { return "×" + figure(ratio) }

// figure renders a number with two significant digits.
func figure(f float64) string {
	switch {
	case f >= 9.95:
		digits := int(math.Pow10(max(0, int(math.Log10(f))-1)))
		n := int(math.Round(f/float64(digits))) * digits
		return thousands(n)
	case f >= 0.995:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// duration renders nanoseconds with three significant digits.
func duration(ns float64) string {
	unit, name := 1.0, "ns"
	switch {
	case ns >= float64(time.Second):
		unit, name = float64(time.Second), "s"
	case ns >= float64(time.Millisecond):
		unit, name = float64(time.Millisecond), "ms"
	case ns >= float64(time.Microsecond):
		unit, name = float64(time.Microsecond), "µs"
	}
	value := ns / unit
	digits := max(0, 2-int(math.Floor(math.Log10(max(value, 1)))))
	return fmt.Sprintf("%.*f %s", digits, value, name)
}
