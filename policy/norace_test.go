//go:build !race

package policy

// raceEnabled says that sync.Pool drops things at random.
const raceEnabled = false
