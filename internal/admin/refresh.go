package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/report"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// PolicyRefresh is the result of fetching a robots.txt on request.
type PolicyRefresh struct {
	Outcome Outcome `json:"outcome"`
	// Reason explains why the fetch failed or waits. It is empty for other outcomes.
	Reason string `json:"why,omitempty"`
	// VersionBefore is the SHA-256 of the robots.txt before the fetch, or "" if there was none.
	VersionBefore string `json:"before,omitempty"`
	// RuleCountBefore is the number of rules in VersionBefore.
	RuleCountBefore int `json:"rules_before"`
}

// Outcome is the outcome of fetching a robots.txt on request.
type Outcome string

// These are the outcomes of a refresh.
const (
	Changed   Outcome = "changed"   // Changed means that a new version was fetched, or the first one.
	Unchanged Outcome = "unchanged" // Unchanged means that the fetched file equals the cached version.
	Failed    Outcome = "failed"    // Failed means that the fetch failed. The previous state still applies.
	Waiting   Outcome = "waiting"   // Waiting means that the fetch needs a request of a client.
)

// httpStatus returns the HTTP status for a response with this report: 202 if the fetch waits for a
// client's request, otherwise 200.
func (r PolicyReport) httpStatus() int {
	if r.Refresh != nil && r.Refresh.Outcome == Waiting {
		return http.StatusAccepted
	}
	return http.StatusOK
}

// refreshPolicy fetches a robots.txt and returns its new state with the outcome.
func refreshPolicy(ctx context.Context, running RunningConfig, e *policy.Entry) PolicyReport {
	before := e.State()
	err := running.Fetch(ctx, e)
	after := e.State()
	outcome := refreshOutcome(before, after)
	if err != nil {
		e.MakeDue()
		after = e.State() // The response contains the error of the state.
		outcome.Outcome, outcome.Reason = Waiting, err.Error()
	}
	answer := newPolicyReport(running, e, after, time.Now())
	answer.Refresh = &outcome
	return answer
}

// refreshOutcome returns the outcome of a fetch by comparing the states before and after the fetch.
func refreshOutcome(before, after *policy.State) PolicyRefresh {
	o := PolicyRefresh{Outcome: Changed}
	if before != nil && before.Current != nil {
		o.VersionBefore, o.RuleCountBefore = hashText(before.Current), before.Current.Robots.RuleCount()
	}
	switch {
	case after == nil || after.FailureCount > 0:
		o.Outcome, o.Reason = Failed, report.DescribeFetchProblem(after)
	case o.VersionBefore != "" && after.Current != nil && before.Current.Hash == after.Current.Hash && before.Current.Status == after.Current.Status:
		o.Outcome = Unchanged
	}
	return o
}
