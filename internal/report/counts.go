package report

import (
	"time"
)

// Counts are numbers of requests. The five verdicts sum up to Requests.
type Counts struct {
	Requests uint64 `json:"requests"`
	Allowed  uint64 `json:"allowed"`
	// Disallowed are the requests outside robots.txt.
	Disallowed uint64 `json:"disallowed"`
	// ViolationsBlocked are those of them that were blocked, and ViolationsOnlyLogged those
	// that only_log lets pass. All others passed and would be blocked in enforce.
	ViolationsBlocked    uint64 `json:"violations_blocked"`
	ViolationsOnlyLogged uint64 `json:"violations_only_logged"`
	// Stale are those that only a version forbids which the crawler need not
	// know yet.
	Stale   uint64 `json:"stale"`
	Exempt  uint64 `json:"exempt"`
	Unknown uint64 `json:"unknown"`
	// Blocked are the requests that were answered in place of the site:
	// disallowed ones, unknown ones where everything is closed while the
	// robots.txt cannot be read, and those under a false name where the
	// configuration says so.
	Blocked uint64 `json:"blocked"`
	// WouldBlock are the requests that passed and that enforce would have
	// blocked.
	WouldBlock uint64 `json:"would_block"`
	// Slowed are the requests that were answered 429 since they came too early.
	Slowed uint64 `json:"slowed"`
}

// Compliance is the share of requests within robots.txt among those that were
// judged by one (allowed, stale and disallowed), in percent from 0 to 100; nil if
// there were none.
func (c Counts) Compliance() *float64 {
	judged := c.Allowed + c.Stale + c.Disallowed
	if judged == 0 {
		return nil
	}
	percent := 100 * float64(judged-c.Disallowed) / float64(judged)
	return &percent
}

// Series are counts over time.
type Series struct {
	StepSeconds int `json:"step_seconds"` // 60, 3600 or 86400
	// Points are all steps of the window, the earliest first, also those
	// without a request. They sum up to the counts of the view.
	Points []Point `json:"points"`
}

// Point is what was counted in one step.
type Point struct {
	At time.Time `json:"at"` // the start of the step
	Counts
}

// Sparkline is a Series in short: one number for each step.
type Sparkline struct {
	StepSeconds int      `json:"step_seconds"`
	Requests    []uint64 `json:"requests"`
	Disallowed  []uint64 `json:"disallowed"`
}
