package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
)

// stateOf returns the state of a site with these versions.
func stateOf(versions ...*Version) State {
	s := State{Current: versions[0], NextFetch: versions[0].LastFetched.Add(time.Hour)}
	for i, v := range versions[1:] {
		old := *v
		old.ReplacedAt = versions[i].FirstFetched
		s.Previous = append(s.Previous, &old)
	}
	return s
}

func at(hours float64) time.Time { return epoch.Add(time.Duration(hours * float64(time.Hour))) }

func TestMerge(t *testing.T) {
	a := func(from, to float64) *Version {
		return versionOf(200, "User-agent: *\nDisallow: /a\n", at(from), at(to))
	}
	b := func(from, to float64) *Version {
		return versionOf(200, "User-agent: *\nDisallow: /b\n", at(from), at(to))
	}
	c := func(from, to float64) *Version {
		return versionOf(200, "User-agent: *\nDisallow: /c\n", at(from), at(to))
	}
	failing := func(s State, since float64) State {
		s.FailureCount, s.FailingSince, s.LastResult, s.NextFetch = 3, at(since), Unreachable, at(since+0.1)
		return s
	}
	var nothing State
	for name, tc := range map[string]struct {
		live, other State
		now         float64
		want        []*Version // with Until from the previous version
		failures    int
		due         float64
	}{
		"nothing was known":           {nothing, stateOf(a(0, 1)), 1, []*Version{a(0, 1)}, 0, 2},
		"nothing is known now":        {stateOf(a(0, 1)), nothing, 1, []*Version{a(0, 1)}, 0, 2},
		"it could not be read":        {failing(nothing, 1), stateOf(a(0, 1)), 1, []*Version{a(0, 1)}, 3, 1.1},
		"older than 30 days":          {nothing, stateOf(a(0, 1)), 1 + 30*24, nil, 0, 0},
		"hardly 30 days":              {nothing, stateOf(a(0, 1)), 30 * 24, []*Version{a(0, 1)}, 0, 2},
		"from the future":             {nothing, stateOf(a(0, 1)), 0.9, []*Version{a(0, 0.9)}, 0, 0.9},
		"all of it from the future":   {nothing, stateOf(a(1, 2)), 0.5, []*Version{a(0.5, 0.5)}, 0, 0.5},
		"the future and the past":     {stateOf(b(0, 0.5)), stateOf(a(0, 1)), 0.9, []*Version{b(0, 0.5)}, 0, 1.5},
		"a clock that is a bit ahead": {nothing, stateOf(a(0, 1)), 0.95, []*Version{a(0, 1)}, 0, 2},
		"the same text, read later":   {stateOf(a(1, 2)), stateOf(a(0, 3)), 3, []*Version{a(0, 3)}, 0, 4},
		"the same text, read before":  {stateOf(a(1, 2)), stateOf(a(0, 1.5), b(-1, 0)), 3, []*Version{a(0, 2), b(-1, 0)}, 0, 3},
		"another text, read later":    {stateOf(a(0, 1)), stateOf(b(2, 3)), 3, []*Version{b(2, 3), a(0, 1)}, 0, 4},
		"another text, read before":   {stateOf(b(2, 3)), stateOf(a(0, 1)), 3, []*Version{b(2, 3), a(0, 1)}, 0, 4},
		"the history is known":        {stateOf(b(2, 3), c(1, 2)), stateOf(a(0, 1)), 3, []*Version{b(2, 3), c(1, 2), a(0, 1)}, 0, 4},
		"the history is longer":       {stateOf(b(2, 3)), stateOf(a(1, 1), b(-2, -1), c(-3, -2)), 3, []*Version{b(2, 3), a(1, 1), c(-3, -2)}, 0, 4},
		"a peer could read it":        {failing(stateOf(a(0, 1)), 2), stateOf(b(2, 3)), 3, []*Version{b(2, 3), a(0, 1)}, 0, 4},
		"nor could a peer":            {failing(stateOf(a(0, 1)), 2), stateOf(a(0, 1.5)), 3, []*Version{a(0, 1.5)}, 3, 2.1},
	} {
		t.Run(name, func(t *testing.T) {
			got := tc.live.Merge(tc.other, at(tc.now))
			if tc.want == nil {
				if got.Current != nil {
					t.Errorf("got %+v, want no version", got.Current)
				}
				return
			}
			want := stateOf(tc.want...)
			sameRead(t, got.Current, want.Current)
			if got.FailureCount != tc.failures || !got.NextFetch.Equal(at(tc.due)) {
				t.Errorf("%d failures, due %v; want %d, %v", got.FailureCount, got.NextFetch, tc.failures, at(tc.due))
			}
			if len(got.Previous) != len(want.Previous) {
				t.Fatalf("%d past versions, want %d", len(got.Previous), len(want.Previous))
			}
			for i, v := range want.Previous {
				if g := got.Previous[i]; g.Hash != v.Hash || g.ReplacedAt.Before(g.LastFetched) {
					t.Errorf("past version %d is %.40q until %v", i, g.Robots.Text(), g.ReplacedAt)
				}
			}
		})
	}
}

