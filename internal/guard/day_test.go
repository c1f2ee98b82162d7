package guard

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/managed"
	"github.com/robotsguard/caddy-robots-guard/internal/managed/publish"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// managedSite serves the robots.txt of its publication history, by time and host.
type managedSite struct {
	t         *testing.T
	state     publish.History
	schedules map[string]*managed.Schedule // by ID of a change
}

// submit submits rules as a reload with other rules does.
func (s *managedSite) submit(id string, rollout publish.Rollout, reasons []string, rules ...managed.Rule) {
	s.t.Helper()
	schedule, err := managed.NewSchedule(uaident.Default(), managed.Spec{Rules: rules})
	if err != nil {
		s.t.Fatal(err)
	}
	s.schedules[id] = schedule
	s.state, _ = s.state.Submit("a", publish.Change{ID: id, Rollout: rollout, Reasons: reasons}, time.Now())
}

// serving returns the schedule that is served at a host.
func (s *managedSite) serving(host string) *managed.Schedule {
	id := s.state.PublishedID()
	if c := s.state.Pending; c != nil && c.State == publish.Canary && slices.Contains(c.Rollout.Hosts, host) {
		id = c.ID
	}
	return s.schedules[id]
}

// answer returns the site's robots.txt at a host with its max-age.
func (s *managedSite) answer(host string) policy.FetchResult {
	schedule := s.serving(host)
	period := schedule.FindPeriod(host, time.Now())
	text, err := period.FilePlan().Compose(nil, host)
	if err != nil {
		s.t.Error(err)
	}
	life := managed.CacheLifetime(time.Hour, time.Now(), period.End())
	return policy.FetchResult{Status: http.StatusOK, Body: text, Header: http.Header{"Cache-Control": {fmt.Sprintf("max-age=%d", int(life.Seconds()))}}}
}

// Prepare implements [site.Source].
func (s *managedSite) Prepare(_ *http.Request, key policy.Key) (site.FetchFunc, bool) {
	return func(context.Context, *policy.Version) policy.FetchResult { return s.answer(key.Host) }, true
}

// ServeHTTP serves the robots.txt, and a page at every other path.
func (s *managedSite) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	if r.URL.Path != "/robots.txt" {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	a := s.answer(r.Host)
	w.Header().Set("Cache-Control", a.Header.Get("Cache-Control"))
	_, err := w.Write(a.Body)
	return err
}

// obedient is a crawler that fetches the robots.txt of each host once a day, at its own
// time, and obeys that copy until the next fetch.
type obedient struct {
	token     string
	who       verify.State
	addresses []string
	phase     time.Duration
	texts     map[string]*policy.Robots
}

// daySite is a guard with a managedSite and its crawlers.
type daySite struct {
	*managedSite
	g        *Guard
	dice     *rand.Rand
	verifier *verify.Verifier
	passed   int
}

// ask sends a request of a crawler and returns the response.
func (d *daySite) ask(token, address, host, path string, who verify.State) *httptest.ResponseRecorder {
	d.t.Helper()
	w := httptest.NewRecorder()
	r := requestBy(token+"/1.0", path)
	r.Host = host
	r = caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, browserServer)
	caddyhttp.SetVar(r.Context(), caddyhttp.ClientIPVarKey, address)
	if d.g.Identity.Verifier = nil; who == verify.Verified {
		d.g.Identity.Verifier = d.verifier
	}
	if err := d.g.Serve(w, r, d.managedSite); err != nil {
		w.WriteHeader(err.(caddyhttp.HandlerError).StatusCode)
	}
	synctest.Wait()
	return w
}

var hostsOfDay = []string{"a.test", "b.test"}

// pagesOfDay are the requested pages. Some are always disallowed, and others only at
// times.
var pagesOfDay = []string{"/", "/private/x", "/old-prices/1", "/shop/1", "/models/1", "/models/open/1", "/drafts/1"}

