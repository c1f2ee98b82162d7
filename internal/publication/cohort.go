package publication

import (
	"crypto/sha256"
	"encoding/binary"
)

// IsServed reports whether the crawlers of an operator are served a change that so many
// percent of the operators have. It is the same on every instance and for all crawlers
// of the operator, more percent only add to it, and another change begins with others.
// Operators that search come last, at 100 percent.
func (c *Change) IsServed(operator string, searches bool, percent int) bool {
	switch {
	case operator == "": // only those take part who are verified
		return false
	case percent >= 100 || searches:
		return percent >= 100
	}
	sum := sha256.Sum256([]byte(c.ID + " " + operator))
	return binary.BigEndian.Uint64(sum[:])%100 < uint64(max(percent, 0))
}
