package placement

import (
	"slices"

	"go.uber.org/zap"
)

// warnAgain tells of guards to which requests come that another guard has counted.
func warnAgain(placed []*Placed, logger *zap.Logger) {
	for _, p := range placed {
		if p.Again {
			logger.Warn("robots_guard stands behind another one, and a request that comes to both counts twice, in metrics and on the dashboard; "+
				"give one of them a matcher that leaves out what the other is for, such as not path /private/*, or keep one",
				zap.String("site", p.Site()))
		}
	}
}

// isAgain reports whether some request certainly comes both to the guard at the end of the
// way and to one before it.
func (y *way) isAgain() bool {
	for b := y.before.nearestGuard(); b != nil; b = b.guard {
		if !b.answers && !slices.Contains(y.groups, b.group) && b.meets(y) && !y.isAnsweredBehind(b) {
			return true
		}
	}
	return false
}

// isAnsweredBehind reports whether all that comes to a handler is answered before the end of the way.
func (y *way) isAnsweredBehind(b *passed) bool {
	for p := y.before; p != nil && p != b; p = p.before {
		if p.answers && within(b.reach, p.reach) {
			return true
		}
	}
	return false
}
