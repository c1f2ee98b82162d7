package policy

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestAccessResults(t *testing.T) {
	for _, tc := range []struct {
		name   string
		answer FetchResult
		want   AccessResult
	}{
		{"200", FetchResult{Status: 200}, Successful},
		{"204", FetchResult{Status: 204}, Successful},
		{"a choice of several is no file", FetchResult{Status: 300}, Unavailable},
		{"a redirect that leads nowhere is unavailable", FetchResult{Status: 302}, Unavailable},
		{"304 is about the copy that was asked about", FetchResult{Status: 304}, NotModified},
		{"400", FetchResult{Status: 400}, Unavailable},
		{"401 and 403 restrict nothing", FetchResult{Status: 403}, Unavailable},
		{"404", FetchResult{Status: 404}, Unavailable},
		{"410", FetchResult{Status: 410}, Unavailable},
		{"429 is a server in trouble", FetchResult{Status: 429}, TooManyRequests},
		{"499", FetchResult{Status: 499}, Unavailable},
		{"500", FetchResult{Status: 500}, Unreachable},
		{"503", FetchResult{Status: 503}, Unreachable},
		{"a status that nobody defined", FetchResult{Status: 700}, Unreachable},
		{"no answer", FetchResult{}, Unreachable},
		{"a body that ended early", FetchResult{Status: 200, Err: errors.New("unexpected EOF")}, Unreachable},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.answer.AccessResult(); got != tc.want {
				t.Errorf("Meaning() = %v, want %v", got, tc.want)
			}
		})
	}
}

// stateAfter applies responses at the given times after epoch.
func stateAfter(steps ...step) State {
	var s State
	for _, x := range steps {
		s = s.AfterFetch(x.answer, epoch.Add(x.at), tenMinutes, 0)
	}
	return s
}

var tenMinutes = holding(10 * time.Minute)

// holding returns a FreshnessPolicy with the lifetime d for every response.
func holding(d time.Duration) FreshnessPolicy { return FreshnessPolicy{Default: d, Max: d} }

type step struct {
	at     time.Duration
	answer FetchResult
}

var (
	forbidding = FetchResult{Status: 200, Body: []byte("User-agent: *\nDisallow: /\n")}
	missing    = FetchResult{Status: 404, Body: []byte("User-agent: *\nDisallow: /\n")}
	failing    = FetchResult{Status: 503}
	refusing   = FetchResult{Status: 429}
)

func TestUsable(t *testing.T) {
	const day = 24 * time.Hour
	for _, tc := range []struct {
		name        string
		steps       []step
		at          time.Duration
		fallback    Fallback
		known       bool // whether the rules are known
		forbids     bool
		disallowAll bool
	}{
		{name: "nothing read yet", at: 0},
		{name: "rules", steps: []step{{0, forbidding}}, at: time.Hour, known: true, forbids: true},
		{name: "no robots.txt: the body of a 404 says nothing", steps: []step{{0, missing}}, at: time.Hour, known: true},
		{name: "a failure within a day changes nothing", steps: []step{{0, forbidding}, {time.Hour, failing}}, at: 23 * time.Hour, fallback: AllowAll, known: true, forbids: true},
		{name: "last_good applies for 30 days", steps: []step{{0, forbidding}, {day, failing}}, at: 30*day - 1, known: true, forbids: true},
		{name: "last_good ends after 30 days", steps: []step{{0, forbidding}, {day, failing}}, at: 30 * day},
		{name: "last_good without a copy restricts nothing", steps: []step{{0, failing}}, at: time.Minute},
		{name: "allow restricts nothing after a day", steps: []step{{0, forbidding}, {day, failing}}, at: day, fallback: AllowAll},
		{name: "disallow closes without a copy", steps: []step{{0, failing}}, at: time.Minute, fallback: DisallowAll, disallowAll: true},
		{name: "disallow closes after a day", steps: []step{{0, forbidding}, {day, failing}}, at: day, fallback: DisallowAll, disallowAll: true},
		{name: "disallow ends after 30 days", steps: []step{{0, failing}}, at: 30 * day, fallback: DisallowAll},
		{name: "Google stays away for 12 hours", steps: []step{{0, failing}}, at: 12*time.Hour - 1, fallback: DisallowLikeGoogle, disallowAll: true},
		{name: "and then crawls, if there never was a file", steps: []step{{0, failing}}, at: 12 * time.Hour, fallback: DisallowLikeGoogle},
		{name: "Google uses a copy of less than a day", steps: []step{{0, forbidding}, {time.Hour, failing}}, at: 23 * time.Hour, fallback: DisallowLikeGoogle, known: true, forbids: true},
		{name: "then stays away for the rest of 12 hours", steps: []step{{0, forbidding}, {day, failing}}, at: day + 11*time.Hour, fallback: DisallowLikeGoogle, disallowAll: true},
		{name: "then uses the last good copy", steps: []step{{0, forbidding}, {day, failing}}, at: day + 12*time.Hour, fallback: DisallowLikeGoogle, known: true, forbids: true},
		{name: "for 30 days", steps: []step{{0, forbidding}, {day, failing}}, at: 30 * day, fallback: DisallowLikeGoogle},
		{name: "429 restricts nothing for Google", steps: []step{{0, forbidding}, {day, refusing}}, at: day + time.Hour, fallback: DisallowLikeGoogle, known: true, forbids: true},
		{name: "429 does not close even so", steps: []step{{0, refusing}}, at: time.Minute, fallback: DisallowAll},
		{name: "429 keeps the last good copy", steps: []step{{0, forbidding}, {day, refusing}}, at: 2 * day, known: true, forbids: true},
		{name: "the failure is over", steps: []step{{0, failing}, {time.Hour, missing}}, at: 2 * time.Hour, fallback: DisallowAll, known: true},
		{name: "the copy of an idle site stays", steps: []step{{0, forbidding}}, at: 3 * day, fallback: AllowAll, known: true, forbids: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := stateAfter(tc.steps...)
			robots, disallowAll := s.EffectiveRules(epoch.Add(tc.at), tc.fallback)
			if disallowAll != tc.disallowAll {
				t.Errorf("closed = %t, want %t", disallowAll, tc.disallowAll)
			}
			if known := robots != nil; known != tc.known {
				t.Fatalf("rules known = %t, want %t", known, tc.known)
			}
			if robots != nil {
				if forbids := !robots.Select(true, "FooBot").Judge("/").Allowed; forbids != tc.forbids {
					t.Errorf("forbids = %t, want %t", forbids, tc.forbids)
				}
			}
		})
	}
}