// TestMergeNewestWins merges the states of several instances in any order.
func TestMergeNewestWins(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var states []State
		var latest time.Time
		for i := range 1 + random.IntN(5) {
			from := random.Float64() * 24
			v := versionOf(200, oddFiles[i], at(from), at(from+random.Float64()))
			states = append(states, stateOf(v))
			if v.LastFetched.After(latest) {
				latest = v.LastFetched
			}
		}
		random.Shuffle(len(states), func(i, j int) { states[i], states[j] = states[j], states[i] })
		var s State
		for _, other := range states {
			s = s.Merge(other, at(25))
		}
		if !s.Current.LastFetched.Equal(latest) || s.FailureCount != 0 || len(s.Previous) > MaxVersions {
			t.Fatalf("fetched at %v, want %v", s.Current.LastFetched, latest)
		}
	}
}

// TestServedStaysTrue tests a site with a missing or empty file that later denies
// requests. Served stays true across all responses in between.
func TestServedStaysTrue(t *testing.T) {
	read := func(s State, status int, body string) State {
		return s.AfterFetch(FetchResult{Status: status, Body: []byte(body)}, epoch, tenMinutes, 0)
	}
	refused, none := read(State{}, 403, ""), read(State{}, 404, "")
	for _, tc := range []struct {
		name  string
		state State
		want  bool
	}{
		{"refused from the first time on", refused, false},
		{"there is none", none, true},
		{"there is none, and then it is refused", read(none, 403, ""), true},
		{"an empty file, and then it is refused", read(read(State{}, 200, ""), 403, ""), true},
		{"with another text between", read(read(none, 200, smallFile), 403, ""), true},
		{"refused before and after another text", read(read(refused, 200, smallFile), 403, ""), false},
		{"another instance knows that there was none", refused.Merge(none, epoch), true},
		{"another instance knows of a refusal", none.Merge(refused, epoch), true},
	} {
		if got := tc.state.Current; got.WasServed != tc.want {
			t.Errorf("%s: served %t, status %d", tc.name, got.WasServed, got.Status)
		}
	}
}

