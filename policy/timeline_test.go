package policy

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

const day = 24 * time.Hour

// timeline is a site in a cache. The test sets the clock and the responses of the origin.
type timeline struct {
	t     *testing.T
	clock *testClock
	entry *Entry
	rules FreshnessPolicy
	reads int
	says  func(at time.Duration) FetchResult
}

func newTimeline(t *testing.T, says func(at time.Duration) FetchResult) *timeline {
	c, clock := newTestCache(roomy)
	return &timeline{t: t, clock: clock, says: says, entry: c.GetOrCreate(Key{Host: "example.com"}, ConfiguredHosts),
		rules: FreshnessPolicy{Default: 10 * time.Minute, Min: time.Minute, Max: day}}
}

func (l *timeline) at() time.Duration { return l.clock.now().Sub(epoch) }

// visit sends a request, which fetches the file if it is due.
func (l *timeline) visit() {
	done := l.entry.Refresh(l.rules, func() FetchResult { l.reads++; return l.says(l.at()) }, nil)
	if done != nil {
		<-done
	}
}

// busy sends requests at a fixed interval until a time.
func (l *timeline) busy(until, interval time.Duration) {
	for l.at() < until {
		l.visit()
		l.clock.advance(min(interval, until-l.at()))
	}
	l.visit()
}

// state returns the current rule, "nothing" or "closed".
func (l *timeline) state(choice Fallback) string {
	robots, disallowAll := l.entry.State().EffectiveRules(l.clock.now(), choice)
	switch {
	case disallowAll:
		return "closed"
	case robots == nil || robots.RuleCount() == 0:
		return "nothing"
	}
	return robots.Groups()[0].Rules[0].Path
}

// fails returns an origin that responds with a, and with failed from a time on.
func fails(a FetchResult, from time.Duration, failed FetchResult) func(time.Duration) FetchResult {
	return func(at time.Duration) FetchResult {
		if at < from {
			return a
		}
		return failed
	}
}

// TestTimelineOfAnOutage tests an origin that fails from the second day on for more
// than a month.
func TestTimelineOfAnOutage(t *testing.T) {
	type moment struct {
		at   time.Duration
		want string
	}
	for _, tc := range []struct {
		name   string
		choice Fallback
		before FetchResult
		failed FetchResult
		life   time.Duration
		want   []moment // the outage starts after one day
	}{
		{"last_good: 30 days, then nothing", LastGood, version(1), failing, time.Hour, []moment{
			{day, "/1"}, {2*day - time.Hour, "/1"}, {3 * day, "/1"}, {30 * day, "/1"}, {31 * day, "nothing"}, {60 * day, "nothing"}}},
		{"allow: a day, then nothing", AllowAll, version(1), failing, time.Hour, []moment{
			{day, "/1"}, {2*day - 2*time.Hour, "/1"}, {2 * day, "nothing"}, {60 * day, "nothing"}}},
		{"disallow: a day, then closed, for 30 days of failing", DisallowAll, version(1), failing, time.Hour, []moment{
			{2*day - 2*time.Hour, "/1"}, {2 * day, "closed"}, {30 * day, "closed"}, {31*day - time.Hour, "closed"}, {31 * day, "nothing"}}},
		{"disallow without a copy", DisallowAll, failing, failing, time.Hour, []moment{
			{0, "closed"}, {day, "closed"}, {30*day - time.Hour, "closed"}, {30 * day, "nothing"}}},
		{"disallow_google without a copy: 12 hours", DisallowLikeGoogle, failing, failing, time.Hour, []moment{
			{0, "closed"}, {12*time.Hour - time.Second, "closed"}, {12 * time.Hour, "nothing"}, {30 * day, "nothing"}}},
		{"disallow_google with a copy of hours: the 12 hours are over in a day", DisallowLikeGoogle, version(1), failing, time.Hour, []moment{
			{2 * day, "/1"}, {30 * day, "/1"}, {31 * day, "nothing"}}},
		{"429 closes nothing", DisallowAll, refusing, refusing, time.Hour, []moment{
			{0, "nothing"}, {day, "nothing"}, {30 * day, "nothing"}}},
		{"429 keeps the last good copy", LastGood, version(1), refusing, time.Hour, []moment{
			{2 * day, "/1"}, {30 * day, "/1"}, {31 * day, "nothing"}}},
		{"a site that has no file stays one", LastGood, missing, failing, time.Hour, []moment{
			{day, "nothing"}, {30 * day, "nothing"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newTimeline(t, fails(tc.before, day, tc.failed))
			l.rules = holding(tc.life)
			for _, m := range tc.want {
				l.busy(m.at, time.Hour)
				if got := l.state(tc.choice); got != m.want {
					t.Errorf("after %v: %s, want %s", m.at, got, m.want)
				}
			}
			// The first good response ends every fallback.
			l.says = func(time.Duration) FetchResult { return version(2) }
			l.clock.advance(day)
			l.visit()
			if got := l.state(tc.choice); got != "/2" {
				t.Errorf("after the outage: %s, want /2", got)
			}
		})
	}
}

// TestTimelineOfAnOutageForGoogle tests a file that is fetched once a day. The first
// failed fetch is up to a tenth of a day before the copy expires.
func TestTimelineOfAnOutageForGoogle(t *testing.T) {
	l := newTimeline(t, fails(version(1), time.Hour, failing))
	l.rules = holding(day)
	for _, m := range []struct {
		at   time.Duration
		want string
	}{
		{day - time.Minute, "/1"}, {day, "closed"}, {33 * time.Hour, "closed"}, {36 * time.Hour, "/1"}, {30*day - time.Minute, "/1"}, {30 * day, "nothing"},
	} {
		l.busy(m.at, time.Minute)
		if got := l.state(DisallowLikeGoogle); got != m.want {
			t.Errorf("after %v: %s, want %s", m.at, got, m.want)
		}
	}
}

// TestTimelineOfAnIdleSite sends no requests for weeks. The copy is then expired, and
// the first request fetches a new copy.
func TestTimelineOfAnIdleSite(t *testing.T) {
	l := newTimeline(t, fails(version(1), day, version(2)))
	l.visit()
	for at, want := range map[time.Duration]bool{day - 1: false, day: true, 21 * day: true} {
		if got := l.entry.State().IsExpired(epoch.Add(at)); got != want {
			t.Errorf("expired after %v: %t, want %t", at, got, want)
		}
	}
	l.clock.advance(21 * day)
	l.visit()
	if got := l.state(LastGood); got != "/2" || l.reads != 2 {
		t.Errorf("%s after %d readings", got, l.reads)
	}
	if inGrace := l.entry.State().VersionsInGrace(l.clock.now(), day); len(inGrace) != 1 {
		t.Errorf("%d previous versions are in grace, want 1 just after the change", len(inGrace))
	}
}

// TestTimelineOfAnIdleSiteThatFails sends no requests for weeks, while the origin
// fails.
func TestTimelineOfAnIdleSiteThatFails(t *testing.T) {
	for idle, want := range map[time.Duration]map[Fallback]string{
		20 * day: {LastGood: "/1", AllowAll: "nothing", DisallowAll: "closed", DisallowLikeGoogle: "closed"},
		40 * day: {LastGood: "nothing", AllowAll: "nothing", DisallowAll: "closed", DisallowLikeGoogle: "closed"},
	} {
		l := newTimeline(t, fails(version(1), day, failing))
		l.visit()
		l.clock.advance(idle)
		l.visit()
		for choice, state := range want {
			if got := l.state(choice); got != state {
				t.Errorf("fallback %d after %v: %s, want %s", choice, idle, got, state)
			}
		}
	}
}

// TestTimelineOfFetches counts the fetches in a week of requests.
func TestTimelineOfFetches(t *testing.T) {
	with := func(field, value string) FetchResult {
		return FetchResult{Status: 200, Body: version(1).Body, Header: http.Header{field: {value}}}
	}
	for _, tc := range []struct {
		name     string
		answer   FetchResult
		min, max int // the next fetch is up to a tenth earlier
	}{
		{"no header: every ten minutes", version(1), 1008, 1130},
		{"max-age of an hour", with("Cache-Control", "max-age=3600"), 168, 190},
		{"max-age of a month: once a day", with("Cache-Control", "max-age=2592000"), 7, 9},
		{"no-store: every minute", with("Cache-Control", "no-store"), 7 * 24 * 60, 7*24*60 + 1},
		{"no file, kept as any answer", FetchResult{Status: 404, Header: http.Header{"Cache-Control": {"max-age=7200"}}}, 84, 95},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newTimeline(t, func(time.Duration) FetchResult { return tc.answer })
			l.busy(7*day, time.Minute)
			if l.reads < tc.min || l.reads > tc.max {
				t.Errorf("%d readings, want %d to %d", l.reads, tc.min, tc.max)
			}
			if age := l.clock.now().Sub(l.entry.State().Current.LastFetched); age > MaxAge {
				t.Errorf("the age of the copy is %v", age)
			}
		})
	}
}

