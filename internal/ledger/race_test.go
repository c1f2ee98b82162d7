//go:build race

package ledger

// raceEnabled says that everything takes long.
const raceEnabled = true
