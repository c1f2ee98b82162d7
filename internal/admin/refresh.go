package admin

import (
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// PolicyRefresh is the result of a refresh.
type PolicyRefresh struct {
	Outcome Outcome `json:"outcome"`
	// Why is the reason in words if the refresh failed or is waiting, else "".
	Why string `json:"why,omitempty"`
	// Before is the version before the refresh, or "".
	Before string `json:"before,omitempty"`
	// RulesBefore is the number of rules in Before.
	RulesBefore int `json:"rules_before"`
}

// Outcome is the outcome of a refresh.
type Outcome string

// Outcomes.
const (
	Changed   Outcome = "changed"   // a new version, or the first one
	Unchanged Outcome = "unchanged" // the same version
	Failed    Outcome = "failed"    // the fetch failed; the previous state still applies
	Waiting   Outcome = "waiting"   // the fetch needs a request of a client
)

// refreshPolicy fetches a robots.txt and responds with the result.
func refreshPolicy(w http.ResponseWriter, r *http.Request, running Running, e *policy.Entry) error {
	before := e.State()
	err := running.Fetch(r.Context(), e)
	after := e.State()
	status, outcome := http.StatusOK, refreshOutcome(before, after)
	if err != nil {
		e.MakeDue()
		after = e.State() // the state has the error
		status, outcome.Outcome, outcome.Why = http.StatusAccepted, Waiting, err.Error()
	}
	answer := policyReport(running, e, after, time.Now())
	answer.Refresh = &outcome
	return writeJSON(w, status, answer)
}

// refreshOutcome compares the states before and after a fetch.
func refreshOutcome(before, after *policy.State) PolicyRefresh {
	o := PolicyRefresh{Outcome: Changed}
	if before != nil && before.Current != nil {
		o.Before, o.RulesBefore = versionName(before.Current), before.Current.Robots.RuleCount()
	}
	switch {
	case after == nil || after.Failures > 0:
		o.Outcome, o.Why = Failed, report.Trouble(after)
	case o.Before != "" && after.Current != nil && before.Current.Hash == after.Current.Hash && before.Current.Status == after.Current.Status:
		o.Outcome = Unchanged
	}
	return o
}
