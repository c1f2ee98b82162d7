package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// ResponseAudit compares the responses to crawlers with the robots.txt, and lists visits from
// assistants. Windows consist of whole hours, or of whole days beyond two days.
type ResponseAudit struct {
	ViewHeader
	// Findings are the current findings, whatever the window: verified crawlers first, then by
	// share.
	Findings []AuditFinding `json:"findings"`
	// Crawlers are the crawlers with responses in the window, most responses first.
	Crawlers []CrawlerResponses `json:"crawlers"`
	// Referrals are operators with visits from assistants or fetches by AI crawlers in the
	// window, most visits first.
	Referrals []responseaudit.Referral `json:"referrals"`
}

// AuditFinding is a contradiction between a crawler's responses and the robots.txt of a
// site.
type AuditFinding struct {
	Kind           responseaudit.FindingKind `json:"what"` // pages_refused, pages_fail, robots_fails or robots_withheld
	Site           string                    `json:"site"`
	Token          string                    `json:"token"`
	Class          string                    `json:"class"`
	Identity       string                    `json:"identity"` // verified or claimed
	IsSearchEngine bool                      `json:"search"`   // search engine
	// Since is the hour in which the contradiction began, and From the start of counting.
	Since         time.Time `json:"since"`
	CountedSince  time.Time `json:"from"`
	Total         uint64    `json:"of"`  // responses
	Contradicting uint64    `json:"bad"` // contradicting responses
	Percent       int       `json:"percent"`
	Status        string    `json:"status"` // most frequent status of these
	Text          string    `json:"text"`   // the finding as a sentence
}

// CrawlerResponses contains the responses to a crawler.
type CrawlerResponses struct {
	Token     string                     `json:"token"`
	Operator  string                     `json:"operator,omitempty"`
	Class     string                     `json:"class"`
	Identity  string                     `json:"identity"`
	Answers   uint64                     `json:"answers"`
	Bytes     uint64                     `json:"bytes"` // of their bodies
	Allowed   responseaudit.StatusCounts `json:"allowed"`
	Forbidden responseaudit.StatusCounts `json:"forbidden"` // forbidden, but passed
	Unruled   responseaudit.StatusCounts `json:"unruled"`   // no robots.txt
	RobotsTxt responseaudit.StatusCounts `json:"robots_txt"`
}

// ResponseAudit returns the response audit.
func (s *Source) ResponseAudit(f Filter) ResponseAudit {
	v := s.view(f)
	p := ResponseAudit{ViewHeader: v.head(), Findings: s.AuditFindings(f), Crawlers: []CrawlerResponses{}}
	if p.Findings == nil {
		p.Findings = []AuditFinding{}
	}
	sums := make(map[CrawlerResponses]*responseaudit.Counts) // keyed by name only
	for _, e := range v.entries {
		key := CrawlerResponses{Token: e.row.Token, Class: e.row.Class, Identity: e.row.Identity.String()}
		if known := v.lookupCrawler(e.row.Token); known != nil {
			key.Operator = known.Operator
		}
		if sums[key] == nil {
			sums[key] = new(responseaudit.Counts)
		}
		sums[key].Add(v.responsesInWindow(e.row))
	}
	for c, sum := range sums {
		if c.Answers, c.Bytes = sum.Total(), sum.Bytes; c.Answers == 0 {
			continue
		}
		c.Allowed, c.Forbidden = sum.StatusCounts(responseaudit.KindAllowed), sum.StatusCounts(responseaudit.KindForbidden)
		c.Unruled, c.RobotsTxt = sum.StatusCounts(responseaudit.KindNoRule), sum.StatusCounts(responseaudit.KindRobotsTxt)
		p.Crawlers = append(p.Crawlers, c)
	}
	slices.SortFunc(p.Crawlers, func(a, b CrawlerResponses) int {
		return cmp.Or(cmp.Compare(b.Answers, a.Answers), cmp.Compare(a.Token, b.Token), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Identity, b.Identity))
	})
	p.Referrals = v.referrals(p.Crawlers)
	return p
}

// answerResolution returns the resolution for responses.
func (v *view) answerResolution() ledger.Resolution {
	if v.from.Before(v.now.Truncate(time.Hour).Add(-(ledger.AnswerHours - 1) * time.Hour)) {
		return ledger.Days
	}
	return ledger.Hours
}