// visit makes a crawler fetch robots.txt if it is due, and then request a page that its
// copy allows.
func (d *daySite) visit(c *obedient, minute int) {
	host, address := hostsOfDay[d.dice.IntN(len(hostsOfDay))], c.addresses[d.dice.IntN(len(c.addresses))]
	if time.Duration(minute)*time.Minute%(24*time.Hour) == c.phase {
		for _, host := range hostsOfDay {
			c.texts[host] = policy.Parse(d.ask(c.token, address, host, "/robots.txt", c.who).Body.Bytes())
		}
	}
	path := pagesOfDay[d.dice.IntN(len(pagesOfDay))]
	if minute%17 != 0 || c.texts[host] == nil {
		return
	}
	var target policy.Target
	target.Set(path, false)
	client := uaident.Identify(c.token + "/1.0")
	if !(&judge.Request{Client: client}).GroupQuery(nil, client.WildcardApplies()).Verdict(c.texts[host], &target).Allowed {
		return
	}
	if w := d.ask(c.token, address, host, path, c.who); w.Code != http.StatusNoContent {
		d.t.Errorf("minute %d: %s, which keeps to what it read, is answered %d for %s%s", minute, c.token, w.Code, host, path)
		return
	}
	d.passed++
}

// TestDayOfAManagedSite sends requests of crawlers that obey a daily copy. Meanwhile
// there are scheduled sales, a change that waits for its confirmation and then starts
// at one host, a change that starts at the other host, and a rollback. No crawler that
// obeys is ever blocked. Requests for pages that all files disallow, and requests of
// crawlers that do not obey, are always blocked.
func TestDayOfAManagedSite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		at := func(hour int) time.Time { return start.Add(time.Duration(hour) * time.Hour) }
		timed := func(id string, from, until int) managed.Rule {
			return managed.Rule{ID: id, For: []string{"*"}, Paths: []string{"/old-prices/"}, From: at(from).Format(time.RFC3339Nano), Until: at(until).Format(time.RFC3339Nano)}
		}
		private := managed.Rule{For: []string{"*"}, Paths: []string{"/private/"}}
		models := managed.Rule{For: []string{"ai_training"}, Paths: []string{"/models/"}}
		sale := timed("sale", 34, 40)
		evening := timed("evening", 42, 50)
		shop := managed.Rule{ID: "shop", For: []string{"search"}, Paths: []string{"/shop/"}}
		open := managed.Rule{ID: "open", For: []string{"ai_training"}, Allow: true, Paths: []string{"/models/open/"}}
		drafts := managed.Rule{ID: "drafts", For: []string{"ai_training"}, Paths: []string{"/drafts/"}}
		press := managed.Rule{ID: "press", For: []string{"ai_training"}, Paths: []string{"/press/"}}

		site := &managedSite{t: t, schedules: make(map[string]*managed.Schedule)}
		first := []managed.Rule{private, models, sale, evening}
		second := append(slices.Clone(first), shop)
		site.submit("first", publish.Rollout{}, nil, first...)
		d := &daySite{managedSite: site, g: testGuard(t, options{Enforce: true}, site), dice: rand.New(rand.NewPCG(1, 2))}
		crawlers := crawlersOfDay(d.dice)
		d.verifier = verifierOfDay(t, crawlers)
		defer d.verifier.Close()
		by := publish.Decision{User: "ann", Reason: "meant"}
		act := func(s publish.History, _ *publish.Change, err error) {
			if err != nil {
				t.Errorf("after %s: %v", time.Since(start), err)
			}
			site.state = s
		}
		events := map[int]func(){
			30 * 60: func() {
				site.submit("second", publish.Rollout{State: publish.Canary, Hosts: []string{"b.test"}, Seconds: 4 * 3600}, []string{"bingbot may not fetch /shop/1 any more"}, second...)
			},
			36 * 60: func() { act(site.state.Confirm("second", by, time.Now())) },
			54 * 60: func() {
				site.submit("third", publish.Rollout{State: publish.Canary, Hosts: []string{"a.test"}, Seconds: 6 * 3600}, nil, append(slices.Clone(second), open, drafts)...)
			},
			66 * 60: func() { act(site.state.Rollback("", by, time.Now())) },
			70 * 60: func() {
				site.submit("fourth", publish.Rollout{State: publish.Canary, Hosts: []string{"b.test"}}, nil, append(slices.Clone(second), open, drafts, press)...)
			},
			88 * 60: func() { act(site.state.Rollback("", by, time.Now())) },
		}
		liar := &obedient{token: "SemrushBot", texts: make(map[string]*policy.Robots)}
		for minute := range 96 * 60 {
			if event := events[minute]; event != nil {
				event()
			}
			site.state, _ = site.state.Advance(time.Now())
			for _, c := range crawlers {
				d.visit(c, minute)
			}
			if minute%60 == 59 {
				d.lie(liar, minute)
			}
			time.Sleep(time.Minute)
		}
		if d.passed < 3000 {
			t.Errorf("%d pages were served", d.passed)
		}
		if site.state.PublishedID() != "second" || site.state.Pending != nil || len(site.state.Past) < 2 {
			t.Errorf("the history ends with %+v", site.state)
		}
	})
}