// TestTimelineOfRetries counts the fetches in a day with one request per second.
func TestTimelineOfRetries(t *testing.T) {
	for _, tc := range []struct {
		name     string
		failed   FetchResult
		min, max int
	}{
		{"1 s, doubling, 5 min", failing, 260, 300},
		{"Retry-After of six hours", FetchResult{Status: 503, Header: http.Header{"Retry-After": {"21600"}}}, 4, 5},
		{"Retry-After of a month: a day at most", FetchResult{Status: 429, Header: http.Header{"Retry-After": {"2592000"}}}, 1, 2},
		{"Retry-After of a second keeps backing off", FetchResult{Status: 503, Header: http.Header{"Retry-After": {"1"}}}, 260, 300},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := newTimeline(t, func(time.Duration) FetchResult { return tc.failed })
			l.busy(day, time.Second)
			if l.reads < tc.min || l.reads > tc.max {
				t.Errorf("%d attempts, want %d to %d", l.reads, tc.min, tc.max)
			}
		})
	}
}

// TestTimelineOfChanges changes a file every 20 hours for two weeks. A crawler may follow each
// version that was current in the last 24 hours.
func TestTimelineOfChanges(t *testing.T) {
	const interval = 20 * time.Hour
	l := newTimeline(t, func(at time.Duration) FetchResult { return version(int(at / interval)) })
	inGrace := func() (rules []string) {
		for _, v := range l.entry.State().VersionsInGrace(l.clock.now(), day) {
			rules = append(rules, ruleOf(v))
		}
		return rules
	}
	for now := time.Duration(0); now < 14*day; now += time.Hour {
		l.busy(now, time.Minute)
		current := int(now / interval)
		if got, want := l.state(LastGood), fmt.Sprintf("/%d", current); got != want {
			t.Fatalf("after %v: %s, want %s", now, got, want)
		}
		// The guard notices a change within ten minutes.
		since := now - time.Duration(current)*interval
		var want []string
		if current > 0 {
			want = append(want, fmt.Sprint(current-1))
		}
		if current > 1 && since <= 4*time.Hour {
			want = append(want, fmt.Sprint(current-2))
		}
		if since == 0 || since == 4*time.Hour {
			continue // depends on the jitter
		}
		if got := inGrace(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("after %v crawlers may follow %v, want %v", now, got, want)
		}
	}
}
