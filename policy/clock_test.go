package policy

import (
	"testing"
	"time"
)

// TestClockThatWasWrong has the file change while the clock is ten years ahead, and sets
// it right then: what was before the change ends within a day all the same.
func TestClockThatWasWrong(t *testing.T) {
	const ahead = 10 * 365 * 24 * time.Hour
	ends := func(t *testing.T, s State, now time.Time) {
		t.Helper()
		if s.Good == nil || s.Good.FirstRead.After(now) {
			t.Errorf("at %v it was found at %+v", now, s.Good)
		}
		for _, v := range s.Past {
			if v.Until.After(now) || v.LastRead.After(v.Until) || v.FirstRead.After(v.LastRead) {
				t.Errorf("at %v a version was read from %v to %v and current until %v", now, v.FirstRead, v.LastRead, v.Until)
			}
		}
		if held := s.Held(now.Add(MaxAge), time.Time{}, MaxAge); len(held) > 0 {
			t.Errorf("a day later %d versions are held", len(held))
		}
		if held := s.Held(now.Add(time.Hour), now.Add(time.Minute), MaxAge); len(held) > 0 {
			t.Errorf("one that has read the file holds %d versions", len(held))
		}
	}
	var s State
	for _, x := range []step{{0, Answer{Status: 200}}, {ahead, forbidding}} {
		s = s.After(x.answer, epoch.Add(x.at), tenMinutes, 0)
	}
	now := epoch.Add(time.Hour)
	for name, answer := range map[string]Answer{"the same": forbidding, "another": missing, "unchanged": {Status: 304}} {
		t.Run(name, func(t *testing.T) { ends(t, s.After(answer, now, tenMinutes, 0), now) })
	}
	t.Run("failing", func(t *testing.T) {
		next := s.After(failing, now, tenMinutes, 0)
		if held := next.Held(now.Add(MaxAge), time.Time{}, MaxAge); len(held) > 0 {
			t.Errorf("a day later %d versions are held", len(held))
		}
	})
	t.Run("restored", func(t *testing.T) {
		v := versionOf(200, string(forbidding.Body), now, now)
		old := versionOf(200, "", epoch.Add(ahead), epoch.Add(ahead))
		old.Until = epoch.Add(ahead)
		stored := State{Good: v, Past: []*Version{old}}
		for name, live := range map[string]State{"nothing": {}, "the same": known(v), "another": known(versionOf(404, "", now, now.Add(time.Minute)))} {
			t.Run(name, func(t *testing.T) { ends(t, live.Adopt(stored, now.Add(time.Minute)), now.Add(time.Minute)) })
		}
	})
}
