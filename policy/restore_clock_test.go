package policy

import (
	"testing"
	"time"
)

// TestMergeWithWrongClock merges a version that ended in ten years, by a wrong clock. The version
// does not stay that long.
func TestMergeWithWrongClock(t *testing.T) {
	const ahead = 10 * 365 * 24
	text := func(text string, from, to, until float64) *Version {
		v := versionOf(200, text, at(from), at(to))
		v.ReplacedAt = at(until)
		return v
	}
	good := versionOf(200, string(forbidding.Body), at(0), at(1))
	for name, past := range map[string][]*Version{
		"it was read then":      {text("", ahead, ahead, ahead)},
		"it was read before":    {text("", -1, 0, ahead)},
		"it was read meanwhile": {text("", -1, ahead-1, ahead)},
		"another ended in time": {text("", -1, ahead-1, ahead), text("User-agent: a", -3, -2, 1.5)},
	} {
		for live, s := range map[string]State{
			"nothing is known":       {},
			"the same is in force":   stateOf(good),
			"another is in force":    stateOf(versionOf(404, "", at(1), at(1.5))),
			"another came before it": stateOf(versionOf(404, "", at(-2), at(0.5))),
		} {
			t.Run(name+", "+live, func(t *testing.T) {
				now := at(2)
				got := s.Merge(State{Current: good, Previous: past}, now)
				if got.Current == nil || len(got.Previous) < len(past) {
					t.Fatalf("%+v is lost", past)
				}
				for i, v := range got.Previous {
					if i > 0 && v.ReplacedAt.After(got.Previous[i-1].ReplacedAt) {
						t.Errorf("the version that ended at %v follows the version that ended at %v", v.ReplacedAt, got.Previous[i-1].ReplacedAt)
					}
					if v.ReplacedAt.After(now) || v.LastFetched.After(v.ReplacedAt) || v.FirstFetched.After(v.LastFetched) {
						t.Errorf("a version was fetched from %v to %v and ended at %v", v.FirstFetched, v.LastFetched, v.ReplacedAt)
					}
				}
				if inGrace := got.VersionsInGrace(now.Add(MaxAge), MaxAge); len(inGrace) > 0 {
					t.Errorf("a day later %d versions are in grace", len(inGrace))
				}
				if again := got.Merge(State{Current: good, Previous: past}, now.Add(time.Hour)); hasNewVersions(again.Previous, got.Previous) {
					t.Error("merging the same state an hour later changes the state")
				}
			})
		}
	}
}

// TestRestoreOfTheFuture restarts with a clock that was set back. Future data are used and due if
// no other data exist, and are ignored otherwise.
func TestRestoreOfTheFuture(t *testing.T) {
	now := at(0.5)
	bounds := Bounds{Entries: 2, Bytes: 1 << 20, ConcurrentFetches: 1}
	c := NewCache(bounds, bounds, func() time.Time { return now }, nil)
	ahead := stateOf(versionOf(200, "User-agent: *\nDisallow: /a\n", at(0), at(1)))
	key := Key{Site: "a.test", Host: "a.test"}
	if !c.Restore(key, ConfiguredHosts, ahead, false) {
		t.Fatal("a state from the future is not restored into an empty entry")
	}
	first := c.Get(key).State()
	if !first.Current.LastFetched.Equal(now) || first.NextFetch.After(now) || !ahead.Current.LastFetched.Equal(at(1)) {
		t.Errorf("fetched at %v and due at %v, want %v", first.Current.LastFetched, first.NextFetch, now)
	}
	fresh := Key{Site: "b.test", Host: "b.test"}
	c.Restore(fresh, ConfiguredHosts, stateOf(versionOf(200, "User-agent: *\nDisallow: /c\n", at(0), at(0.4))), false)
	other := stateOf(versionOf(200, "User-agent: *\nDisallow: /b\n", at(0), at(1)))
	for _, key := range []Key{key, fresh} {
		for _, newest := range []bool{false, true} {
			current := c.Get(key).State()
			if c.Restore(key, ConfiguredHosts, other, newest) || c.Get(key).State() != current {
				t.Errorf("%s, newest %t: a state from the future replaces a known state", key, newest)
			}
		}
	}
}

// TestRestoreWithWrongClock restores a state into an entry with a fresh copy. A version of the state
// that ended in ten years, by a wrong clock, does not stay in grace that long.
func TestRestoreWithWrongClock(t *testing.T) {
	now := at(1)
	c := NewCache(roomy, roomy, func() time.Time { return now }, nil)
	key := Key{Site: "a.test", Host: "a.test"}
	c.Restore(key, ConfiguredHosts, stateOf(versionOf(200, "User-agent: *\nDisallow: /a\n", at(0), at(0.9))), false)
	wrong := versionOf(200, "User-agent: *\nDisallow: /b\n", at(0), at(0))
	wrong.ReplacedAt = at(10 * 365 * 24)
	other := stateOf(versionOf(200, "User-agent: *\nDisallow: /a\n", at(0.5), at(0.95)))
	other.Previous = []*Version{wrong}
	c.Restore(key, ConfiguredHosts, other, false)
	state := c.Get(key).State()
	if len(state.Previous) != 1 || len(state.VersionsInGrace(now.Add(MaxAge), MaxAge)) != 0 {
		t.Errorf("a day later %d of %d versions are in grace, want 0 of 1", len(state.VersionsInGrace(now.Add(MaxAge), MaxAge)), len(state.Previous))
	}
}
