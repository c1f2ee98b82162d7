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

// ResponseAudit compares the responses of sites to crawlers with the robots.txt of each site, and
// shows the visits from AI assistants. The numbers cover whole hours, or whole days if the window
// begins before the last 48 hours.
type ResponseAudit struct {
	ViewHeader
	// Findings are the current contradictions, whatever the window: verified crawlers first, then
	// by Percent, highest first.
	Findings []AuditFinding `json:"findings"`
	// Crawlers are the crawlers with responses in the window, most responses first.
	Crawlers []CrawlerResponses `json:"crawlers"`
	// Referrals are the operators whose AI crawlers fetched pages, or whose assistants sent
	// visitors in the window, most visits first.
	Referrals []responseaudit.Referral `json:"referrals"`
}

// AuditFinding is a contradiction between the responses to a crawler and the robots.txt of a site.
type AuditFinding struct {
	// Kind is pages_refused, pages_fail, robots_fails or robots_withheld.
	Kind           responseaudit.FindingKind `json:"what"`
	Site           string                    `json:"site"`
	Token          string                    `json:"token"`
	Class          string                    `json:"class"`
	Identity       string                    `json:"identity"` // Identity is verified or claimed.
	IsSearchEngine bool                      `json:"search"`   // IsSearchEngine is true for a search engine.
	// Since is the hour in which the contradiction began. CountedSince is the time from which
	// responses were counted.
	Since         time.Time `json:"since"`
	CountedSince  time.Time `json:"from"`
	Total         uint64    `json:"of"`  // Total is the number of responses.
	Contradicting uint64    `json:"bad"` // Contradicting is the number of responses that contradict the robots.txt.
	Percent       int       `json:"percent"`
	Status        string    `json:"status"` // Status is the most frequent status of the contradicting responses.
	Text          string    `json:"text"`   // Text is the finding as a sentence.
}

// CrawlerResponses counts the responses to one crawler by kind of request and status.
type CrawlerResponses struct {
	Token    string                     `json:"token"`
	Operator string                     `json:"operator,omitempty"`
	Class    string                     `json:"class"`
	Identity string                     `json:"identity"`
	Answers  uint64                     `json:"answers"`
	Bytes    uint64                     `json:"bytes"` // Bytes is the size of the bodies of all responses.
	Allowed  responseaudit.StatusCounts `json:"allowed"`
	// Forbidden counts requests that robots.txt forbids and that the guard let pass.
	Forbidden responseaudit.StatusCounts `json:"forbidden"`
	// Unruled counts requests that no robots.txt decided: requests of exempt clients, and requests
	// to a site whose robots.txt is unknown.
	Unruled   responseaudit.StatusCounts `json:"unruled"`
	RobotsTxt responseaudit.StatusCounts `json:"robots_txt"`
}

