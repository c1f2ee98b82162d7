//go:build race

package policy

// raceEnabled reports whether sync.Pool drops items at random.
const raceEnabled = true
