package guard

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// longLived returns the guard of a site whose robots.txt has a max-age of a day, and a
// function that returns the number of its fetches.
func longLived(t *testing.T, text *string) (g *Guard, reads func() int) {
	n := 0
	g = testGuard(t, options{Enforce: true}, &scriptedSource{answer: func(context.Context) policy.FetchResult {
		n++
		return policy.FetchResult{Status: http.StatusOK, Body: []byte(*text), Header: http.Header{"Cache-Control": {"max-age=86400"}}}
	}})
	return g, func() int { synctest.Wait(); return n }
}

// TestReadAgainBeforeABlock tests a site that the owner opens while the guard's copy is
// fresh. Crawlers that have fetched the file elsewhere must not be blocked by the
// outdated copy. The guard refetches the file at most once a minute for that.
func TestReadAgainBeforeABlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strict
		g, reads := longLived(t, &text)
		expect := func(when, agent string, want judge.Verdict, most int) {
			t.Helper()
			if j := g.Judge(requestBy(agent, "/x")); j.Verdict != want {
				t.Errorf("%s: %s is %s, want %s", when, agent, j.Verdict, want)
			}
			if n := reads(); n != most {
				t.Errorf("%s: the file was read %d times, want %d", when, n, most)
			}
		}
		expect("at first", "bingbot/2.0", judge.Disallowed, 1)
		for range 100 {
			expect("at once again", "bingbot/2.0", judge.Disallowed, 1)
		}
		time.Sleep(2 * time.Minute)
		expect("later", "bingbot/2.0", judge.Disallowed, 2)
		text = loose
		time.Sleep(2 * time.Minute)
		expect("once it is open", "bingbot/2.0", judge.Allowed, 3)
		time.Sleep(time.Hour)
		expect("of what is allowed", "bingbot/2.0", judge.Allowed, 3)
	})
}

// TestReadingBeforeAnyCopy makes a crawler fetch the file before the guard does. The
// guard still knows that file when the crawler returns hours later, although the owner
// has changed it.
func TestReadingBeforeAnyCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := loose
		g, reads := longLived(t, &text)
		s := &changingSite{t: t, g: g}
		bing := func(target string) *http.Request { return from(requestBy("bingbot/2.0", target), "192.0.2.1") }
		s.reads(bing("/robots.txt"), text)
		if n := reads(); n != 1 {
			t.Fatalf("the guard has read the file %d times, want once", n)
		}
		text = strict
		time.Sleep(10 * time.Hour)
		if j := g.Judge(bing("/x")); j.Action == judge.Blocked {
			t.Errorf("a crawler that keeps to what it read is %s", j.Verdict)
		}
		if j := g.Judge(bing("/private/x")); j.Action != judge.Blocked {
			t.Errorf("a crawler that does not keep to what it read is %s", j.Verdict)
		}
	})
}

// TestAnswerThatDiffersIsReadAtOnce requests no page after a crawler was served a new
// file. The guard must still know since when the file is there.
func TestAnswerThatDiffersIsReadAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := loose
		g, reads := longLived(t, &text)
		g.Judge(requestBy("bingbot/2.0", "/x"))
		reads()
		text = strict
		time.Sleep(time.Hour)
		s := &changingSite{t: t, g: g}
		s.reads(from(requestBy("GPTBot/1.2", "/robots.txt"), "192.0.2.1"), strict)
		reads()
		time.Sleep(25 * time.Hour)
		if j := g.Judge(from(requestBy("CCBot/2.0", "/x"), "198.51.100.1")); j.Verdict != judge.Disallowed {
			t.Errorf("25 hours after the guard could see the change: %s", j.Verdict)
		}
	})
}

// TestBlockedByACopyThatIsDue refetches the file for the request that finds the copy
// due. The new file decides about the block.
func TestBlockedByACopyThatIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newChangingSite(t, options{Enforce: true, FetchWait: 10 * time.Second}, strict)
		s.hold() // for an hour
		s.g.Source = &scriptedSource{answer: func(context.Context) policy.FetchResult {
			time.Sleep(time.Second) // so that the request is first evaluated with the old copy
			return policy.FetchResult{Status: http.StatusOK, Body: []byte(loose)}
		}}
		time.Sleep(2 * time.Hour)
		if j := s.g.Judge(requestBy("bingbot/2.0", "/x")); j.Verdict != judge.Allowed {
			t.Errorf("%s", j.Verdict)
		}
	})
}

// TestReadingsWithoutGrace checks that without grace the current file applies at once,
// whatever crawlers have fetched before.
func TestReadingsWithoutGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newChangingSite(t, options{Enforce: true, Grace: -1}, loose)
		s.hold()
		s.reads(from(requestBy("bingbot/2.0", "/robots.txt"), "192.0.2.1"), loose)
		time.Sleep(time.Second)
		s.text = strict
		s.hold()
		if j := s.g.Judge(from(requestBy("bingbot/2.0", "/x"), "192.0.2.1")); j.Verdict != judge.Disallowed {
			t.Errorf("after the change: %s", j.Verdict)
		}
	})
}

