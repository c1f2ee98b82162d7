package replay

import (
	"cmp"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// countResponse counts the status of the response to a judged request. countResponse ignores
// responses of robots_guard, which only Caddy's log marks. In other logs a blocked request looks
// like a refusal by the site.
func (w *worker) countResponse(c *crawlerCount) {
	status, ok := responseaudit.ClassifyStatus(w.record.Status)
	if !ok || w.record.AnsweredByGuard {
		return
	}
	kind := responseaudit.KindNoRule
	switch {
	case w.result.Reason == judge.ReasonRobotsTxt:
		kind = responseaudit.KindRobotsTxt
	case w.result.Verdict == judge.Disallowed:
		kind = responseaudit.KindForbidden
	case w.result.Verdict == judge.Allowed:
		kind = responseaudit.KindAllowed
	}
	c.responses.ByKindAndStatus[kind][status]++
	c.responses.Bytes += uint64(w.record.Bytes)
}

// ResponsesReport has the numbers of responses to a crawler, by verdict on the request and by
// status.
type ResponsesReport struct {
	Allowed      responseaudit.StatusCounts `json:"allowed"`
	Forbidden    responseaudit.StatusCounts `json:"forbidden"`
	WithoutRules responseaudit.StatusCounts `json:"unruled"` // WithoutRules counts requests of an exempt crawler.
	RobotsTxt    responseaudit.StatusCounts `json:"robots_txt"`
	Bytes        uint64                     `json:"bytes"` // Bytes is 0 if the log has no sizes.
}

// FindingReport describes a contradiction between the robots.txt and the responses to a crawler,
// such as errors for allowed URLs.
type FindingReport struct {
	Kind          responseaudit.FindingKind `json:"what"`
	Token         string                    `json:"token"`
	Class         string                    `json:"class"`
	Total         uint64                    `json:"of"`
	Contradicting uint64                    `json:"bad"`
	Percent       int                       `json:"percent"`
	// Status is the most frequent status of the bad responses.
	Status string `json:"status"`
	Text   string `json:"text"`
}

// newResponsesReport returns the report about the responses to a crawler, or nil if the log has no
// status.
func newResponsesReport(c *responseaudit.ResponseCounts) *ResponsesReport {
	if c.Total() == 0 {
		return nil
	}
	return &ResponsesReport{c.StatusCounts(responseaudit.KindAllowed), c.StatusCounts(responseaudit.KindForbidden), c.StatusCounts(responseaudit.KindNoRule), c.StatusCounts(responseaudit.KindRobotsTxt), c.Bytes}
}

// fillFindings sets r.Findings. The finding with the largest share of contradicting responses comes
// first.
func (r *Report) fillFindings(p *replayPlan, t *tally) {
	r.Findings = []FindingReport{}
	for id := range t.crawlers {
		c, key := &t.crawlers[id], p.crawlers.lookUpKey(int32(id))
		if key.name == otherName || !key.class.IsCrawler() {
			continue
		}
		for _, f := range responseaudit.FindInTotalCounts(c.responses, key.class == uaident.Search) {
			r.Findings = append(r.Findings, FindingReport{
				Kind: f.Kind, Token: key.name, Class: key.class.String(), Total: f.Total, Contradicting: f.Contradicting, Percent: f.Percent(), Status: f.MostFrequent.String(),
				Text: key.name + ": " + f.Description(),
			})
		}
	}
	slices.SortFunc(r.Findings, func(a, b FindingReport) int {
		return cmp.Or(cmp.Compare(b.Percent, a.Percent), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Token, b.Token), cmp.Compare(a.Kind, b.Kind))
	})
}
