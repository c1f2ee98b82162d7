package explain

import (
	"fmt"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Rate describes the request rate that a robots_guard permits a client.
type Rate struct {
	Mode string `json:"mode"` // Mode is observe or enforce.
	// CrawlDelaySeconds is the time between two requests by the Crawl-delay, in seconds, or 0 if no
	// Crawl-delay applies. ActionReason tells whether the server enforces the time.
	CrawlDelaySeconds float64 `json:"every,omitempty"`
	Limit             string  `json:"limit,omitempty"` // Limit is the configured limit, such as "GPTBot 30/1m".
	// ActionReason explains the action for requests over the limit.
	ActionReason string `json:"why"`
}

// reasonEnforced is the reason for a limit that is enforced.
const reasonEnforced = "requests above the limit get 429"

// describeRate returns the rate limit for a client, or nil if no limit applies to the request.
func (s *Site) describeRate(q *judge.Request, r *judge.Result, robots *policy.Robots) *Rate {
	if s.Rate == nil || r.Reason == judge.ReasonRobotsTxt || r.Reason == judge.ReasonExempt || r.Action == judge.Blocked {
		return nil
	}
	path, limit, delay := q.DecodedPath(), s.Rate.FirstLimitForClient(q.Client), judge.CrawlDelay(r.Group, q.Client.CrawlDelay()).Interval
	if !s.Rate.CountsRequest(q.Method, path, robots) {
		limit, delay = nil, 0
	}
	rules := s.Rate.RulesForClient(&q.Client, q.Verification, delay, limit)
	limited := &Rate{Mode: "observe", CrawlDelaySeconds: rules.CrawlDelay.Interval.Seconds()}
	if s.Rate.Enforce {
		limited.Mode = "enforce"
	}
	if limit != nil {
		limited.Limit = limit.StringWithConcurrent()
	}
	if limited.CrawlDelaySeconds == 0 && limit == nil {
		return nil
	}
	const passes = "requests above the limit are counted and pass"
	switch {
	case rules.Mode == rate.Observe && s.Rate.Enforce:
		limited.ActionReason = passes + ": search engines get 429 only with search enforce"
	case rules.Mode == rate.Observe:
		limited.ActionReason = passes
	case rules.IgnoresCrawlDelay && limit == nil:
		limited.ActionReason = passes + ": the crawler ignores Crawl-delay"
	case rules.IgnoresCrawlDelay && limited.CrawlDelaySeconds > 0:
		limited.ActionReason = reasonEnforced + "; the crawler ignores Crawl-delay"
	default:
		limited.ActionReason = reasonEnforced
	}
	if rules.Mode == rate.SlowSearch && strings.HasPrefix(limited.ActionReason, reasonEnforced) {
		limited.ActionReason += ", but at most one in twenty requests of the crawler in a day"
	}
	return limited
}

// printRate prints the rate limit, unless it is nil.
func (p *printer) printRate(r *Rate) {
	if r == nil {
		return
	}
	var asked []string
	if r.CrawlDelaySeconds > 0 {
		asked = append(asked, fmt.Sprintf("one request in %g seconds by Crawl-delay", r.CrawlDelaySeconds))
	}
	if r.Limit != "" {
		asked = append(asked, "limit "+r.Limit)
	}
	line := "rate " + r.Mode
	if len(asked) > 0 {
		line += ": " + strings.Join(asked, ", ") + ": " + r.ActionReason
	}
	p.printLine("%s", line)
}
