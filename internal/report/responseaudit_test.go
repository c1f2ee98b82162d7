package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// answering is a server that refuses a verified search engine what it allows to
// everybody, since noon.
func answering() *Source {
	l := ledger.New(func() time.Time { return now })
	gets := func(n int, site, token string, class uaident.Class, who verify.State, kind responseaudit.RequestKind, status responseaudit.StatusClass, ago time.Duration) {
		for range n {
			l.RecordResponse(&ledger.Response{At: now.Add(-ago), Site: site, Token: token, Class: class, Identity: who, Kind: kind, Status: status, Bytes: 100})
		}
	}
	noon := 2 * time.Hour
	gets(50, "a.test", "bingbot", uaident.Search, verify.Verified, responseaudit.KindAllowed, responseaudit.StatusSuccess, 4*time.Hour)
	gets(20, "a.test", "bingbot", uaident.Search, verify.Verified, responseaudit.KindAllowed, responseaudit.StatusRefused, noon)
	gets(30, "a.test", "bingbot", uaident.Search, verify.Verified, responseaudit.KindAllowed, responseaudit.StatusSuccess, noon)
	gets(51, "a.test", "bingbot", uaident.Search, verify.Verified, responseaudit.KindAllowed, responseaudit.StatusRefused, 0)
	gets(99, "a.test", "bingbot", uaident.Search, verify.Verified, responseaudit.KindAllowed, responseaudit.StatusSuccess, 0)
	gets(70, "a.test", "bingbot", uaident.Search, verify.Claimed, responseaudit.KindAllowed, responseaudit.StatusRefused, 0)
	gets(70, "a.test", "_spoofed", uaident.Other, verify.Spoofed, responseaudit.KindAllowed, responseaudit.StatusRefused, 0)
	gets(70, "a.test", "_other", uaident.GenericCrawler, verify.Unknown, responseaudit.KindAllowed, responseaudit.StatusRefused, 0)
	gets(70, "a.test", "curl", uaident.Library, verify.Claimed, responseaudit.KindAllowed, responseaudit.StatusRefused, 0)
	gets(60, "a.test", "GPTBot", uaident.AITraining, verify.Claimed, responseaudit.KindForbidden, responseaudit.StatusSuccess, time.Hour)
	gets(5, "a.test", "GPTBot", uaident.AITraining, verify.Claimed, responseaudit.KindRobotsTxt, responseaudit.StatusSuccess, time.Hour)
	gets(5, "a.test", "ClaudeBot", uaident.AITraining, verify.Claimed, responseaudit.KindRobotsTxt, responseaudit.StatusSuccess, time.Hour)
	gets(20, "b.test", "ChatGPT-User", uaident.AIAssistant, verify.Claimed, responseaudit.KindNoRule, responseaudit.StatusSuccess, 3*24*time.Hour)
	for range 8 {
		l.RecordAssistantVisit("b.test", 0, now)
	}
	return &Source{Now: now, Ledger: l.Snapshot(), Registry: uaident.Default()}
}

// TestPeopleOnDisallowed tells in the summary how often browsers asked for what is disallowed.
func TestPeopleOnDisallowed(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 30, 0, 0, time.UTC)
	l := ledger.New(func() time.Time { return now })
	for range 5 {
		l.RecordVisitToDisallowed("a.test", now)
	}
	l.RecordVisitToDisallowed("b.test", now)
	s := &Source{Now: now, Ledger: l.Snapshot(), Registry: uaident.Default()}
	for site, want := range map[string]uint64{"": 6, "a.test": 5, "c.test": 0} {
		if got := s.Summary(Filter{Site: site}).BrowsersOnDisallowed; got != want {
			t.Errorf("at %q: %d, want %d", site, got, want)
		}
	}
	if r := s.ResponseAudit(Filter{}); len(r.Referrals) > 0 {
		t.Errorf("they came from nowhere: %+v", r.Referrals)
	}
}

// TestParity keeps a verified crawler apart from who claims its name, and finds nothing
// about those who share a name.
func TestParity(t *testing.T) {
	s := answering()
	day := s.ResponseAudit(Filter{})
	var texts []string
	for _, f := range day.Findings {
		texts = append(texts, f.Text)
	}
	want := []string{
		"verified bingbot: 34 % of the allowed pages (51 of 150) were refused, mostly with status 401, 402, 403, 407 or 451, since 12:00 UTC on 21 November",
		"claimed bingbot: 100 % of the allowed pages (70 of 70) were refused, mostly with status 401, 402, 403, 407 or 451, since 14:00 UTC on 21 November",
	}
	if strings.Join(texts, "\n") != strings.Join(want, "\n") {
		t.Errorf("found\n%s", strings.Join(texts, "\n"))
	}
	if first := day.Crawlers[0]; first.Token != "bingbot" || first.Identity != "verified" || first.Operator != "Microsoft" || first.Answers != 250 || first.Bytes != 25_000 ||
		first.Allowed != (responseaudit.StatusCounts{Success: 179, Refused: 71}) {
		t.Errorf("%+v", first)
	}
	if r := day.Referrals; len(r) != 1 || r[0].Operator != "OpenAI" || r[0].Fetches != 60 || r[0].Visits != 8 || *r[0].FetchesPerVisit != 7.5 || fmt.Sprint(r[0].VisitsByAssistant) != "[{chatgpt.com 8}]" {
		t.Errorf("%+v", r)
	}
	if week := s.ResponseAudit(Filter{Window: Week}); week.Referrals[0].Fetches != 80 {
		t.Errorf("of a week: %+v", week.Referrals)
	}
	other := s.ResponseAudit(Filter{Site: "b.test", Window: Week})
	if len(other.Findings) > 0 || len(other.Crawlers) != 1 || other.Referrals[0].Fetches != 20 || other.Referrals[0].Visits != 8 {
		t.Errorf("%+v", other)
	}
	if none := s.ResponseAudit(Filter{Site: "c.test"}); none.Findings == nil || none.Crawlers == nil || none.Referrals == nil {
		t.Errorf("a list is null: %+v", none)
	}
}

// TestAssistantsAreKnown spells operators as the registry does: else what they take
// would not stand beside what they bring.
func TestAssistantsAreKnown(t *testing.T) {
	known := make(map[string]bool)
	for _, c := range uaident.Default().Crawlers() {
		known[c.Operator] = true
	}
	for _, a := range responseaudit.Assistants() {
		if !known[a.Operator] && a.Operator != "xAI" { // which names no crawler
			t.Errorf("no crawler is of %s", a.Operator)
		}
	}
}