// ResponseAudit returns the response audit for the sites and crawlers that match the filter.
func (s *Source) ResponseAudit(f Filter) ResponseAudit {
	v := s.applyFilter(f)
	p := ResponseAudit{ViewHeader: v.header(), Findings: s.AuditFindings(f), Crawlers: []CrawlerResponses{}}
	if p.Findings == nil {
		p.Findings = []AuditFinding{}
	}
	// A key of sums has only the fields Token, Operator, Class and Identity.
	sums := make(map[CrawlerResponses]*responseaudit.ResponseCounts)
	for _, e := range v.entries {
		key := CrawlerResponses{Token: e.row.Token, Class: e.row.Class, Identity: e.row.Identity.String()}
		if known := v.lookupCrawler(e.row.Token); known != nil {
			key.Operator = known.Operator
		}
		if sums[key] == nil {
			sums[key] = new(responseaudit.ResponseCounts)
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
	p.Referrals = v.countReferrals(p.Crawlers)
	return p
}

// responseResolution returns the resolution in which responses are counted for the whole window.
func (v *filteredSource) responseResolution() ledger.Resolution {
	if v.from.Before(v.now.Truncate(time.Hour).Add(-(ledger.ResponseHours - 1) * time.Hour)) {
		return ledger.Days
	}
	return ledger.Hours
}

// responsesInWindow returns the responses to a crawler in the window.
func (v *filteredSource) responsesInWindow(row *ledger.Row) responseaudit.ResponseCounts {
	r := v.responseResolution()
	return row.SumResponses(r, v.from, v.end.Add(-1))
}

// countReferrals returns the pages that the AI crawlers of each operator fetched, and the visits
// from its assistants.
func (v *filteredSource) countReferrals(crawlers []CrawlerResponses) []responseaudit.Referral {
	var visits [responseaudit.NumAssistants]uint64
	for i := range visits {
		for _, site := range v.Ledger.Sites {
			if v.filter.Site == "" || v.filter.Site == site.Name {
				visits[i] += site.SumVisits(responseaudit.AssistantName(i), v.responseResolution(), v.from, v.end.Add(-1))
			}
		}
	}
	fetches := make(map[string]uint64)
	for _, c := range crawlers {
		if pages := c.Answers - c.RobotsTxt.Total(); pages > 0 && c.Operator != "" && strings.HasPrefix(c.Class, "ai_") {
			fetches[c.Operator] += pages
		}
	}
	return responseaudit.Referrals(visits, fetches)
}

// AuditFindings returns the current contradictions. AuditFindings omits spoofed clients and clients
// that share a token.
func (s *Source) AuditFindings(f Filter) (found []AuditFinding) {
	withheld := make(map[[3]string]bool) // Withheld has these already, so robots_fails is skipped.
	for i := range s.Withheld {
		x := newWithheldFinding(&s.Withheld[i], s.Now)
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
			for _, cell := range row.Responses.Series(ledger.Hours) {
				steps = append(steps, responseaudit.HourCounts{Start: cell.StartTime(ledger.Hours), ResponseCounts: cell.Counts()})
			}
			search := judge.IsSearchEngine(class, row.Identity)
			for _, x := range responseaudit.FindCurrent(steps, search, s.Now) {
				if x.Kind == responseaudit.RobotsFails && withheld[[3]string{site.Name, row.Token, row.Identity.String()}] {
					continue
				}
				found = append(found, newAuditFinding(site.Name, row, search, x))
			}
		}
	}
	slices.SortStableFunc(found, func(a, b AuditFinding) int {
		return cmp.Or(cmp.Compare(b.Identity, a.Identity), cmp.Compare(b.Percent, a.Percent))
	})
	return found
}

func newWithheldFinding(w *responseaudit.WithheldFinding, now time.Time) AuditFinding {
	identity := verify.Claimed
	if w.IsVerified {
		identity = verify.Verified
	}
	status, _ := responseaudit.ClassifyStatus(w.Status) // No response means a server error.
	if w.Status == 0 {
		status = responseaudit.StatusServerError
	}
	return AuditFinding{
		Kind: responseaudit.RobotsWithheld, Site: w.Site, Token: w.Token, Class: w.Class, Identity: identity.String(), IsSearchEngine: w.IsSearchEngine,
		Since: w.Since, CountedSince: w.Since, Total: w.Responses, Contradicting: w.Responses, Percent: 100, Status: status.String(), Text: w.Description(now),
	}
}

func newAuditFinding(site string, row *ledger.Row, search bool, x responseaudit.Finding) AuditFinding {
	f := AuditFinding{
		Kind: x.Kind, Site: site, Token: row.Token, Class: row.Class, Identity: row.Identity.String(), IsSearchEngine: search,
		Since: x.Since, CountedSince: x.CountedSince, Total: x.Total, Contradicting: x.Contradicting, Percent: x.Percent(), Status: x.MostFrequent.String(),
	}
	f.Text = fmt.Sprintf("%s %s: %s, since %s", f.Identity, f.Token, x.Description(), x.Since.UTC().Format("15:04 UTC on 2 January"))
	return f
}