func TestCacheRestore(t *testing.T) {
	c, clock := newTestCache(Bounds{Entries: 2, Bytes: 1 << 20, ConcurrentFetches: 10})
	stored := func(body string) State {
		return stateOf(versionOf(200, body, clock.now().Add(-time.Minute), clock.now().Add(-time.Minute)))
	}
	x, y, z := Key{Host: "x.test"}, Key{Host: "y.test"}, Key{Host: "z.test"}
	if !c.Restore(x, ConfiguredHosts, stored(smallFile), false) || c.Get(x).State().Current.Robots.Text() != smallFile {
		t.Fatal("the state was not restored")
	}
	if c.Get(x).IsDue(clock.now()) {
		t.Error("a fresh copy is due")
	}
	clock.advance(30 * time.Second)
	if c.Restore(x, ConfiguredHosts, stored(""), false) || !c.Restore(x, ConfiguredHosts, stored(""), true) {
		t.Error("a fresh copy was replaced although newest is false")
	}
	e := c.GetOrCreate(y, ConfiguredHosts)
	<-e.Refresh(holding(time.Hour), func() FetchResult { return FetchResult{Status: 503} }, nil)
	if !c.Restore(y, ConfiguredHosts, stored(smallFile), false) || e.State().FailureCount != 1 || e.State().Current == nil {
		t.Error("a copy was not restored for an unreachable site")
	}
	if c.Restore(z, ConfiguredHosts, stored(smallFile), false) || c.Get(z) != nil || c.Stats(ConfiguredHosts).Evicted != 0 {
		t.Error("Restore evicted an entry")
	}
	clock.advance(31 * 24 * time.Hour)
	c.Resize(ConfiguredHosts, roomy)
	old := stateOf(versionOf(200, smallFile, epoch, epoch))
	if c.Restore(z, ConfiguredHosts, old, false) || c.Get(z) != nil {
		t.Error("a copy that is too old was restored")
	}
}

// TestCacheRestoreFull merges a version of another instance when the state has the maximum number
// of versions, and when the version is one of them.
func TestCacheRestoreFull(t *testing.T) {
	c, clock := newTestCache(roomy)
	text := func(n int) string { return fmt.Sprintf("User-agent: *\nDisallow: /%d\n", n) }
	e := c.GetOrCreate(Key{Host: "x.test"}, ConfiguredHosts)
	for n := range MaxVersions + 2 {
		<-e.Refresh(holding(time.Hour), answering(text(n)), nil)
		clock.advance(6 * time.Hour)
	}
	<-e.Refresh(holding(24*time.Hour), answering(text(0)), nil)
	for _, n := range []int{100, 2} { // a new version, and the last but one of the known versions
		clock.advance(time.Hour)
		seen := versionOf(200, text(n), clock.now(), clock.now())
		for range 2 {
			c.Restore(e.Key(), ConfiguredHosts, stateOf(seen), false)
		}
		s := e.State()
		if s.Current.Robots.Text() != text(0) || len(s.Previous) != MaxVersions || s.Previous[0].Hash != seen.Hash || !s.Previous[0].ReplacedAt.Equal(clock.now()) {
			t.Errorf("version %d: %d previous versions, the newest %q until %s", n, len(s.Previous), s.Previous[0].Robots.Text(), s.Previous[0].ReplacedAt.Sub(epoch))
		}
	}
	before := e.State()
	later := *before.Previous[0]
	later.ReplacedAt = later.ReplacedAt.Add(clockSkew)
	if c.Restore(e.Key(), ConfiguredHosts, State{Current: before.Current, Previous: []*Version{&later}}, false); e.State() != before {
		t.Error("a difference within the clock tolerance changed the state")
	}
}

