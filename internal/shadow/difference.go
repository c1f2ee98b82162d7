package shadow

// Difference is the difference between the verdict of the file on trial and the file in force.
type Difference uint8

// The differences.
const (
	Same           Difference = iota
	NewlyForbidden            // allowed in force, disallowed on trial
	NewlyAllowed              // disallowed in force, allowed on trial

	// NumDifferences is the number of differences.
	NumDifferences = 3
)

// String returns the word for d in labels, logs and JSON.
func (d Difference) String() string {
	return [NumDifferences]string{"same", "newly_forbidden", "newly_allowed"}[d]
}

// DifferenceOf compares the verdicts of the file in force and the file on trial.
func DifferenceOf(allowed, wouldAllow bool) Difference {
	switch {
	case allowed && !wouldAllow:
		return NewlyForbidden
	case wouldAllow && !allowed:
		return NewlyAllowed
	}
	return Same
}
