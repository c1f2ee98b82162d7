package report

import (
	"time"
)

// RequestCounts are numbers of requests. Requests is the sum of Allowed, Disallowed, Stale, Exempt
// and Unknown.
type RequestCounts struct {
	Requests uint64 `json:"requests"`
	Allowed  uint64 `json:"allowed"`
	// Disallowed is the number of requests that robots.txt disallows.
	Disallowed uint64 `json:"disallowed"`
	// ViolationsBlocked is the number of disallowed requests that the guard blocked, and
	// ViolationsOnlyLogged the number that the option only_log let pass. All other disallowed
	// requests passed, and would be blocked in the mode enforce.
	ViolationsBlocked    uint64 `json:"violations_blocked"`
	ViolationsOnlyLogged uint64 `json:"violations_only_logged"`
	// Stale is the number of requests that the current version disallows, but that passed because
	// an earlier version allows them.
	Stale   uint64 `json:"stale"`
	Exempt  uint64 `json:"exempt"`
	Unknown uint64 `json:"unknown"`
	// Blocked is the number of requests that the guard refused: disallowed requests, requests to a
	// site that is closed because its robots.txt cannot be fetched, and spoofed clients if
	// configured.
	Blocked uint64 `json:"blocked"`
	// WouldBlock is the number of requests that passed, but that the mode enforce would have
	// blocked.
	WouldBlock uint64 `json:"would_block"`
	// Slowed is the number of requests that the guard refused with 429 because they came too early.
	Slowed uint64 `json:"slowed"`
}

// Compliance returns 100 * (Allowed + Stale) / (Allowed + Stale + Disallowed), a percentage.
// Compliance returns nil if the sum is 0.
func (c RequestCounts) Compliance() *float64 {
	judged := c.Allowed + c.Stale + c.Disallowed
	if judged == 0 {
		return nil
	}
	percent := 100 * float64(judged-c.Disallowed) / float64(judged)
	return &percent
}

// TimeSeries has the numbers of requests in consecutive steps of time.
type TimeSeries struct {
	StepSeconds int `json:"step_seconds"` // 60, 3600 or 86400
	// Points has a point for each step of the window, oldest first, also for steps without
	// requests. The sum of the points is the total of the view.
	Points []TimeSeriesPoint `json:"points"`
}

// TimeSeriesPoint has the numbers of requests in one step.
type TimeSeriesPoint struct {
	At time.Time `json:"at"` // start of the step
	RequestCounts
}

// Sparkline is a TimeSeries with only two numbers for each step, for a small chart.
type Sparkline struct {
	StepSeconds int      `json:"step_seconds"`
	Requests    []uint64 `json:"requests"`
	Disallowed  []uint64 `json:"disallowed"`
}
