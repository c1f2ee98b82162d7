package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// estimate is a median with its 95 % confidence interval.
type estimate struct {
	low, middle, high float64
}

// fewestGroups is the minimum number of groups for a bootstrap. With fewer groups, the
// interval is the range of the figures.
const fewestGroups = 3

// estimateOf returns the median of all figures with an interval from a cluster
// bootstrap: it resamples first the groups, then the figures in each group. Differences
// between groups therefore widen the interval. The result is deterministic. Each group
// needs at least one figure. Without figures the result is the zero value.
func estimateOf(groups [][]float64) estimate {
	if len(groups) == 0 || len(groups[0]) == 0 {
		return estimate{}
	}
	all := spreadOf(slices.Concat(groups...))
	if len(groups) < fewestGroups {
		figures := slices.Concat(groups...)
		return estimate{slices.Min(figures), all.middle, slices.Max(figures)}
	}
	const draws = 2000
	random := rand.New(rand.NewPCG(1, 2))
	medians := make([]float64, draws)
	var drawn []float64
	for i := range medians {
		drawn = drawn[:0]
		for range groups {
			group := groups[random.IntN(len(groups))]
			for range group {
				drawn = append(drawn, group[random.IntN(len(group))])
			}
		}
		medians[i] = spreadOf(drawn).middle
	}
	slices.Sort(medians)
	return estimate{medians[draws/40], all.middle, medians[draws-1-draws/40]}
}

// String renders a ratio with its interval.
func (e estimate) String() string {
	if e == (estimate{}) {
		return "unknown"
	}
	return fmt.Sprintf("**%.3f** (%.3f to %.3f)", e.middle, e.low, e.high)
}