// TestCacheRestoredHostsStay keeps hosts that were in use before a restart while clients invent
// other hosts.
func TestCacheRestoredHostsStay(t *testing.T) {
	c, clock := newTestCache(Bounds{Entries: 100, Bytes: 1 << 20, ConcurrentFetches: 10})
	host := func(kind string, n int) Key { return Key{Host: fmt.Sprint(kind, n, ".test")} }
	early := c.GetOrCreate(host("restored", 0), UnknownHosts) // requested before the storage was read
	for n := range 50 {
		read := clock.now().Add(-time.Hour)
		if !c.Restore(host("restored", n), UnknownHosts, stateOf(versionOf(200, smallFile, read, read)), false) {
			t.Fatalf("host %d is not restored", n)
		}
	}
	if n := early.usedSeconds.Load(); n != protectedUsedSeconds {
		t.Errorf("%d seconds with uses, want %d", n, protectedUsedSeconds)
	}
	for n := range 5000 {
		clock.advance(10 * time.Millisecond)
		c.GetOrCreate(host("invented", n), UnknownHosts).Touch(clock.now())
	}
	for n := range 50 {
		if e := c.Get(host("restored", n)); e == nil {
			t.Errorf("restored host %d was evicted by hosts with one use", n)
		}
	}
	if n := c.Stats(UnknownHosts).Entries; n != 100 {
		t.Errorf("%d entries are cached, want 100", n)
	}

	// Uses are added, and the order of uses remains.
	busy := c.GetOrCreate(host("busy", 0), UnknownHosts)
	for range 10 {
		clock.advance(time.Second)
		busy.Touch(clock.now())
	}
	read := clock.now().Add(-time.Hour)
	c.Restore(busy.Key(), UnknownHosts, stateOf(versionOf(200, smallFile, read, read)), false)
	if n := busy.usedSeconds.Load(); n != protectedUsedSeconds {
		t.Errorf("%d seconds with uses, want %d", n, protectedUsedSeconds)
	}
	named := c.GetOrCreate(host("named", 0), ConfiguredHosts)
	c.Restore(named.Key(), ConfiguredHosts, stateOf(versionOf(200, smallFile, read, read)), false)
	if n := named.usedSeconds.Load(); n != 0 {
		t.Errorf("%d seconds with uses of a configured host, want 0", n)
	}
}

// TestCacheRestoreDuringFetch loses neither the fetched nor the restored version.
func TestCacheRestoreDuringFetch(t *testing.T) {
	for range 2000 {
		c, clock := newTestCache(roomy)
		stored := stateOf(versionOf(200, smallFile, clock.now().Add(-time.Hour), clock.now().Add(-time.Hour)))
		e := c.GetOrCreate(Key{Host: "x.test"}, ConfiguredHosts)
		var both sync.WaitGroup
		both.Go(func() { <-e.Refresh(holding(time.Hour), answering("User-agent: *\nDisallow: /new\n"), nil) })
		both.Go(func() { c.Restore(e.Key(), ConfiguredHosts, stored, false) })
		both.Wait()
		s := e.State()
		if s.Current.Robots.Text() == smallFile || len(s.Previous) != 1 || s.Previous[0].Robots.Text() != smallFile {
			t.Fatalf("the current version is %q, with %d previous versions", s.Current.Robots.Text(), len(s.Previous))
		}
	}
}

func TestCacheResize(t *testing.T) {
	c, clock := newTestCache(roomy)
	var hosts []string
	for i := range 10 {
		clock.advance(time.Minute)
		host := string(rune('a'+i)) + ".test"
		hosts = append(hosts, host)
		<-c.GetOrCreate(Key{Host: host}, ConfiguredHosts).Refresh(holding(time.Hour), answering("# "+host+"\n"), nil)
	}
	c.Resize(ConfiguredHosts, Bounds{Entries: 3, Bytes: 1 << 20, ConcurrentFetches: 1})
	var left []string
	for _, e := range c.Entries() {
		left = append(left, e.Key().Host)
	}
	slices.Sort(left)
	if !slices.Equal(left, hosts[7:]) {
		t.Errorf("%v remain, want the last three", left)
	}
	c.Resize(ConfiguredHosts, roomy)
	for _, host := range hosts {
		c.GetOrCreate(Key{Host: host}, ConfiguredHosts)
	}
	if n := c.Stats(ConfiguredHosts).Entries; n != 10 {
		t.Errorf("%d entries are cached after growing, want 10", n)
	}
	c.Resize(ConfiguredHosts, Bounds{})
	if n := c.Stats(ConfiguredHosts).Entries; n != 1 {
		t.Errorf("%d entries are cached, want 1", n)
	}
	if stats := c.Stats(ConfiguredHosts); stats.Bytes > 2000 {
		t.Errorf("%d bytes are counted for one entry", stats.Bytes)
	}
}
