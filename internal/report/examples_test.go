package report

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/lint"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestExamples keeps the examples of each view in testdata in step with the
// types.
func TestExamples(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 20, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	const (
		current = "2e36aa7f2b85bbd31e6cfe72f634569fef3a8e64e77656f2d2ca165b950ab07b"
		old     = "91c3f1f6a1b1ba9e21c8d2d46c5f1f36ff7d1f7a0b6fcb3a45b65d70d2a7f1a4"
	)
	percent := func(p float64) *float64 { return &p }
	head := ViewHeader{
		Filter: Filter{Window: Day}, Generated: now, From: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC), LedgerStart: ago(9 * 24 * time.Hour),
		To: now, CountedFrom: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC), PreviousFrom: time.Date(2026, 11, 19, 15, 0, 0, 0, time.UTC),
		Sites: []string{"_other", "example.com", "shop.example.com"}, Classes: []string{"ai_training", "crawler", "search"},
		Identities: []string{"claimed", "verified"},
	}
	series := func(step time.Duration, n int, of func(i int) RequestCounts) TimeSeries {
		s := TimeSeries{StepSeconds: int(step / time.Second)}
		from := now.Truncate(step).Add(-time.Duration(n-1) * step)
		for i := range n {
			s.Points = append(s.Points, TimeSeriesPoint{At: from.Add(time.Duration(i) * step), RequestCounts: of(i)})
		}
		return s
	}
	gptCounts := RequestCounts{Requests: 240, Allowed: 24, Disallowed: 192, Stale: 24, Blocked: 120, WouldBlock: 72, ViolationsBlocked: 120}
	bingCounts := RequestCounts{Requests: 480, Allowed: 480}
	otherCounts := RequestCounts{Requests: 30, Allowed: 20, Disallowed: 2, Exempt: 6, Unknown: 2, Blocked: 1, WouldBlock: 1, ViolationsBlocked: 1}
	allCounts := RequestCounts{Requests: 750, Allowed: 524, Disallowed: 194, Stale: 24, Exempt: 6, Unknown: 2, Blocked: 121, WouldBlock: 73, ViolationsBlocked: 121}
	spark := func(requests, disallowed uint64) Sparkline {
		s := Sparkline{StepSeconds: 3600}
		for range 24 {
			s.Requests, s.Disallowed = append(s.Requests, requests), append(s.Disallowed, disallowed)
		}
		return s
	}
	gptRead := &RobotsFetch{Site: "example.com", At: ago(30 * time.Hour), Status: 200, Version: old}
	gpt := Crawler{
		ID: "GPTBot", Token: "GPTBot", Operator: "OpenAI", Documentation: "https://developers.openai.com/api/docs/bots", Class: "ai_training", WildcardApplies: true,
		Identities: Identities{Claimed: 180, Verified: 60}, RequestCounts: gptCounts, Compliance: percent(20), Action: "blocked",
		FirstSeen: ago(9 * 24 * time.Hour), LastSeen: ago(time.Minute), ViolatingSince: ago(8 * 24 * time.Hour), RobotsFetch: gptRead, RequestsSinceFetch: 251,
		Rate: RequestRate{PerMinute: 12.4, PerMinuteOfDay: 3.1, PeakPerMinute: 31, CrawlDelay: 10, DelayLine: 5, CrawlDelaySupport: "undocumented", Exceeds: true}, Sparkline: spark(10, 8),
	}
	bing := Crawler{
		ID: "bingbot", Token: "bingbot", Operator: "Microsoft", Class: "search", WildcardApplies: true, Identities: Identities{Claimed: 480},
		RequestCounts: bingCounts, Compliance: percent(100), Action: "none", FirstSeen: ago(9 * 24 * time.Hour), LastSeen: ago(20 * time.Second),
		RobotsFetch: &RobotsFetch{Site: "example.com", At: ago(time.Hour), Status: 304, Current: true}, RequestsSinceFetch: 20,
		Rate: RequestRate{PerMinute: 0.4, PerMinuteOfDay: 0.2, PeakPerMinute: 2}, Sparkline: spark(20, 0),
	}
	other := Crawler{
		ID: "_other:crawler", Token: "_other", Class: "crawler", WildcardApplies: true, Identities: Identities{Claimed: 30}, RequestCounts: otherCounts,
		Compliance: percent(100 * 20.0 / 22), Action: "logged", FirstSeen: ago(8 * 24 * time.Hour), LastSeen: ago(2 * time.Hour),
		RequestsSinceFetch: 30, Sparkline: spark(1, 0),
		Names: []ClientNameCount{
			{Name: "ExampleMonitor", Class: "crawler", Estimate: Estimate{Count: 28, First: ago(8 * 24 * time.Hour), Last: ago(2 * time.Hour)}, Disallowed: 2},
			{Name: "NewBot", Class: "crawler", Estimate: Estimate{Count: 2, First: ago(4 * time.Hour), Last: ago(3 * time.Hour)}},
		},
	}
	estimate := Estimate{Count: 150, First: ago(8 * 24 * time.Hour), Last: ago(time.Minute)}
	rules := []RuleCount{
		{Site: "example.com", Rule: "Disallow: /", Line: 14, Group: "GPTBot", Version: current, Verdict: "disallowed", Estimate: estimate},
		{Site: "example.com", Rule: "Disallow: /drafts/", Line: 15, Group: "GPTBot", Version: current, Verdict: "stale", Estimate: Estimate{Count: 24, First: ago(29 * time.Hour), Last: ago(6 * time.Hour)}},
	}
	violations := []Violation{
		{Site: "example.com", Token: "GPTBot", Class: "ai_training", Identity: "claimed", Path: "/articles/1?page=2", Rule: "Disallow: /", Line: 14,
			Group: "GPTBot", Version: current, Verdict: "disallowed", BlockedAtMost: 40, Estimate: Estimate{Count: 90, Error: 3, First: ago(8 * 24 * time.Hour), Last: ago(time.Minute)}},
		{Site: "example.com", Token: "GPTBot", Class: "ai_training", Identity: "claimed", Path: "/drafts/a", Rule: "Disallow: /drafts/", Line: 15,
			Group: "GPTBot", Version: current, Verdict: "stale",
			Estimate: Estimate{Count: 24, First: ago(29 * time.Hour), Last: ago(6 * time.Hour)}},
	}
	samples := []Sample{
		{At: ago(time.Minute), Site: "example.com", Method: "GET", Path: "/articles/1?page=2", Verdict: "disallowed", Action: "blocked", Identity: "claimed",
			Rule: "Disallow: /", Line: 14, Version: current, Network: "192.0.2.0/24",
			UserAgent: "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)", VersionFetched: "old"},
	}
	gpt.AgainstPreference = &RequestsAgainstPreference{Class: "ai_training", Preference: "train-ai=n", Requests: 20, AfterFetch: 18}
	gpt.Previous, gpt.TopPath = &RequestCounts{Requests: 190, Allowed: 90, Disallowed: 100, Blocked: 60, WouldBlock: 40}, &violations[0]
	agents := []UserAgent{{UserAgent: "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)", Estimate: Estimate{Count: 240, First: ago(9 * 24 * time.Hour), Last: ago(time.Minute)}}}
	networks := []NetworkCount{{Network: "192.0.2.0/24", Identity: "claimed", Estimate: Estimate{Count: 180, First: ago(9 * 24 * time.Hour), Last: ago(time.Minute)}}}
	health := RobotsHealth{
		State: OK, Authority: "https://example.com", Source: "server", Status: 200, Version: current, RuleCount: 5, FirstFetched: ago(28 * time.Hour),
		LastFetched: ago(4 * time.Minute), NextFetch: now.Add(5 * time.Minute), Findings: FindingCounts{Warnings: 1},
	}

	marks := []SiteChange{
		{At: ago(28 * time.Hour), Site: "example.com", Kind: ledger.RobotsChange, From: old, To: current},
		{At: ago(6 * time.Hour), Site: "example.com", Kind: ledger.ModeChange, From: "monitor", To: "enforce"},
	}
	golden(t, "summary.json", Summary{
		Changes:    marks,
		ViewHeader: head, RequestCounts: allCounts, Previous: &RequestCounts{Requests: 700, Allowed: 600, Disallowed: 100, Blocked: 60, WouldBlock: 40}, Compliance: percent(100 * 548.0 / 742), Crawlers: 3,
		SitesNow: []SiteSummary{
			{Site: "_other", RequestCounts: otherCounts, Hosts: []HostCount{{Host: "old.example.net", Estimate: Estimate{Count: 30, First: ago(8 * 24 * time.Hour), Last: ago(2 * time.Hour)}, Disallowed: 2, Blocked: 1}}, Mode: "monitor", Robots: RobotsHealth{State: Unread}},
			{Site: "example.com", RequestCounts: RequestCounts{Requests: 720, Allowed: 504, Disallowed: 192, Stale: 24, Blocked: 120, WouldBlock: 72, ViolationsBlocked: 120}, Mode: "enforce", Robots: health},
			{Site: "shop.example.com", Mode: "monitor", Robots: RobotsHealth{State: LastGood, Authority: "https://shop.example.com", Source: "server", Status: 200,
				Version: old, RuleCount: 2, FirstFetched: ago(50 * time.Hour), LastFetched: ago(3 * time.Hour), NextFetch: now.Add(time.Minute), FailureCount: 40,
				FailingSince: ago(2 * time.Hour), Error: "status 503"}},
		},
		Top:           []Crawler{gpt, other, bing},
		SearchBlocked: []BlockedSearchEngine{{Site: "example.com", Token: "Googlebot", Identity: "claimed", Blocked: 4, Last: ago(time.Hour), Path: "/private/a", Rule: "Disallow: /private/", Line: 2}},
		Series: series(time.Hour, 24, func(i int) RequestCounts {
			if i == 23 {
				return RequestCounts{Requests: 750 - 23*31, Allowed: 524 - 23*21, Disallowed: 194 - 23*8, Stale: 1, Exempt: 6, Unknown: 2, Blocked: 121 - 23*5, WouldBlock: 73 - 23*3}
			}
			return RequestCounts{Requests: 31, Allowed: 22, Disallowed: 8, Stale: 1, Blocked: 5, WouldBlock: 3}
		}),
	})
	golden(t, "summary_empty.json", Summary{
		Changes:    []SiteChange{},
		ViewHeader: ViewHeader{Filter: Filter{Window: Hour}, Generated: now, From: now.Add(-59 * time.Minute), To: now, CountedFrom: now.Add(-time.Minute), LedgerStart: now.Add(-time.Minute), Sites: []string{}, Classes: []string{}, Identities: []string{}},
		SitesNow:   []SiteSummary{}, Top: []Crawler{}, SearchBlocked: []BlockedSearchEngine{},
		Series: series(time.Minute, 60, func(int) RequestCounts { return RequestCounts{} }),
	})
	golden(t, "crawlers.json", Crawlers{ViewHeader: head, Total: 4, Crawlers: []Crawler{gpt, other, bing}, Next: "3", AgainstPreference: []RequestsAgainstPreference{*gpt.AgainstPreference}})
	detail := CrawlerDetail{
		ViewHeader: head, Crawler: gpt,
		SitesSeen: []CrawlerSite{{Site: "example.com", RequestCounts: gptCounts, RobotsFetch: gptRead, RequestsSinceFetch: 251, Rate: gpt.Rate, FirstSeen: gpt.FirstSeen, LastSeen: gpt.LastSeen}},
		Series: series(time.Hour, 24, func(int) RequestCounts {
			return RequestCounts{Requests: 10, Allowed: 1, Disallowed: 8, Stale: 1, Blocked: 5, WouldBlock: 3}
		}),
		Changes: marks[1:],
		Rules:   rules, Paths: violations, RecentSamples: samples, Agents: agents, Networks: networks,
	}
	golden(t, "crawler.json", detail)
	golden(t, "violations.json", Violations{ViewHeader: head, Total: 3, Violations: violations, Next: "2"})
	siteHead := head
	siteHead.Filter.Site = "example.com"
	finding := lint.Finding{Code: "misspelt-key", Severity: policy.Warning, Line: 3, Message: "disalow is misspelt; not every crawler understands it"}
	text, oldText := "User-agent: *\nDisallow: /private/\nDisalow: /tmp/\n# models\nUser-agent: GPTBot\nDisallow: /\n", "User-agent: *\nDisallow: /private/\nDisalow: /tmp/\n"
	golden(t, "robots.json", Robots{
		ViewHeader: siteHead, Health: health, CountedSince: ago(28 * time.Hour), HitsComplete: true, RulesNeverHit: 1, Licenses: []string{"https://example.com/license.xml"},
		Lines: []RobotsLine{
			{Line: 1, Text: "User-agent: *", Kind: KindAgent, Hits: 480},
			{Line: 2, Text: "Disallow: /private/", Kind: KindRule, Hits: 4},
			{Line: 3, Text: "Disalow: /tmp/", Kind: KindRule, NeverHit: true, Findings: []lint.Finding{finding}},
			{Line: 4, Text: "# models", Kind: KindOther},
			{Line: 5, Text: "User-agent: GPTBot", Kind: KindAgent, Hits: 192},
			{Line: 6, Text: "Disallow: /", Kind: KindRule, Hits: 192},
		},
		Findings: []lint.Finding{finding},
		Versions: []RobotsVersion{
			{Version: current, Status: 200, Bytes: len(text), Rules: 3, FirstFetched: ago(28 * time.Hour), LastFetched: ago(4 * time.Minute), Text: text,
				Diff: []DiffLine{{" ", "User-agent: *", 1}, {" ", "Disallow: /private/", 2}, {" ", "Disalow: /tmp/", 3}, {"+", "# models", 4},
					{"+", "User-agent: GPTBot", 5}, {"+", "Disallow: /", 6}},
				ChangedVerdicts: []ChangedVerdict{{Token: "GPTBot", Path: "/articles/1?page=2", Before: "allowed", After: "disallowed", Rule: "Disallow: /", Line: 6, Count: 90}}},
			{Version: old, Status: 200, Bytes: len(oldText), Rules: 2, FirstFetched: ago(9 * 24 * time.Hour), LastFetched: ago(28*time.Hour + time.Minute), ReplacedAt: ago(28 * time.Hour),
				Text: oldText, Diff: []DiffLine{}, ChangedVerdicts: []ChangedVerdict{}},
		},
	})
	site := ManagedSite{
		Host: "example.com", Version: "653da2ad012c", Since: ago(26 * time.Hour), RulesInForce: 2, NextChange: now.Add(5 * 24 * time.Hour),
		Base:  ManagedBase{Kind: "upstream", FetchedAt: ago(3 * time.Hour), Status: 200, FailingSince: ago(2 * time.Hour), Failure: "the server answers status 502 Bad Gateway"},
		Lists: []ManagedList{{Name: "https://cms.example.com/rules.json", Rules: 12, Failure: "https://cms.example.com/rules.json: the answer is 404 Not Found"}},
	}
	golden(t, "managed.json", ManagedRobots{ViewHeader: head, Managed: []ManagedSite{site, {Host: "staging.example.com", Staging: true, Base: ManagedBase{Kind: "none"}}}, Detail: &ManagedDetail{
		ManagedSite: site,
		Text:        "User-agent: *\nDisallow: /admin/\n\n# Added by robots_txt, version 653da2ad012c\n# rule archive\nUser-agent: SemrushBot\nDisallow: /admin/\nDisallow: /search\n\n",
		Lines:       []ManagedLine{{Line: 8, Text: "Disallow: /search", Rules: []string{"rule archive"}}},
		Rules: []ManagedRule{
			{Name: "rule archive", Effect: "Disallow: /search", For: []string{"SemrushBot"}, State: RuleInForce, Reason: "load of the search", Owner: "shop-team", Ticket: "OPS-7", Position: "Caddyfile:12"},
			{Name: "rule black-friday", Effect: "Disallow: /compare", For: []string{"*"}, State: RuleToCome, From: now.Add(5 * 24 * time.Hour), Until: now.Add(9 * 24 * time.Hour), Hosts: []string{"example.com"}, Reason: "load of the sale"},
		},
		ScheduledChanges: []ScheduledChange{
			{At: now.Add(5 * 24 * time.Hour), Begins: []string{"rule black-friday"}, Ends: []string{}, Added: []string{"Disallow: /compare"}, Removed: []string{}},
			{At: now.Add(9 * 24 * time.Hour), Begins: []string{}, Ends: []string{"rule black-friday"}, Added: []string{}, Removed: []string{"Disallow: /compare"}},
		},
		Findings: []ManagedFinding{},
		Changes: []ManagedChange{
			{Number: 3, ID: "9f86d081884c7d65", Origin: "configuration", State: ChangeWaiting, Since: ago(40 * time.Minute), Author: "configuration",
				Reasons:    []string{"Googlebot may not fetch /shop/1 any more, which it was served 41 times in the last 24 h"},
				Difference: []string{"rule shop: * may not fetch /shop/ any more"}},
			{Number: 2, ID: "2c26b46b68ffc68f", Origin: "configuration", State: "published", Since: ago(26 * time.Hour), Author: "configuration", Decisions: []string{"confirmed by ann: the search is slow (OPS-7)"}, FetchedBy: []string{"bingbot", "Googlebot"},
				Difference: []string{"rule archive: SemrushBot may not fetch /search any more"}},
			{Number: 1, ID: "44136fa355b3678a", Origin: "rules", State: "superseded", Since: ago(26 * time.Hour), Author: "rules"},
		},
	}})
	golden(t, "impact.json", EnforceImpact{
		ViewHeader: head, RequestCounts: allCounts, BlockedByEnforce: 194,
		Modes: []SiteMode{{"_other", "monitor"}, {"example.com", "enforce"}, {"shop.example.com", "monitor"}},
		ByClass: []ClassImpact{
			{Class: "search", RequestCounts: bingCounts, Crawlers: []CrawlerImpact{{ID: "bingbot", Token: "bingbot", Operator: "Microsoft", Identities: bing.Identities, RequestCounts: bingCounts, Rules: []RuleCount{}}}},
			{Class: "ai_training", RequestCounts: gptCounts, BlockedByEnforce: 192, Crawlers: []CrawlerImpact{{ID: "GPTBot", Token: "GPTBot", Operator: "OpenAI", Identities: gpt.Identities, RequestCounts: gptCounts, BlockedByEnforce: 192, Rules: rules[:1]}}},
			{Class: "crawler", RequestCounts: otherCounts, BlockedByEnforce: 2, Crawlers: []CrawlerImpact{{ID: other.ID, Token: "_other", Identities: other.Identities, RequestCounts: otherCounts, BlockedByEnforce: 2, Rules: []RuleCount{}}}},
		},
	})
	none, drafts := TrialRule{Group: "*"}, TrialRule{Rule: "Disallow: /drafts/", Line: 2, Group: "*"}
	shop := TrialRule{Rule: "Disallow: /shop", Line: 3, Group: "*"}
	golden(t, "shadow.json", ShadowTrials{
		ViewHeader: siteHead,
		TrialFiles: []TrialFile{{Source: "/srv/next.txt", Version: old, Rules: 2, FirstFetched: ago(26 * time.Hour), LastFetched: ago(time.Minute), NextFetch: ago(-time.Minute)}},
		Trials: []Trial{{
			Site: "example.com", Authority: "https://example.com", Source: "/srv/next.txt", TrialVersion: old, InForce: current, Since: ago(26 * time.Hour),
			VerdictDifferences: VerdictDifferences{Requests: 1204, NewlyForbidden: 3, NewlyAllowed: 90}, Search: VerdictDifferences{Requests: 212, NewlyForbidden: 3},
			Crawlers: []CrawlerTrialEffect{
				{Token: "bingbot", Class: "search", Identity: "verified", Operator: "Microsoft", IsSearchEngine: true, VerdictDifferences: VerdictDifferences{Requests: 212, NewlyForbidden: 3}, Pages: []ChangedPage{
					{Difference: "newly_forbidden", Path: "/shop/lamp", Estimate: Estimate{Count: 3, First: ago(9 * time.Hour), Last: ago(time.Hour)}, RuleInForce: none, RuleOnTrial: shop},
				}},
				{Token: "GPTBot", Class: "ai_training", Identity: "claimed", Operator: "OpenAI", VerdictDifferences: VerdictDifferences{Requests: 192, NewlyAllowed: 90}, Pages: []ChangedPage{
					{Difference: "newly_allowed", Path: "/drafts/a", Estimate: Estimate{Count: 90, Error: 3, First: ago(20 * time.Hour), Last: ago(time.Minute)}, RuleInForce: drafts, RuleOnTrial: none},
				}},
				{Token: "_other", Class: "crawler", Identity: "unknown", VerdictDifferences: VerdictDifferences{Requests: 800}, Pages: []ChangedPage{}},
			},
		}},
	})
	perVisit := 13.375
	golden(t, "parity.json", ResponseAudit{
		ViewHeader: head,
		Findings: []AuditFinding{{
			Kind: responseaudit.PagesRefused, Site: "example.com", Token: "bingbot", Class: "search", Identity: "verified", IsSearchEngine: true, Since: now.Truncate(time.Hour).Add(-2 * time.Hour),
			CountedSince: now.Truncate(time.Hour).Add(-time.Hour), Total: 150, Contradicting: 51, Percent: 34, Status: "refused",
			Text: "verified bingbot: 34 % of the allowed pages (51 of 150) were refused, mostly with status 401, 402, 403, 407 or 451, since 12:00 UTC on 21 November",
		}},
		Crawlers: []CrawlerResponses{
			{Token: "bingbot", Operator: "Microsoft", Class: "search", Identity: "verified", Answers: 480, Bytes: 6_120_000,
				Allowed: responseaudit.StatusCounts{Success: 360, Redirect: 12, Refused: 90, NotFound: 10, ServerError: 2}, RobotsTxt: responseaudit.StatusCounts{Success: 6}},
			{Token: "GPTBot", Operator: "OpenAI", Class: "ai_training", Identity: "claimed", Answers: 108, Bytes: 2_400_000,
				Allowed: responseaudit.StatusCounts{Success: 24}, Forbidden: responseaudit.StatusCounts{Success: 82, TooMany: 1}, RobotsTxt: responseaudit.StatusCounts{Redirect: 1}},
		},
		Referrals: []responseaudit.Referral{{Operator: "OpenAI", Fetches: 107, Visits: 8, FetchesPerVisit: &perVisit, VisitsByAssistant: []responseaudit.AssistantVisits{{Assistant: "chatgpt.com", Visits: 8}}}},
	})
	golden(t, "evidence.json", Evidence{
		CrawlerDetail:   detail,
		Files:           []EvidenceFile{{Site: "example.com", Version: current, FirstFetched: ago(28 * time.Hour), LastFetched: ago(4 * time.Minute), Text: text}},
		MissingVersions: []string{},
	})
}