// responsesInWindow returns a crawler's responses in the window.
func (v *view) responsesInWindow(row *ledger.Row) responseaudit.Counts {
	r := v.answerResolution()
	return row.SumAnswers(r, v.from, v.end.Add(-1))
}

// referrals returns the fetches of crawlers and the visits from assistants.
func (v *view) referrals(crawlers []CrawlerResponses) []responseaudit.Referral {
	var visits [responseaudit.NumAssistants]uint64
	for i := range visits {
		for _, site := range v.Ledger.Sites {
			if v.filter.Site == "" || v.filter.Site == site.Name {
				visits[i] += site.SumVisits(responseaudit.AssistantName(i), v.answerResolution(), v.from, v.end.Add(-1))
			}
		}
	}
	fetches := make(map[string]uint64)
	for _, c := range crawlers {
		if c.Operator != "" && strings.HasPrefix(c.Class, "ai_") {
			fetches[c.Operator] += c.Answers
		}
	}
	return responseaudit.Referrals(visits, fetches)
}

// AuditFindings returns the current contradictions, except of spoofed clients and shared
// names.
func (s *Source) AuditFindings(f Filter) (found []AuditFinding) {
	withheld := make(map[[3]string]bool) // already covered; skip robots_fails
	for i := range s.Withheld {
		x := withheldFinding(&s.Withheld[i], s.Now)
		if f.Site != "" && f.Site != x.Site || f.Class != "" && f.Class != x.Class || f.Identity != "" && f.Identity != x.Identity {
			continue
		}
		withheld[[3]string{x.Site, x.Token, x.Identity}] = true
		found = append(found, x)
	}
	for _, site := range s.Ledger.Sites {
		for _, row := range site.Rows {
			class, _ := uaident.ParseClass(row.Class)
			other := f.Site != "" && f.Site != site.Name || f.Class != "" && f.Class != row.Class || f.Identity != "" && f.Identity != row.Identity.String()
			if other || strings.HasPrefix(row.Token, "_") || !class.IsCrawler() || row.Identity != verify.Verified && row.Identity != verify.Claimed {
				continue
			}
			var steps []responseaudit.HourCounts
			for _, cell := range row.Answers.Series(ledger.Hours) {
				steps = append(steps, responseaudit.HourCounts{At: cell.StartTime(ledger.Hours), Counts: cell.Counts()})
			}
			search := judge.IsSearchEngine(class, row.Identity)
			for _, x := range responseaudit.Find(steps, search, s.Now) {
				if x.Kind == responseaudit.RobotsFails && withheld[[3]string{site.Name, row.Token, row.Identity.String()}] {
					continue
				}
				found = append(found, auditFinding(site.Name, row, search, x))
			}
		}
	}
	slices.SortStableFunc(found, func(a, b AuditFinding) int {
		return cmp.Or(cmp.Compare(b.Identity, a.Identity), cmp.Compare(b.Percent, a.Percent))
	})
	return found
}

func withheldFinding(w *responseaudit.Withheld, now time.Time) AuditFinding {
	identity := verify.Claimed
	if w.IsVerified {
		identity = verify.Verified
	}
	status, _ := responseaudit.StatusOf(w.Status) // no response is a server error
	if w.Status == 0 {
		status = responseaudit.StatusServerError
	}
	return AuditFinding{
		Kind: responseaudit.RobotsWithheld, Site: w.Site, Token: w.Token, Class: w.Class, Identity: identity.String(), IsSearchEngine: w.IsSearchEngine,
		Since: w.Since, CountedSince: w.Since, Total: w.Responses, Contradicting: w.Responses, Percent: 100, Status: status.String(), Text: w.Description(now),
	}
}

func auditFinding(site string, row *ledger.Row, search bool, x responseaudit.Finding) AuditFinding {
	f := AuditFinding{
		Kind: x.Kind, Site: site, Token: row.Token, Class: row.Class, Identity: row.Identity.String(), IsSearchEngine: search,
		Since: x.Since, CountedSince: x.CountedSince, Total: x.Total, Contradicting: x.Contradicting, Percent: x.Percent(), Status: x.MostFrequent.String(),
	}
	f.Text = fmt.Sprintf("%s %s: %s, since %s", f.Identity, f.Token, x.Description(), x.Since.UTC().Format("15:04 UTC on 2 January"))
	return f
}