// TestBlockedAfterAnOutage makes the site available again with a looser file. The
// request that causes the refetch gets the new verdict. During the outage the guard
// does not fetch the file more often than the back-off allows.
func TestBlockedAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := policy.FetchResult{Status: http.StatusOK, Body: []byte(strict)}
		source := &scriptedSource{answer: func(context.Context) policy.FetchResult { return answer }}
		g := testGuard(t, options{Enforce: true}, source)
		blocked := func(when string, want judge.Verdict) {
			t.Helper()
			if j := g.Judge(requestBy("bingbot/2.0", "/x")); j.Verdict != want {
				t.Errorf("%s: %s, want %s", when, j.Verdict, want)
			}
			synctest.Wait()
		}
		blocked("at first", judge.Disallowed)
		answer = policy.FetchResult{Status: http.StatusServiceUnavailable}
		time.Sleep(time.Hour)
		before := source.reads.Load()
		for range 600 { // ten minutes
			blocked("while it fails", judge.Disallowed)
			time.Sleep(time.Second)
		}
		if n := source.reads.Load() - before; n > 12 {
			t.Errorf("it was read %d times in ten minutes of an outage", n)
		}
		answer = policy.FetchResult{Status: http.StatusOK, Body: []byte(loose)}
		time.Sleep(10 * time.Minute)
		blocked("once it is back", judge.Allowed)
	})
}

// TestServedAfterMaintenance tests a site that sends Retry-After of a day during
// maintenance, but is back after an hour with a looser file. As soon as a client was
// served that file, it counts.
func TestServedAfterMaintenance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := policy.FetchResult{Status: http.StatusOK, Body: []byte(strict)}
		source := &scriptedSource{answer: func(context.Context) policy.FetchResult { return answer }}
		s := &changingSite{t: t, g: testGuard(t, options{Enforce: true}, source)}
		judged := func(when string, want judge.Verdict, reads int64) {
			t.Helper()
			if j := s.g.Judge(requestBy("bingbot/2.0", "/x")); j.Verdict != want {
				t.Errorf("%s: %s, want %s", when, j.Verdict, want)
			}
			if synctest.Wait(); int64(source.reads.Load()) != reads {
				t.Errorf("%s: it was read %d times, want %d", when, source.reads.Load(), reads)
			}
		}
		judged("at first", judge.Disallowed, 1)
		answer = policy.FetchResult{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"86400"}}}
		time.Sleep(time.Hour)
		judged("in maintenance", judge.Disallowed, 2)
		answer = policy.FetchResult{Status: http.StatusOK, Body: []byte(loose)}
		time.Sleep(time.Hour)
		judged("while nobody has seen the text", judge.Disallowed, 2)
		s.reads(requestBy(uaFirefox, "/robots.txt"), loose)
		s.g.Judge(requestBy("GPTBot/1.2", "/"))
		synctest.Wait()
		judged("once a browser was served it", judge.Allowed, 3)
	})
}

// TestTheEndOfAnOutage tests a site that is closed while its robots.txt is unavailable.
// The new file applies to the request that causes the successful fetch.
func TestTheEndOfAnOutage(t *testing.T) {
	for _, fallback := range []policy.Fallback{policy.DisallowAll, policy.DisallowLikeGoogle} {
		synctest.Test(t, func(t *testing.T) {
			answer := policy.FetchResult{Status: http.StatusServiceUnavailable}
			source := &scriptedSource{answer: func(context.Context) policy.FetchResult { return answer }}
			g := testGuard(t, options{Enforce: true, Unreachable: fallback}, source)
			judged := func(when string, want judge.Verdict, closed bool) {
				t.Helper()
				if j := g.Judge(requestBy("bingbot/2.0", "/x")); j.Verdict != want || (j.Reason == judge.ReasonSiteClosed) != closed {
					t.Errorf("%s: %s, closed: %t", when, j.Verdict, j.Reason == judge.ReasonSiteClosed)
				}
				synctest.Wait()
			}
			judged("at first", judge.Unknown, true)
			time.Sleep(10 * time.Minute)
			judged("while it fails", judge.Unknown, true)
			answer = policy.FetchResult{Status: http.StatusOK, Body: []byte(loose)}
			judged("until it is asked for again", judge.Unknown, true)
			time.Sleep(10 * time.Minute)
			judged("once it is back", judge.Allowed, false)
		})
	}
}

// TestJudgedAgain checks that a second evaluation drops the hold of the change guard
// from the first.
func TestJudgedAgain(t *testing.T) {
	g := testGuard(t, options{Enforce: true}, serving(loose))
	r := requestBy("bingbot/2.0", "/x")
	j := g.Judge(r)
	j.allowedByHold = true
	l := g.lookUpRobots(r, j, g.state.Cache.Get(j.Site.Key), nil)
	if g.judgeByCopy(&l); j.Verdict != judge.Allowed || j.allowedByHold {
		t.Errorf("%s, held: %t", j.Verdict, j.allowedByHold)
	}
}

// TestReadAgainBeforeSlowing removes the Crawl-delay from the file. A crawler that has
// fetched the file elsewhere gets no 429 because of an outdated copy.
func TestReadAgainBeforeSlowing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := "User-agent: *\nCrawl-delay: 60\n"
		g, reads := longLived(t, &text)
		settings := *slow
		settings.Enforce, settings.SlowSearch = true, true
		g.Rate = &settings
		slowed := func() (n int) {
			for range 20 {
				if j := g.Judge(requestBy("CCBot/2.0", "/x")); j.Action == judge.Slowed {
					n++
				}
				reads()
			}
			return n
		}
		if slowed() == 0 {
			t.Fatal("nothing is slowed")
		}
		time.Sleep(2 * time.Minute)
		text = "User-agent: *\nDisallow:\n"
		if n := slowed(); n > 0 {
			t.Errorf("%d requests are slowed by a delay that nobody asks for any more", n)
		}
	})
}
