package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// PolicyRefresh is the result of a refresh.
type PolicyRefresh struct {
	Outcome Outcome `json:"outcome"`
	// Reason is the reason in words if the refresh failed or is waiting, else "".
	Reason string `json:"why,omitempty"`
	// VersionBefore is the version before the refresh, or "".
	VersionBefore string `json:"before,omitempty"`
	// RuleCountBefore is the number of rules in VersionBefore.
	RuleCountBefore int `json:"rules_before"`
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

// status returns the status of a response with this report.
func (r PolicyReport) status() int {
	if r.Refresh != nil && r.Refresh.Outcome == Waiting {
		return http.StatusAccepted
	}
	return http.StatusOK
}

// refreshPolicy fetches a robots.txt and returns the result.
func refreshPolicy(ctx context.Context, running Running, e *policy.Entry) PolicyReport {
	before := e.State()
	err := running.Fetch(ctx, e)
	after := e.State()
	outcome := refreshOutcome(before, after)
	if err != nil {
		e.MakeDue()
		after = e.State() // the state has the error
		outcome.Outcome, outcome.Reason = Waiting, err.Error()
	}
	answer := policyReport(running, e, after, time.Now())
	answer.Refresh = &outcome
	return answer
}

// refreshOutcome compares the states before and after a fetch.
func refreshOutcome(before, after *policy.State) PolicyRefresh {
	o := PolicyRefresh{Outcome: Changed}
	if before != nil && before.Current != nil {
		o.VersionBefore, o.RuleCountBefore = versionName(before.Current), before.Current.Robots.RuleCount()
	}
	switch {
	case after == nil || after.FailureCount > 0:
		o.Outcome, o.Reason = Failed, report.DescribeFetchProblem(after)
	case o.VersionBefore != "" && after.Current != nil && before.Current.Hash == after.Current.Hash && before.Current.Status == after.Current.Status:
		o.Outcome = Unchanged
	}
	return o
}
