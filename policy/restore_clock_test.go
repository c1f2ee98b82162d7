package policy

import (
	"testing"
	"time"
)

// TestAdoptOfAWrongClock adopts a version that ended in ten years, by a wrong clock. The version
// does not stay that long.
func TestAdoptOfAWrongClock(t *testing.T) {
	const ahead = 10 * 365 * 24
	text := func(text string, from, to, until float64) *Version {
		v := versionOf(200, text, at(from), at(to))
		v.Until = at(until)
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
			"the same is in force":   known(good),
			"another is in force":    known(versionOf(404, "", at(1), at(1.5))),
			"another came before it": known(versionOf(404, "", at(-2), at(0.5))),
		} {
			t.Run(name+", "+live, func(t *testing.T) {
				now := at(2)
				got := s.Adopt(State{Good: good, Past: past}, now)
				if got.Good == nil || len(got.Past) < len(past) {
					t.Fatalf("%+v is lost", past)
				}
				for i, v := range got.Past {
					if i > 0 && v.Until.After(got.Past[i-1].Until) {
						t.Errorf("one that ended at %v comes behind one that ended at %v", v.Until, got.Past[i-1].Until)
					}
					if v.Until.After(now) || v.LastRead.After(v.Until) || v.FirstRead.After(v.LastRead) {
						t.Errorf("a version was read from %v to %v and ended at %v", v.FirstRead, v.LastRead, v.Until)
					}
				}
				if held := got.Held(now.Add(MaxAge), MaxAge); len(held) > 0 {
					t.Errorf("a day later %d versions are held", len(held))
				}
				if again := got.Adopt(State{Good: good, Past: past}, now.Add(time.Hour)); isNews(again.Past, got.Past) {
					t.Error("the same record says something new an hour later")
				}
			})
		}
	}
}

// TestRestoreOfTheFuture restarts with a clock that was set back. Future data are used and due if
// no other data exist, and are ignored otherwise.
func TestRestoreOfTheFuture(t *testing.T) {
	now := at(0.5)
	bounds := Bounds{Entries: 2, Bytes: 1 << 20, Reads: 1}
	c := NewCache(bounds, bounds, func() time.Time { return now }, nil)
	ahead := known(versionOf(200, "User-agent: *\nDisallow: /a\n", at(0), at(1)))
	key := Key{Site: "a.test", Host: "a.test"}
	if !c.Restore(key, Named, ahead, false) {
		t.Fatal("it is not taken in where nothing is known")
	}
	first := c.Get(key).State()
	if !first.Good.LastRead.Equal(now) || first.Due.After(now) || !ahead.Good.LastRead.Equal(at(1)) {
		t.Errorf("read at %v and due at %v, want %v", first.Good.LastRead, first.Due, now)
	}
	fresh := Key{Site: "b.test", Host: "b.test"}
	c.Restore(fresh, Named, known(versionOf(200, "User-agent: *\nDisallow: /c\n", at(0), at(0.4))), false)
	other := known(versionOf(200, "User-agent: *\nDisallow: /b\n", at(0), at(1)))
	for _, key := range []Key{key, fresh} {
		for _, newest := range []bool{false, true} {
			before := c.Get(key).State()
			if c.Restore(key, Named, other, newest) || c.Get(key).State() != before {
				t.Errorf("%s, newest %t: it is taken in where another is known", key, newest)
			}
		}
	}
}
