package publish

import "time"

// FileObserver is told what a Publisher does. It is called by many goroutines at once.
type FileObserver interface {
	// Composed is told how long a text took, its check included.
	Composed(took time.Duration)
	// TextAsked is told of a request for a text that should be there, and whether it
	// was composed before.
	TextAsked(found bool)
	// TextFailed is told where a text failed: StageBase, StageRules, StageCompose or StageGate.
	TextFailed(stage string)
}

// Where a text can fail.
const (
	StageBase    = "base"    // the base cannot be read
	StageRules   = "rules"   // a list of rules cannot be read or used
	StageCompose = "compose" // no text can be made of base and rules
	StageGate    = "gate"    // the gate stops it
)

// nobody observes nothing.
type nobody struct{}

func (nobody) Composed(time.Duration) {}
func (nobody) TextAsked(bool)         {}
func (nobody) TextFailed(string)      {}
