package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/parity"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// Parity compares the responses to crawlers with the robots.txt, and lists visits from
// assistants. Windows consist of whole hours, or of whole days beyond two days.
type Parity struct {
	Head
	// Findings are the current findings, whatever the window: verified crawlers first, then by
	// share.
	Findings []ParityFinding `json:"findings"`
	// Crawlers are the crawlers with responses in the window, most responses first.
	Crawlers []ParityCrawler `json:"crawlers"`
	// Referrals are operators with visits from assistants or fetches by AI crawlers in the
	// window, most visits first.
	Referrals []parity.Referral `json:"referrals"`
}

// ParityFinding is a contradiction between a crawler's responses and the robots.txt of a
// site.
type ParityFinding struct {
	What     parity.FindingKind `json:"what"` // pages_refused, pages_fail, robots_fails or robots_withheld
	Site     string             `json:"site"`
	Token    string             `json:"token"`
	Class    string             `json:"class"`
	Identity string             `json:"identity"` // verified or claimed
	Search   bool               `json:"search"`   // search engine
	// Since is the hour in which the contradiction began, and From the start of the counts.
	Since   time.Time `json:"since"`
	From    time.Time `json:"from"`
	Of      uint64    `json:"of"`  // responses
	Bad     uint64    `json:"bad"` // contradicting responses
	Percent int       `json:"percent"`
	Status  string    `json:"status"` // most frequent status of these
	Text    string    `json:"text"`   // the finding as a sentence
}

// ParityCrawler is the responses to a crawler.
type ParityCrawler struct {
	Token     string         `json:"token"`
	Operator  string         `json:"operator,omitempty"`
	Class     string         `json:"class"`
	Identity  string         `json:"identity"`
	Answers   uint64         `json:"answers"`
	Bytes     uint64         `json:"bytes"` // of their bodies
	Allowed   parity.Answers `json:"allowed"`
	Forbidden parity.Answers `json:"forbidden"` // forbidden, but passed
	Unruled   parity.Answers `json:"unruled"`   // no robots.txt
	RobotsTxt parity.Answers `json:"robots_txt"`
}

// Parity returns the response audit.
func (s *Source) Parity(f Filter) Parity {
	v := s.view(f)
	p := Parity{Head: v.head(), Findings: s.ParityFindings(f), Crawlers: []ParityCrawler{}}
	if p.Findings == nil {
		p.Findings = []ParityFinding{}
	}
	sums := make(map[ParityCrawler]*parity.Counts) // keyed by name only
	for _, e := range v.entries {
		key := ParityCrawler{Token: e.row.Token, Class: e.row.Class, Identity: e.row.Identity.String()}
		if known := v.lookup(e.row.Token); known != nil {
			key.Operator = known.Operator
		}
		if sums[key] == nil {
			sums[key] = new(parity.Counts)
		}
		sums[key].Add(v.answered(e.row))
	}
	for c, sum := range sums {
		if c.Answers, c.Bytes = sum.Total(), sum.Bytes; c.Answers == 0 {
			continue
		}
		c.Allowed, c.Forbidden = sum.Answers(parity.KindAllowed), sum.Answers(parity.KindForbidden)
		c.Unruled, c.RobotsTxt = sum.Answers(parity.KindNoRule), sum.Answers(parity.KindRobotsTxt)
		p.Crawlers = append(p.Crawlers, c)
	}
	slices.SortFunc(p.Crawlers, func(a, b ParityCrawler) int {
		return cmp.Or(cmp.Compare(b.Answers, a.Answers), cmp.Compare(a.Token, b.Token), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Identity, b.Identity))
	})
	p.Referrals = v.referrals(p.Crawlers)
	return p
}

// answerSteps returns the resolution for responses.
func (v *view) answerSteps() ledger.Resolution {
	if v.from.Before(v.now.Truncate(time.Hour).Add(-(ledger.AnswerHours - 1) * time.Hour)) {
		return ledger.Days
	}
	return ledger.Hours
}

// answered returns a crawler's responses in the window.
func (v *view) answered(row *ledger.Row) parity.Counts {
	r := v.answerSteps()
	return row.Answered(r).Sum(r, v.from, v.end.Add(-1))
}

// referrals returns the fetches of crawlers and the visits from assistants.
func (v *view) referrals(crawlers []ParityCrawler) []parity.Referral {
	var visits [parity.NumAssistants]uint64
	for i := range visits {
		for _, site := range v.Ledger.Sites {
			if seen := site.Visits[parity.AssistantName(i)]; seen != nil && (v.filter.Site == "" || v.filter.Site == site.Name) {
				visits[i] += seen.Sum(v.answerSteps(), v.from, v.end.Add(-1))
			}
		}
	}
	fetches := make(map[string]uint64)
	for _, c := range crawlers {
		if c.Operator != "" && strings.HasPrefix(c.Class, "ai_") {
			fetches[c.Operator] += c.Answers
		}
	}
	return parity.Referrals(visits, fetches)
}

// ParityFindings returns the current contradictions. It omits spoofed clients and shared
// names.
func (s *Source) ParityFindings(f Filter) (found []ParityFinding) {
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
			var steps []parity.HourCounts
			for _, cell := range row.Answered(ledger.Hours) {
				steps = append(steps, parity.HourCounts{At: cell.At(ledger.Hours), Counts: cell.Counts()})
			}
			search := judge.IsSearchEngine(class, row.Identity)
			for _, x := range parity.Find(steps, search, s.Now) {
				if x.Kind == parity.RobotsFails && withheld[[3]string{site.Name, row.Token, row.Identity.String()}] {
					continue
				}
				found = append(found, parityFinding(site.Name, row, search, x))
			}
		}
	}
	slices.SortStableFunc(found, func(a, b ParityFinding) int {
		return cmp.Or(cmp.Compare(b.Identity, a.Identity), cmp.Compare(b.Percent, a.Percent))
	})
	return found
}

func withheldFinding(w *parity.Withheld, now time.Time) ParityFinding {
	identity := verify.Claimed
	if w.Verified {
		identity = verify.Verified
	}
	status, _ := parity.StatusOf(w.Status) // no response is a server error
	if w.Status == 0 {
		status = parity.StatusServerError
	}
	return ParityFinding{
		What: parity.RobotsWithheld, Site: w.Site, Token: w.Token, Class: w.Class, Identity: identity.String(), Search: w.Search,
		Since: w.Since, From: w.Since, Of: w.Responses, Bad: w.Responses, Percent: 100, Status: status.String(), Text: w.Description(now),
	}
}

func parityFinding(site string, row *ledger.Row, search bool, x parity.Finding) ParityFinding {
	f := ParityFinding{
		What: x.Kind, Site: site, Token: row.Token, Class: row.Class, Identity: row.Identity.String(), Search: search,
		Since: x.Since, From: x.CountedSince, Of: x.Total, Bad: x.Bad, Percent: x.Percent(), Status: x.MostFrequent.String(),
	}
	f.Text = fmt.Sprintf("%s %s: %s, since %s", f.Identity, f.Token, x.Description(), x.Since.UTC().Format("15:04 UTC on 2 January"))
	return f
}