// crawlersOfDay returns two crawlers of each kind, with fetch times spread over the
// day.
func crawlersOfDay(dice *rand.Rand) (all []*obedient) {
	for i, token := range []string{"Googlebot", "bingbot", "GPTBot", "ClaudeBot", "CCBot", "Bytespider", "Amazonbot", "meta-externalagent", "AhrefsBot", "MJ12bot"} {
		for n, who := range []verify.State{verify.Verified, verify.Claimed} {
			c := &obedient{token: token, who: who, phase: time.Duration(dice.IntN(24*60)) * time.Minute, texts: make(map[string]*policy.Robots)}
			for address := range 3 - 2*n { // the network identifies an unverified crawler
				c.addresses = append(c.addresses, fmt.Sprintf("198.%d.%d.1", 18+n, 10*i+address))
			}
			all = append(all, c)
		}
	}
	return all
}

// verifierOfDay verifies crawlers by their addresses.
func verifierOfDay(t *testing.T, crawlers []*obedient) *verify.Verifier {
	t.Helper()
	list := filepath.Join(t.TempDir(), "addresses.txt")
	if err := os.WriteFile(list, []byte("198.18.0.0/16\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := verify.Config{Crawlers: uaident.Default().Crawlers()}
	for _, crawler := range crawlers {
		if crawler.who == verify.Verified {
			c.Lists = append(c.Lists, verify.List{CrawlerOrOperator: crawler.token, File: list})
		}
	}
	v := verify.New(verify.Options{MaxVerified: 1, MaxOtherResults: 1})
	if err := v.Configure(c); err != nil {
		t.Fatal(err)
	}
	return v
}

// lie requests pages that all files disallow, and pages that the crawler's copy
// disallows.
func (d *daySite) lie(c *obedient, minute int) {
	for _, liar := range []struct{ token, path string }{{"bingbot", "/private/x"}, {"GPTBot", "/models/1"}, {c.token, "/private/x"}} {
		if w := d.ask(liar.token, "203.0.113.9", "a.test", liar.path, verify.Claimed); w.Code != http.StatusForbidden {
			d.t.Errorf("minute %d: who asks for %s as %s is answered %d", minute, liar.path, liar.token, w.Code)
		}
	}
	d.ask("Googlebot", "203.0.113.9", "a.test", "/robots.txt", verify.Claimed)
	if forbids := minute > 66*60 && minute < 95*60; forbids { // a day after the rule about the shop was published
		if w := d.ask("Googlebot", "203.0.113.9", "a.test", "/shop/1", verify.Claimed); w.Code != http.StatusForbidden {
			d.t.Errorf("minute %d: a crawler under a false name gets %d for /shop/", minute, w.Code)
		}
	}
}
