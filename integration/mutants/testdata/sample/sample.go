// Package sample has what is changed and what is not.
package sample

import (
	"time"
	clock "time"
)

const limit = 3 + 4 // a constant is not changed

type stack[T any] struct{ all []T }

func (s *stack[T]) full() bool { return len(s.all) > limit } // nor is a generic function

func atLeast[T int | float64](a, b T) bool { return a >= b }

// clamp returns the nearest number from low on, below high.
func clamp(n, low, high int) int {
	if n < low {
		return low
	}
	if high--; n > high {
		n = high
	}
	return n
}

// between reports whether a time is after one and before another, which may be zero.
func between(t, after, before time.Time) bool {
	return t.After(after) && (before.IsZero() ||
		t.Before(before)) // over two lines
}

// ahead is of a type of another package.
func ahead(n int, each clock.Duration) time.Duration { return time.Duration(n)*each - each/2%7 }

// count counts words. What a map holds has no address.
func count(words []string) (all map[string]int, most [2 * limit]int) {
	all = make(map[string]int)
	for i := 0; i < len(words); i++ {
		name := "w" + words[i] // no sum of numbers
		all[name]++
		most[0]++
	}
	return all, most
}
