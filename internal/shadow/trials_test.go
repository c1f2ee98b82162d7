package shadow

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

var start = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// read is a text that was read so many minutes after the start.
func read(text string, minutes int) *policy.Version {
	return policy.NewVersion(policy.FetchResult{Status: http.StatusOK, Body: []byte(text)}, start.Add(time.Duration(minutes)*time.Minute))
}

var example = policy.Key{Server: ":443", Site: "example.com", IsHTTPS: true, Host: "example.com"}

// by is a request of a crawler about which the texts say the same.
func by(token string) *Request {
	c := uaident.Default().Lookup(token)
	return &Request{
		Site: example, Label: "example.com", Source: "next.txt", InForce: read("", 0), OnTrial: read("Disallow: /", 0),
		Token: token, Class: c.Class, Identity: verify.Claimed, Target: "/x",
	}
}

// trying returns trials of next.txt.
func trying(t *testing.T) *Trials {
	trials := New(func() time.Time { return start })
	trials.KeepResults("next.txt")
	return trials
}

// only returns the only trial.
func only(t *testing.T, trials *Trials) TrialResults {
	t.Helper()
	all := trials.Snapshot()
	if len(all) != 1 {
		t.Fatalf("%d trials, want one: %+v", len(all), all)
	}
	return all[0]
}

func TestDifferences(t *testing.T) {
	for _, tc := range []struct {
		allowed, would bool
		want           string
	}{{true, true, "same"}, {false, false, "same"}, {true, false, "newly_forbidden"}, {false, true, "newly_allowed"}} {
		if got := DifferenceOf(tc.allowed, tc.would).String(); got != tc.want {
			t.Errorf("from %t to %t: %s, want %s", tc.allowed, tc.would, got, tc.want)
		}
	}
}

func TestNote(t *testing.T) {
	trials := trying(t)
	q := by("Googlebot")
	for range 3 {
		trials.RecordRequest(q)
	}
	q.Difference, q.Target = NewlyForbidden, "/shop/1"
	q.VerdictOnTrial = policy.Verdict{Rule: policy.Rule{Path: "/shop/", Line: 7}, Group: policy.Agent{Name: "*", Line: 6}}
	trials.RecordRequest(q)
	trials.RecordRequest(q)
	q.Identity, q.Difference = verify.Verified, NewlyAllowed
	trials.RecordRequest(q)

	one := only(t, trials)
	if one.Label != "example.com" || one.Source != "next.txt" || one.OnTrial != q.OnTrial.Hash || one.InForce != q.InForce.Hash || !one.Since.Equal(start) || len(one.Rows) != 2 {
		t.Fatalf("the trial is %+v", one)
	}
	for _, row := range one.Rows {
		want := [NumDifferences]uint64{3, 2, 0}
		if row.Identity == verify.Verified {
			want = [NumDifferences]uint64{0, 0, 1}
		}
		if row.CountByDifference != want || row.Token != "Googlebot" || row.Class != uaident.Search {
			t.Errorf("%s: %v, want %v", row.Identity, row.CountByDifference, want)
		}
		if row.Identity == verify.Verified {
			continue
		}
		page := row.Pages[NewlyForbidden-1][0]
		if page.Count != 2 || page.Key.Path != "/shop/1" || page.Key.LineOnTrial != (DecidingLine{policy.Rule{Path: "/shop/", Line: 7}, "*"}) || page.Key.LineInForce != (DecidingLine{}) {
			t.Errorf("the page is %+v", page)
		}
	}
}

// TestAnotherTextBegins counts anew when either text has changed, and leaves out
// requests that were under way meanwhile.
func TestAnotherTextBegins(t *testing.T) {
	trials := trying(t)
	first, edited, replaced := by("Googlebot"), by("Googlebot"), by("Googlebot")
	edited.OnTrial = read("Disallow: /a", 1)
	replaced.OnTrial, replaced.InForce = edited.OnTrial, read("Disallow: /b", 2)
	count := func() (n uint64) {
		for _, row := range only(t, trials).Rows {
			n += row.CountByDifference[Same]
		}
		return n
	}
	for i, step := range []struct {
		q    *Request
		want uint64
	}{{first, 1}, {first, 2}, {edited, 1}, {first, 1}, {edited, 2}, {replaced, 1}, {edited, 1}, {first, 1}, {replaced, 2}} {
		if trials.RecordRequest(step.q); count() != step.want {
			t.Errorf("step %d: %d requests, want %d", i, count(), step.want)
		}
	}
}

// TestTheTextBeforeComesBack counts anew when a text comes back that was there before, as it
// does from another instance, which has read it earlier and not seen the one between.
func TestTheTextBeforeComesBack(t *testing.T) {
	now := start
	trials := New(func() time.Time { return now })
	trials.KeepResults("next.txt")
	edited := by("Googlebot")
	edited.InForce = read("Disallow: /b", 2)
	for _, q := range []*Request{by("Googlebot"), edited} {
		trials.RecordRequest(q)
		now = now.Add(time.Minute)
	}
	for range 3 {
		trials.RecordRequest(by("Googlebot"))
	}
	if one := only(t, trials); one.InForce != by("Googlebot").InForce.Hash || one.Rows[0].CountByDifference[Same] != 3 {
		t.Errorf("the trial is %+v", one)
	}
}

