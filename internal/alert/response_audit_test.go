package alert

import (
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/ledger"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// gets counts answers to a crawler.
func (w *world) gets(n int, a ledger.Response) {
	a.At, a.Site = w.time, "a.test"
	for range n {
		w.counted.RecordResponse(&a)
	}
}

// TestResponseAudit tells of a crawler that does not get what its robots.txt allows, until it
// does, and of nobody who only uses its name.
func TestResponseAudit(t *testing.T) {
	bing := ledger.Response{Token: "bingbot", Class: uaident.Search, Identity: verify.Verified}
	liar := bing
	liar.Identity = verify.Claimed
	with := func(a ledger.Response, kind responseaudit.RequestKind, status responseaudit.StatusClass) ledger.Response {
		a.Kind, a.Status = kind, status
		return a
	}
	w := newWorld(t)
	w.gets(66, with(bing, responseaudit.KindAllowed, responseaudit.StatusSuccess))
	w.gets(3, with(bing, responseaudit.KindAllowed, responseaudit.StatusRefused))
	w.gets(500, with(liar, responseaudit.KindAllowed, responseaudit.StatusRefused))
	w.gets(500, with(liar, responseaudit.KindRobotsTxt, responseaudit.StatusRefused))
	w.leap(time.Minute)
	w.want("three are refused, and liars", "")
	w.gets(31, with(bing, responseaudit.KindAllowed, responseaudit.StatusRefused))
	w.leap(ledgerReadInterval)
	w.want("a third is refused", "open warning pages_refused")
	a := w.only()
	if a.Title != "bingbot is refused 34 % of the pages that the robots.txt of a.test allows" || !a.Since.Equal(start) || !strings.Contains(a.Detail, "(34 of 100) were refused") {
		t.Errorf("%+v", a)
	}
	w.leap(3 * time.Hour)
	w.gets(100, with(bing, responseaudit.KindAllowed, responseaudit.StatusSuccess))
	w.leap(ledgerReadInterval)
	w.want("it gets all again", "over warning pages_refused")

	w.gets(4, with(bing, responseaudit.KindRobotsTxt, responseaudit.StatusServerError))
	w.gets(1, with(bing, responseaudit.KindRobotsTxt, responseaudit.StatusSuccess))
	w.gets(6, with(bing, responseaudit.KindAllowed, responseaudit.StatusServerError))
	w.gets(95, with(liar, responseaudit.KindAllowed, responseaudit.StatusSuccess))
	w.gets(5, with(liar, responseaudit.KindAllowed, responseaudit.StatusServerError))
	w.leap(ledgerReadInterval)
	w.want("errors", "open critical robots_fails, open warning pages_fail, open info pages_fail, over warning pages_refused")
	if a := w.List().Alerts[2]; a.Title != "A client that claims to be bingbot gets errors for 5 % of its pages at a.test" {
		t.Errorf("%+v", a)
	}
	w.leap(25 * time.Hour)
	if got := w.shown(); strings.Contains(got, "open") {
		t.Errorf("a day later, without another request: %s", got)
	}
}

// TestWithheld says within a minute that a crawler gets something else instead of robots.txt,
// and ends when it gets the file.
func TestWithheld(t *testing.T) {
	w := newWorld(t)
	w.pass(time.Minute)
	w.withheld = []responseaudit.WithheldFinding{{
		RobotsFetcher: responseaudit.RobotsFetcher{Site: "a.test", Token: "GPTBot", IsVerified: true},
		Substitute:    responseaudit.WebPage, Status: 403, Since: w.time, Responses: 1,
	}}
	w.pass(time.Minute)
	w.want("a challenge", "open warning robots_withheld")
	if a := w.only(); a.Title != "GPTBot gets a web page (status 403) instead of robots.txt since 12:01 UTC" || a.RemedySnippet != "not path /robots.txt" || a.Site != "a.test" || a.Crawler != "GPTBot" {
		t.Errorf("%+v", a)
	}
	w.withheld[0].Responses, w.withheld[0].IsVerified, w.withheld[0].SelfTestGetsSame = 0, false, true
	w.pass(time.Minute)
	if a := w.only(); !strings.HasPrefix(a.Detail, "The self-test found this problem at a.test.") {
		t.Errorf("%+v", a)
	}
	w.withheld[0].Substitute, w.withheld[0].Location = responseaudit.RedirectElsewhere, "https://login.test/?a; b"
	w.pass(time.Minute)
	if a := w.List().Alerts[0]; !strings.Contains(a.Title, "is redirected to https://login.test/?a; b instead of") || !strings.HasPrefix(a.Remedy, "Exclude /robots.txt from the login") {
		t.Errorf("%+v", a)
	}
	w.withheld = nil
	w.pass(time.Minute)
	w.want("the file", "over warning robots_withheld, over warning robots_withheld")
}
