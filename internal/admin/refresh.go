package admin

import (
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// PolicyRefresh says what came of reading a robots.txt.
type PolicyRefresh struct {
	Outcome Outcome `json:"outcome"`
	// Why it failed, or waits, in plain words; "" for the others.
	Why string `json:"why,omitempty"`
	// Before is the version that was in force before, "" for none.
	Before string `json:"before,omitempty"`
	// RulesBefore is the number of its rules.
	RulesBefore int `json:"rules_before"`
}

// Outcome is what came of reading a robots.txt.
type Outcome string

// Outcomes.
const (
	Changed   Outcome = "changed"   // there is another text than before, or a first one
	Unchanged Outcome = "unchanged" // the text is the same
	Failed    Outcome = "failed"    // it could not be read; what held before holds still
	Waiting   Outcome = "waiting"   // it takes a request of a client to read it
)

// readNow reads a robots.txt and answers with what came of that.
func readNow(w http.ResponseWriter, r *http.Request, running Running, e *policy.Entry) error {
	before := e.State()
	err := running.Fetch(r.Context(), e)
	after := e.State()
	status, outcome := http.StatusOK, outcomeOf(before, after)
	if err != nil {
		e.MakeDue()
		after = e.State() // which says so
		status, outcome.Outcome, outcome.Why = http.StatusAccepted, Waiting, err.Error()
	}
	answer := reportOf(running, e, after, time.Now())
	answer.Refresh = &outcome
	return writeJSON(w, status, answer)
}

// outcomeOf compares what was known of a robots.txt before and after it was read.
func outcomeOf(before, after *policy.State) PolicyRefresh {
	o := PolicyRefresh{Outcome: Changed}
	if before != nil && before.Good != nil {
		o.Before, o.RulesBefore = versionName(before.Good), before.Good.Robots.RuleCount()
	}
	switch {
	case after == nil || after.Failures > 0:
		o.Outcome, o.Why = Failed, report.Trouble(after)
	case o.Before != "" && after.Good != nil && before.Good.Hash == after.Good.Hash && before.Good.Status == after.Good.Status:
		o.Outcome = Unchanged
	}
	return o
}