func TestATrialEndsWithItsConfigurations(t *testing.T) {
	trials := New(func() time.Time { return start })
	end := trials.KeepResults("next.txt")
	trials.RecordRequest(by("Googlebot"))
	endAfter := trials.KeepResults("next.txt") // a reload
	end()
	if only(t, trials).Rows[0].CountByDifference[Same] != 1 {
		t.Error("a reload has forgotten what was found")
	}
	endAfter()
	trials.RecordRequest(by("Googlebot"))
	if len(trials.Snapshot()) > 0 || trials.numSearchEngineRows.Load() != 0 {
		t.Errorf("a text that no configuration tries is counted; %d rows", trials.numSearchEngineRows.Load())
	}
}

// TestNobodyPushesOutSearchEngines has every name of the registry and many pages
// before the search engines come.
func TestNobodyPushesOutSearchEngines(t *testing.T) {
	trials := trying(t)
	for site := range 40 {
		for _, c := range uaident.Default().Crawlers() {
			for identity := verify.Claimed; identity <= verify.Unknown; identity++ {
				for page := range 3 * maxPagesPerDifference {
					if site > 0 && page > 0 {
						break // one site is enough for pages
					}
					q := by(c.Token)
					q.Site.Host, q.Site.Site = fmt.Sprint(site), fmt.Sprint(site)
					q.Identity, q.Difference, q.Target = identity, NewlyForbidden, "/"+strings.Repeat("x", page*100)
					trials.RecordRequest(q)
				}
			}
		}
	}
	if n := trials.numRows.Load(); n > maxRows {
		t.Errorf("%d rows of others, want at most %d", n, maxRows)
	}
	if n := trials.numSearchEngineRows.Load(); n > maxSearchEngineRows {
		t.Errorf("%d rows of those who say that they are search engines, want at most %d", n, maxSearchEngineRows)
	}
	q := by("bingbot")
	q.Site.Host, q.Site.Site = "39", "39"
	q.Identity, q.Difference, q.Target = verify.Verified, NewlyForbidden, "/seen"
	trials.RecordRequest(q)
	found := false
	for _, one := range trials.Snapshot() {
		others := 0
		for _, row := range one.Rows {
			if (rowKey{row.Token, row.Class, row.Identity}).rowLimit() == ordinaryRowLimit {
				others++
			}
			for d, pages := range row.Pages {
				if len(pages) > maxPagesPerDifference {
					t.Errorf("%d pages of %s", len(pages), row.Token)
				}
				for _, page := range pages {
					if len(page.Key.Path) > maxTargetBytes {
						t.Errorf("a path of %d bytes", len(page.Key.Path))
					}
					found = found || d == int(NewlyForbidden)-1 && row.Token == "bingbot" && row.Identity == verify.Verified && page.Key.Path == "/seen" && page.Error == 0
				}
			}
		}
		if others > maxRowsPerSite {
			t.Errorf("%d other crawlers have a row at one site, want at most %d", others, maxRowsPerSite)
		}
	}
	if !found {
		t.Error("the page that the real bingbot asked for is not there")
	}
}

// TestWhoHasNoRow shares one by whether it is a search engine.
func TestWhoHasNoRow(t *testing.T) {
	trials := trying(t)
	q := by("GPTBot")
	q.Token, q.Class = judge.OtherName, uaident.GenericCrawler
	trials.RecordRequest(q)
	q.Class = uaident.Library
	trials.RecordRequest(q)
	if one := only(t, trials); len(one.Rows) != 1 || one.Rows[0].CountByDifference[Same] != 2 || one.Rows[0].Token != judge.OtherName {
		t.Errorf("the rows are %+v", one.Rows)
	}
}

func TestTrialsForSeveralGoroutines(t *testing.T) {
	trials := trying(t)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 500 {
				q := by([]string{"Googlebot", "GPTBot", "bingbot"}[n%3])
				q.Difference = Difference(n % 2)
				q.Target = fmt.Sprint("/", i, n)
				trials.RecordRequest(q)
			}
		})
	}
	wg.Wait()
	var total uint64
	for _, row := range only(t, trials).Rows {
		total += row.CountByDifference[Same] + row.CountByDifference[NewlyForbidden]
	}
	if total != 2000 {
		t.Errorf("%d requests, want 2000", total)
	}
}

func BenchmarkNote(b *testing.B) {
	trials := New(time.Now)
	trials.KeepResults("next.txt")
	for d := range Difference(NumDifferences) {
		b.Run(d.String(), func(b *testing.B) {
			q := by("Googlebot")
			q.Difference = d
			b.ReportAllocs()
			for b.Loop() {
				trials.RecordRequest(q)
			}
		})
	}
}
