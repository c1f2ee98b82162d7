package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/robotsguard/caddy-robots-guard/internal/alert"
	"github.com/robotsguard/caddy-robots-guard/internal/dashboard"
	"github.com/robotsguard/caddy-robots-guard/internal/report"
)

// alerts is a substitute for the server's alerts: a list that can be acknowledged.
type alerts struct {
	mu    sync.Mutex
	list  alert.List
	notes []string // of acknowledgements, in order
	fail  bool     // every request fails
}

// exampleAlerts returns the alerts of the JSON example.
func exampleAlerts(t *testing.T) *alerts {
	t.Helper()
	text, err := os.ReadFile("../../internal/alert/testdata/alerts.json")
	if err != nil {
		t.Fatal(err)
	}
	a := new(alerts)
	if err := json.Unmarshal(text, &a.list); err != nil {
		t.Fatal(err)
	}
	a.list.Generated = noon
	return a
}

// dayAlerts returns the alerts of the scripted day.
func dayAlerts() *alerts {
	return &alerts{list: alert.List{Generated: noon, IsPersistent: true, Alerts: []alert.Alert{
		{ID: "unreachable-1", Kind: alert.Unreachable, Severity: alert.Warning, Site: "shop.example.com", Since: noon.Add(-2 * time.Hour), State: alert.Open,
			Title:  "The robots.txt of shop.example.com cannot be read",
			Detail: "The server answers status 502 Bad Gateway. The copy of 11:20 UTC is in force until 11:20 UTC tomorrow.",
			Remedy: "Look what the site answers.", RemedySnippet: "curl -i https://shop.example.com/robots.txt"},
		{ID: "robots_changed-1", Kind: alert.RobotsChanged, Severity: alert.Info, Site: "example.com", Since: noon.Add(-28 * time.Hour), State: alert.Open,
			Title:  "The robots.txt of example.com has changed",
			Detail: "9 rules took the place of 3. GPTBot, ClaudeBot, CCBot and Bytespider are shut out now.",
			Remedy: "Acknowledge if that is intended."},
		{ID: "ready_for_enforce-1", Kind: alert.ReadyForEnforce, Severity: alert.Info, Site: "shop.example.com", Since: noon.Add(-2 * time.Hour), State: alert.Open,
			Title:  "shop.example.com is ready for enforce",
			Detail: "In mode enforce, 821 requests would have been blocked, but none from search engines, previews or feed readers.",
			Remedy: "Replace robots_guard of this site.", RemedySnippet: "robots_guard enforce"},
	}}}
}