func TestNextAttempt(t *testing.T) {
	retryAfter := func(value string) FetchResult {
		return FetchResult{Status: 503, Header: http.Header{"Retry-After": {value}}}
	}
	failures := func(n int) (steps []step) {
		for range n {
			steps = append(steps, step{0, failing})
		}
		return steps
	}
	for _, tc := range []struct {
		name  string
		steps []step
		want  time.Duration
	}{
		{"a good answer holds for its life", []step{{0, forbidding}}, 10 * time.Minute},
		{"the first retry", failures(1), time.Second},
		{"doubling", failures(4), 8 * time.Second},
		{"at most five minutes", failures(12), 5 * time.Minute},
		{"without overflow", failures(100), 5 * time.Minute},
		{"a success in between starts anew", []step{{0, failing}, {0, failing}, {0, missing}, {0, failing}}, time.Second},
		{"Retry-After in seconds", []step{{0, retryAfter("120")}}, 2 * time.Minute},
		{"Retry-After as a date", []step{{0, retryAfter(epoch.Add(time.Hour).Format(http.TimeFormat))}}, time.Hour},
		{"Retry-After in the past", []step{{0, retryAfter(epoch.Add(-time.Hour).Format(http.TimeFormat))}}, time.Second},
		{"Retry-After of a month", []step{{0, retryAfter("2592000")}}, 24 * time.Hour},
		{"Retry-After of nonsense", []step{{0, retryAfter("-5")}}, time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := stateAfter(tc.steps...)
			if got := s.NextFetch.Sub(epoch); got != tc.want {
				t.Errorf("due after %v, want %v", got, tc.want)
			}
		})
	}
}

func TestJitterOnlyShortensAGoodAnswer(t *testing.T) {
	good := State{}.AfterFetch(forbidding, epoch, holding(time.Hour), 1).NextFetch.Sub(epoch)
	if good != 54*time.Minute {
		t.Errorf("with full jitter a lifetime of an hour ends after %v, want 54m", good)
	}
	failed := State{}.AfterFetch(failing, epoch, holding(time.Hour), 1).NextFetch.Sub(epoch)
	if failed != 1100*time.Millisecond {
		t.Errorf("with full jitter the first retry comes after %v, want 1.1s", failed)
	}
}

func TestNotModifiedKeepsTheCopy(t *testing.T) {
	tagged := FetchResult{Status: 200, Body: forbidding.Body, Header: http.Header{"Etag": {`"1"`}, "Last-Modified": {"yesterday"}}}
	s := stateAfter(step{0, tagged}, step{time.Hour, FetchResult{Status: 304}})
	if s.Current.Robots.RuleCount() != 1 || s.Current.ETag != `"1"` || s.Current.LastModified != "yesterday" || s.Current.Status != 200 {
		t.Errorf("after a 304: %+v", s.Current)
	}
	if !s.Current.LastFetched.Equal(epoch.Add(time.Hour)) || s.FailureCount != 0 || s.Previous != nil {
		t.Errorf("a 304 is no reading: %+v", s)
	}
	if s := stateAfter(step{0, FetchResult{Status: 304}}); s.Current != nil || s.FailureCount != 1 {
		t.Errorf("a 304 without a conditional request: %+v", s)
	}
}

// version returns a response whose only rule has n in its path.
func version(n int) FetchResult {
	return FetchResult{Status: 200, Body: fmt.Appendf(nil, "User-agent: *\nDisallow: /%d\n", n)}
}

// ruleOf returns n of a version.
func ruleOf(v *Version) string { return strings.TrimPrefix(v.Robots.Groups()[0].Rules[0].Path, "/") }

func TestVersionsInGrace(t *testing.T) {
	const grace = 24 * time.Hour
	s := stateAfter(step{0, version(0)}, step{10 * time.Hour, version(1)}, step{20 * time.Hour, version(2)})
	for _, tc := range []struct {
		name     string
		now      time.Duration
		grace    time.Duration
		versions int
	}{
		{"just changed", 20 * time.Hour, grace, 2},
		{"a day after the first change", 34 * time.Hour, grace, 1},
		{"a day after the second change", 44 * time.Hour, grace, 0},
		{"a shorter grace", 21 * time.Hour, 2 * time.Hour, 1},
		{"no grace", 20 * time.Hour, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := len(s.VersionsInGrace(epoch.Add(tc.now), tc.grace)); got != tc.versions {
				t.Errorf("%d versions may be followed, want %d", got, tc.versions)
			}
		})
	}
}
