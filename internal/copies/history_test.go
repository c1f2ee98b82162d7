package copies

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

func hashOf(body string) [sha256.Size]byte { return sha256.Sum256([]byte(body)) }

const (
	closed = "User-agent: *\nDisallow: /\n"
	open   = "User-agent: *\nDisallow: /none\n"
)

// site simulates a site with a clock and a guard.
type site struct {
	*testing.T
	book  *History
	of    RequestHost
	state policy.State
	now   time.Time
}

func newSite(t *testing.T) *site {
	return &site{T: t, book: NewHistory(nil), of: RequestHost{Host: Host{Name: "a.test"}, Configured: true, Grace: day}, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (s *site) after(d time.Duration) *site {
	s.now = s.now.Add(d)
	return s
}

// reads makes the guard fetch the robots.txt. The site responds with a file or a status.
func (s *site) reads(status int, body string) *site {
	before := s.state
	s.state = s.state.AfterFetch(policy.FetchResult{Status: status, Body: []byte(body)}, s.now, policy.FreshnessPolicy{}, 0)
	if before.FailureCount > 0 && s.state.FailureCount == 0 {
		s.book.ExtendGrace(s.of.Host, before.FailingSince, s.now)
	}
	if s.state.FailureCount == 0 {
		s.book.RecordCurrentCopy(s.of, &s.state, s.now)
	}
	return s
}

func (s *site) serves(token, body string) *site {
	s.book.RecordServedFile(s.of, token, &policy.Version{Robots: policy.Parse([]byte(body)), Hash: hashOf(body), Lifetime: policy.NoLifetime}, s.now)
	return s
}

// wants checks the verdict for a crawler with this token.
func (s *site) wants(token, want string) *site {
	s.Helper()
	now := s.now
	if s.state.FailureCount > 0 {
		now = s.state.FailingSince
	}
	s.book.RecordCurrentCopy(s.of, &s.state, now)
	if got := verdict(s.book, s.of.Host, s.state.Current, token, "/page", now, policy.MaxAge); got != want {
		s.Errorf("%s: %s, want %s", token, got, want)
	}
	return s
}

const day = 24 * time.Hour

func TestNewDisallowWaits(t *testing.T) {
	s := newSite(t).reads(200, open).after(5*day).reads(200, closed).wants("foobot", "stale")
	if at := s.book.EffectiveTime(s.of.Host, s.now); !at.Equal(s.now.Add(day)) {
		t.Errorf("takes effect at %v, want in a day", at)
	}
	s.after(day-time.Second).wants("foobot", "stale").after(time.Second).wants("foobot", "disallowed")
	if at := s.book.EffectiveTime(s.of.Host, s.now); !at.IsZero() {
		t.Errorf("takes effect at %v, want now", at)
	}
}

func TestServedFileCountsForItsToken(t *testing.T) {
	newSite(t).reads(200, closed).after(day).serves("FooBot", open).
		wants("foobot", "stale").wants("barbot", "disallowed").
		after(day-time.Second).wants("foobot", "stale").after(time.Second).wants("foobot", "disallowed")
}

// TestLostServedFile frees the contents of a file that was served to one token and was never the
// guard's copy. Only this token may be using the file.
func TestLostServedFile(t *testing.T) {
	s := newSite(t).serves("foobot", open)
	for range 2 { // the weak pointer is cleared by a later collection
		runtime.GC()
	}
	s.after(time.Hour).reads(200, closed).wants("barbot", "disallowed").wants("foobot", "stale").
		after(day).wants("foobot", "disallowed")
}

func TestOutageDoesNotCount(t *testing.T) {
	newSite(t).reads(200, open).reads(200, closed).after(time.Hour).reads(503, "").after(3*day).wants("foobot", "stale").
		reads(200, closed).wants("foobot", "stale").after(23*time.Hour-time.Second).wants("foobot", "stale").after(time.Second).wants("foobot", "disallowed")
}

func TestMissingRules(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status int
		body   string
	}{{"404", 404, ""}, {"403", 403, ""}, {"an empty file", 200, ""}, {"a web page", 200, "<!DOCTYPE html>"}} {
		t.Run(tc.name, func(t *testing.T) {
			newSite(t).reads(200, closed).after(day).reads(tc.status, tc.body).wants("foobot", "allowed").
				serves("barbot", "").after(50*time.Minute).reads(200, closed).wants("foobot", "disallowed").wants("barbot", "stale")
			newSite(t).reads(200, closed).after(day).reads(tc.status, tc.body).
				after(61*time.Minute).reads(200, closed).wants("foobot", "stale").after(day).wants("foobot", "disallowed")
		})
	}
	t.Run("in several ways", func(t *testing.T) {
		s := newSite(t).reads(200, closed).after(day)
		for i := range 12 {
			s.after(6*time.Minute).reads(200, fmt.Sprintf("<html>%d", i))
		}
		s.reads(200, closed).wants("foobot", "stale")
	})
}

func TestTimestampIsNoChange(t *testing.T) {
	s := newSite(t).reads(200, open).reads(200, closed).after(day)
	for i := range 100 {
		s.after(time.Minute).reads(200, fmt.Sprintf("# %d\n%s", i, closed)).wants("foobot", "disallowed")
	}
}

// TestOverflow changes the rules at every fetch. Disallowed paths are stale until a day after the
// last change.
func TestOverflow(t *testing.T) {
	s := newSite(t).reads(200, open)
	for i := range 100 {
		s.after(time.Minute).reads(200, fmt.Sprintf("%sDisallow: /%d\n", closed, i)).wants("foobot", "stale")
	}
	s.after(day-30*time.Minute).wants("foobot", "stale").after(30*time.Minute).wants("foobot", "disallowed")
}

// TestHostBecomesUnknown moves a host with two files to the set of unknown hosts and back. The files
// are kept, and their memory is counted for the set of the host.
func TestHostBecomesUnknown(t *testing.T) {
	s := newSite(t).reads(200, open).after(day).reads(200, closed)
	for range 2 {
		s.of.Configured = !s.of.Configured
		s.serves("barbot", closed)
		for range 2 { // the weak pointer is cleared by a later collection
			runtime.GC()
		}
		s.wants("foobot", "stale")
		checkBounds(t, s.book)
	}
}

// TestStoredTokenIsACopy checks that a stored product token does not keep the User-Agent in memory.
func TestStoredTokenIsACopy(t *testing.T) {
	userAgent := "foobot/1.0 " + strings.Repeat("x", 1000)
	s := newSite(t).serves(userAgent[:len("foobot")], open)
	for token := range s.book.findRecord(s.of.Host).files[0].Served {
		if token != "foobot" || unsafe.StringData(token) == unsafe.StringData(userAgent) {
			t.Errorf("the stored token %q is a part of the User-Agent", token)
		}
	}
}

func TestOverflowOfAToken(t *testing.T) {
	s := newSite(t).reads(200, closed).after(day)
	for i := range 100 {
		s.serves("foobot", fmt.Sprintf("%sDisallow: /%d\n", open, i))
	}
	s.wants("foobot", "stale").wants("barbot", "disallowed").after(day).wants("foobot", "disallowed")
	for i := range 2 * maxTokens {
		s.serves(fmt.Sprintf("bot%d", i), closed+"Disallow: /x")
	}
	s.wants("barbot", "disallowed").serves("another", open).wants("another", "stale")
}

func TestProxyMayHaveOlderFiles(t *testing.T) {
	s := newSite(t)
	s.of.BehindProxy = true
	s.reads(200, open).reads(200, closed).after(day).wants("foobot", "stale").after(2*time.Hour).wants("foobot", "disallowed")
}

func TestEndGrace(t *testing.T) {
	s := newSite(t).reads(200, open).after(day).reads(200, closed).serves("barbot", open).wants("foobot", "stale")
	s.book.EndGrace(func(h Host) bool { return h.Name == "a.test" }, s.now)
	s.wants("foobot", "disallowed").wants("barbot", "disallowed").after(time.Second).serves("barbot", open).wants("barbot", "stale")
}

func TestHeldFile(t *testing.T) {
	s := newSite(t).reads(200, open)
	before := s.state.Current
	s.reads(200, closed)
	s.book.SetHeldUntil(s.of, before, s.now.Add(3*day), s.now)
	s.after(3*day-time.Second).wants("foobot", "disallowed")
	if held := s.book.HeldVersions(s.of.Host, s.now); len(held) != 1 || held[0].Hash != before.Hash {
		t.Errorf("%d files are held", len(held))
	}
	if held := s.book.HeldVersions(s.of.Host, s.now.Add(time.Second)); len(held) > 0 {
		t.Errorf("%d files are held after the end", len(held))
	}
}

// TestLargeHostsEvictOwnFiles checks that large files of some hosts do not evict files of other
// hosts.
func TestLargeHostsEvictOwnFiles(t *testing.T) {
	b, now := NewHistory(nil), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	small := RequestHost{Host: Host{Name: "small.test"}}
	var state policy.State
	record := func(host RequestHost, state policy.State, body string) policy.State {
		state = state.AfterFetch(policy.FetchResult{Status: 200, Body: []byte(body)}, now, policy.FreshnessPolicy{}, 0)
		b.RecordCurrentCopy(host, &state, now)
		return state
	}
	state = record(small, record(small, state, open), closed)
	now = now.Add(time.Hour)
	rules := strings.Repeat("Disallow: /private/area/of/this/tenant\n", 5000)
	for i := range 30 {
		host := RequestHost{Host: Host{Name: fmt.Sprintf("t%d.test", i)}}
		var large policy.State
		for n := range 3 {
			large = record(host, large, fmt.Sprintf("User-agent: *\nDisallow: /%d-%d\n%s", i, n, rules))
		}
	}
	if bytes := b.hostSets[1].versionBytes; bytes > maxBytes[1] {
		t.Errorf("%d bytes are stored, more than %d", bytes, maxBytes[1])
	}
	if got := verdict(b, small.Host, state.Current, "foobot", "/page", now, day); got != "stale" {
		t.Errorf("the small host: %s, want stale", got)
	}
	if _, lost := b.PossiblyUsedVersions(small.Host, "", state.Current, now, day); lost {
		t.Error("the small host has lost a file")
	}
}

// TestEvictedHost evicts a host. When the host returns with another file, disallowed paths are
// stale for a day.
func TestEvictedHost(t *testing.T) {
	defer func(before [2]int) { maxHosts = before }(maxHosts)
	maxHosts = [2]int{4, 4}
	s := newSite(t).reads(200, open)
	for i := range 4 {
		other := RequestHost{Host: Host{Name: fmt.Sprintf("%d.test", i)}, Configured: true}
		s.book.RecordCurrentCopy(other, &s.state, s.now)
	}
	s.state = policy.State{}
	s.after(time.Hour).reads(200, closed).wants("foobot", "stale").after(day).wants("foobot", "disallowed")
}

// TestUnconfiguredHostIsStored restarts with one unconfigured host among many unknown hosts. A crawler
// may still obey the file before the change.
func TestUnconfiguredHostIsStored(t *testing.T) {
	s := newSite(t)
	s.of.Configured = false
	s.reads(200, open).after(time.Hour).reads(200, closed).wants("foobot", "stale")
	for i := range 2 * maxStoredUnknownHosts {
		invented := newSite(t)
		invented.book, invented.now, invented.of = s.book, s.now, RequestHost{Host: Host{Name: fmt.Sprintf("x%d.test", i)}, Grace: day}
		invented.reads(200, open)
	}
	hosts := s.book.HostsToStore()
	if len(hosts) != maxStoredUnknownHosts || hosts[0] != s.of.Host {
		t.Fatalf("%d hosts are stored, %v first", len(hosts), hosts[0])
	}
	d, empty, err := s.book.EncodeHost(s.of.Host, s.now)
	if err != nil || empty {
		t.Fatal(empty, err)
	}
	stored, _, err := DecodeStoredHost(d.Data)
	if err != nil {
		t.Fatal(err)
	}
	s.book = NewHistory(nil)
	if err := s.book.Restore(stored, true, 0, s.now); err != nil {
		t.Fatal(err)
	}
	if s.book.hostSets[0].hosts.Len() != 0 || s.book.hostSets[1].hosts.Len() != 1 {
		t.Error("the host is restored as a configured host")
	}
	s.wants("foobot", "stale").after(day).wants("foobot", "disallowed")
}