// ServeHTTP implements the server's API for alerts.
func (a *alerts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		_ = json.NewEncoder(w).Encode(a.list)
		return
	}
	id, ok := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/api/alerts/"), "/acknowledge")
	i := slices.IndexFunc(a.list.Alerts, func(x alert.Alert) bool { return x.ID == id })
	var body struct{ Note string }
	switch {
	case !ok || i < 0 || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Sec-Fetch-Site") != "same-origin":
		w.WriteHeader(http.StatusBadRequest)
		return
	case a.fail:
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"error": "the storage is <b>full</b>"}`))
		return
	case r.Method == http.MethodDelete:
		a.list.Alerts[i].State, a.list.Alerts[i].Acknowledged = alert.Open, nil
	case json.NewDecoder(r.Body).Decode(&body) == nil:
		a.list.Alerts[i].State = alert.Acknowledged
		a.list.Alerts[i].Acknowledged = &alert.Acknowledgement{At: noon, User: "anna", Note: body.Note}
		a.notes = append(a.notes, body.Note)
	}
	_, _ = w.Write([]byte("{}"))
}

// serveAlerts is like serveDay with the given alerts.
func serveAlerts(t *testing.T, day dashboard.Views, a *alerts) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", dashboard.New(func() dashboard.Views { return day }, nil, nil))
	mux.Handle("/api/alerts", a)
	mux.Handle("/api/alerts/", a)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// TestToDo checks that the alerts come first on the page, each with a line to copy, and
// can be acknowledged there.
func TestToDo(t *testing.T) {
	t.Parallel()
	a := exampleAlerts(t)
	p := open(t, serveAlerts(t, scriptedDay(t), a), wide)
	titles := `[...document.querySelectorAll(".card")].filter((e) => e.checkVisibility()).map((e) => e.className + ": " + e.querySelector(".cardtitle").innerText).join("\n")`
	if got := p.eval(titles); got != "card critical: Googlebot is blocked at example.com\ncard warning: The robots.txt of shop.example.com is gone\ncard info: blog.example.com is ready for enforce" {
		t.Errorf("the cards are:\n%s", got)
	}
	if p.eval(`document.querySelector("main h1 + .todo") === null`) == "true" {
		t.Error("the alerts are not at the top")
	}
	for _, part := range []string{"act now", "No group of the robots.txt names this crawler", "Correct the rule, or write this into robots_guard of the site and reload.", "only_log verified Googlebot", "since 3 min ago"} {
		if text := p.text(".card.critical"); !strings.Contains(text, part) {
			t.Errorf("%q is not in %q", part, text)
		}
	}
	if href := p.eval(`document.querySelector(".card.critical a").getAttribute("href")`); href != "#/crawlers?open=Googlebot&site=example.com" {
		t.Errorf("the card links to %s", href)
	}
	press := func(label string) {
		p.eval(fmt.Sprintf(`(() => { for (const d of document.querySelectorAll(".knowns")) d.open = true; document.querySelector(%q).click(); })()`, "button[aria-label='"+label+"']"))
	}
	if text := p.text(".knowns summary"); text != "1 acknowledged\n1 over" {
		t.Errorf("the folded cards: %q", text)
	}
	press("Acknowledge: Googlebot is blocked at example.com")
	p.until(`document.activeElement.name === "note"`)
	p.press("m", "e", "a", "n", "t", kb.Enter)
	p.until(`document.querySelector(".knowns summary").innerText === "2 acknowledged" && !document.querySelector(".card.critical")`)
	if text := p.text(".knowns:first-of-type li"); !strings.Contains(text, "just now by anna: meant") || !strings.Contains(text, "by ann: a partner") {
		t.Errorf("the acknowledged alerts: %q", text)
	}
	if got := p.eval(`document.activeElement.id + " " + document.getElementById("said").innerText`); got != "todo Acknowledged" {
		t.Errorf("the focus and the announcement: %q", got)
	}
	press("Undo: Googlebot is blocked at example.com")
	p.until(`document.querySelector(".card.critical")`)
	press("Acknowledge: Googlebot is blocked at example.com")
	p.until(`document.querySelector(".acknowledge")`)
	a.mu.Lock()
	a.fail = true
	a.mu.Unlock()
	p.eval(`document.querySelector(".acknowledge button").click()`)
	p.until(`document.querySelector(".card .trouble")?.innerText === "The request failed: the storage is <b>full</b>."`)
	p.forgive("503")
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Equal(a.notes, []string{"meant"}) {
		t.Errorf("the notes are %q", a.notes)
	}
}

// TestToDoBounds checks that there are at most five cards, only cards of the selected
// site, and no buttons if alerts cannot be acknowledged.
func TestToDoBounds(t *testing.T) {
	t.Parallel()
	a := exampleAlerts(t)
	for i := range 5 {
		more := a.list.Alerts[1]
		more.ID, more.Site, more.Title = fmt.Sprint("robots_gone-", i), fmt.Sprintf("s%d.example.com", i), fmt.Sprintf("The robots.txt of s%d is gone", i)
		a.list.Alerts = slices.Insert(a.list.Alerts, 3, more)
	}
	a.list.ReadOnly = true
	p := open(t, serveAlerts(t, scriptedDay(t), a), narrow)
	if got := p.eval(`document.querySelectorAll(".card").length`) + " " + p.text(".knowns summary"); got != "5 3 more\n1 acknowledged\n1 over" {
		t.Errorf("cards and folds: %s", got)
	}
	if got := p.eval(`document.querySelectorAll(".card details[open]").length`); got != "0" {
		t.Errorf("on a phone %s cards are open", got)
	}
	if p.eval(`document.querySelector(".glance dl").getBoundingClientRect().bottom <= innerHeight`) != "true" {
		t.Errorf("on a phone the cards push the answers off the first screen: %s", p.eval(`String(document.querySelector(".glance dl").getBoundingClientRect().bottom) + " " + document.querySelector(".todo").getBoundingClientRect().height`))
	}
	if p.eval(`document.querySelector(".todo .plainbutton") === null`) != "true" || !strings.Contains(p.text(".todo"), "To acknowledge alerts, log in.") {
		t.Error("buttons that can do nothing")
	}
	p.show("#/now?site=s3.example.com")
	p.until(`document.querySelectorAll(".card").length === 1`)
	a.mu.Lock()
	a.list.Alerts = []alert.Alert{}
	a.mu.Unlock()
	p.show("#/now")
	p.until(`document.querySelector(".todo").innerText === "Nothing to do"`)
}

// shutOut is a day on which search engines were blocked.
type shutOut struct{ *report.Source }

func (d shutOut) Summary(f report.Filter) report.Summary {
	s := d.Source.Summary(f)
	s.SearchBlocked = []report.BlockedSearchEngine{
		{Site: "example.com", Token: "Googlebot", Identity: "verified", Blocked: 3},
		{Site: "example.com", Token: "bingbot", Identity: "claimed", Blocked: 2},
		{Site: "example.com", Token: "_other", Identity: "claimed", Blocked: 1}, // search engines without a token of their own
	}
	return s
}

// TestNothingIsSaidTwice checks that a problem with an alert is not repeated in another
// card or in a table.
func TestNothingIsSaidTwice(t *testing.T) {
	t.Parallel()
	day := shutOut{scriptedDay(t)}
	a := exampleAlerts(t)
	p := open(t, serveAlerts(t, day, a), wide)
	card := `.cards > li:first-child`
	if text := p.text(card); strings.Contains(text, "Googlebot") || !strings.Contains(text, "Blocked: 3 requests of unverified clients with the name of one.") || !strings.Contains(text, "\nonly_log bingbot search\n") {
		t.Errorf("the card says %q", text)
	}
	if text := p.text(".health.warn"); text != "using a copysee above" {
		t.Errorf("the table has the text %q", text)
	}
	a.mu.Lock()
	a.list.Alerts = []alert.Alert{}
	a.mu.Unlock()
	p = open(t, serveAlerts(t, day, a), wide)
	if text := p.text(card); !strings.Contains(text, "Blocked: 3 requests of verified search engines and 3 requests of unverified clients with the name of one.") || !strings.Contains(text, "\nonly_log verified Googlebot\n") {
		t.Errorf("without an alert the card says %q", text)
	}
	if text := p.text(".todo h2"); text != "To do" {
		t.Errorf("the heading is %q", text)
	}
	if text := p.text(".health.warn"); !strings.Contains(text, "502 Bad Gateway") {
		t.Errorf("without a card the table has the text %q", text)
	}
}
