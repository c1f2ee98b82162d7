package replay

import (
	"cmp"
	"slices"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// countResponse counts the response to a judged request. Responses of the guard itself are left
// out. Only Caddy's log marks the guard's responses. In other logs a blocked request looks like a
// refusal by the site.
func (w *worker) countResponse(c *crawlerCount) {
	status, ok := responseaudit.StatusOf(w.record.Status)
	if !ok || w.record.Guarded {
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
	c.answers.ByKindAndStatus[kind][status]++
	c.answers.Bytes += uint64(w.record.Bytes)
}

// AnswersReport has the numbers of responses to a crawler by verdict.
type AnswersReport struct {
	Allowed   responseaudit.Answers `json:"allowed"`
	Forbidden responseaudit.Answers `json:"forbidden"`
	Unruled   responseaudit.Answers `json:"unruled"` // requests of an exempt crawler
	RobotsTxt responseaudit.Answers `json:"robots_txt"`
	Bytes     uint64                `json:"bytes"` // 0 if the log has no sizes
}

// FindingReport describes responses that contradict the robots.txt.
type FindingReport struct {
	What    responseaudit.FindingKind `json:"what"`
	Token   string                    `json:"token"`
	Class   string                    `json:"class"`
	Of      uint64                    `json:"of"`
	Bad     uint64                    `json:"bad"`
	Percent int                       `json:"percent"`
	Status  string                    `json:"status"` // the most frequent status of the bad responses
	Text    string                    `json:"text"`
}

// responsesReport returns the report of a crawler, or nil if the log has no status.
func responsesReport(c *responseaudit.Counts) *AnswersReport {
	if c.Total() == 0 {
		return nil
	}
	return &AnswersReport{c.Answers(responseaudit.KindAllowed), c.Answers(responseaudit.KindForbidden), c.Answers(responseaudit.KindNoRule), c.Answers(responseaudit.KindRobotsTxt), c.Bytes}
}

// fillAnswers adds a finding for each contradiction between responses and the robots.txt, the
// largest share first.
func (r *Report) fillAnswers(p *plan, t *tally) {
	r.Findings = []FindingReport{}
	for id := range t.crawlers {
		c, key := &t.crawlers[id], p.crawlers.key(int32(id))
		if key.name == otherName || !key.class.IsCrawler() {
			continue
		}
		for _, f := range responseaudit.FindIn(c.answers, key.class == uaident.Search) {
			r.Findings = append(r.Findings, FindingReport{
				What: f.Kind, Token: key.name, Class: key.class.String(), Of: f.Total, Bad: f.Bad, Percent: f.Percent(), Status: f.MostFrequent.String(),
				Text: key.name + ": " + f.Description(),
			})
		}
	}
	slices.SortFunc(r.Findings, func(a, b FindingReport) int {
		return cmp.Or(cmp.Compare(b.Percent, a.Percent), cmp.Compare(b.Of, a.Of), cmp.Compare(a.Token, b.Token), cmp.Compare(a.What, b.What))
	})
}
