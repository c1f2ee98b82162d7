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
	// ViolationsBlocked is the number of blocked disallowed requests, and
	// ViolationsOnlyLogged the number exempted by only_log. All other disallowed requests
	// passed, and would be blocked by enforce.
	ViolationsBlocked    uint64 `json:"violations_blocked"`
	ViolationsOnlyLogged uint64 `json:"violations_only_logged"`
	// Stale is the number of requests disallowed by the current version and allowed by an
	// earlier version.
	Stale   uint64 `json:"stale"`
	Exempt  uint64 `json:"exempt"`
	Unknown uint64 `json:"unknown"`
	// Blocked is the number of requests refused by the guard: disallowed requests, requests
	// without a readable robots.txt if the site is closed meanwhile, and spoofed clients by
	// configuration.
	Blocked uint64 `json:"blocked"`
	// WouldBlock is the number of requests that passed, but would have been blocked by
	// enforce.
	WouldBlock uint64 `json:"would_block"`
	// Slowed is the number of requests refused as too early with 429.
	Slowed uint64 `json:"slowed"`
}

// Compliance returns the percentage of requests that were not disallowed among the allowed,
// stale and disallowed requests. It returns nil without requests.
func (c Counts) Compliance() *float64 {
	judged := c.Allowed + c.Stale + c.Disallowed
	if judged == 0 {
		return nil
	}
	percent := 100 * float64(judged-c.Disallowed) / float64(judged)
	return &percent
}

// Series are numbers of requests over time.
type Series struct {
	StepSeconds int `json:"step_seconds"` // 60, 3600 or 86400
	// Points are all steps of the window, oldest first, including steps without requests.
	// Their sum is the total of the view.
	Points []Point `json:"points"`
}

// Point has the numbers of one step.
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
