package report

import (
	"time"
)

// Counts are numbers of requests. Requests is the sum of the five verdicts.
type Counts struct {
	Requests uint64 `json:"requests"`
	Allowed  uint64 `json:"allowed"`
	// Disallowed are the requests outside robots.txt.
	Disallowed uint64 `json:"disallowed"`
	// ViolationsBlocked counts disallowed requests that were blocked, and
	// ViolationsOnlyLogged those that only_log exempted. All other disallowed requests
	// passed, and enforce would block them.
	ViolationsBlocked    uint64 `json:"violations_blocked"`
	ViolationsOnlyLogged uint64 `json:"violations_only_logged"`
	// Stale counts requests that the current version disallows and an earlier version allows.
	Stale   uint64 `json:"stale"`
	Exempt  uint64 `json:"exempt"`
	Unknown uint64 `json:"unknown"`
	// Blocked counts requests that the guard refused: disallowed requests, requests without a
	// readable robots.txt if the site is closed for that time, and spoofed clients by
	// configuration.
	Blocked uint64 `json:"blocked"`
	// WouldBlock counts requests that passed but that enforce would have blocked.
	WouldBlock uint64 `json:"would_block"`
	// Slowed counts requests that were refused as too early with 429.
	Slowed uint64 `json:"slowed"`
}

// Compliance returns the share of requests that were not disallowed among the allowed, stale
// and disallowed requests, in percent. It returns nil if there are none.
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
	// Points are all steps of the window, oldest first, including steps without requests.
	// Their sum is the counts of the view.
	Points []Point `json:"points"`
}

// Point is the counts of one step.
type Point struct {
	At time.Time `json:"at"` // start of the step
	Counts
}

// Sparkline is a short Series with one number a step.
type Sparkline struct {
	StepSeconds int      `json:"step_seconds"`
	Requests    []uint64 `json:"requests"`
	Disallowed  []uint64 `json:"disallowed"`
}
