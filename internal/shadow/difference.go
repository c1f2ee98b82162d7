package shadow

// Difference is how the verdict of the text that is tried differs from that of the
// text in force.
type Difference uint8

// The differences.
const (
	Same           Difference = iota
	NewlyForbidden            // it forbids what is allowed now
	NewlyAllowed              // it allows what is forbidden now

	// NumDifferences is how many there are.
	NumDifferences = 3
)

// String returns the word for d that labels, logs and JSON use.
func (d Difference) String() string {
	return [NumDifferences]string{"same", "newly_forbidden", "newly_allowed"}[d]
}

// DifferenceOf compares the verdict of the text in force with that of the text that
// is tried.
func DifferenceOf(allowed, wouldAllow bool) Difference {
	switch {
	case allowed && !wouldAllow:
		return NewlyForbidden
	case wouldAllow && !allowed:
		return NewlyAllowed
	}
	return Same
}
