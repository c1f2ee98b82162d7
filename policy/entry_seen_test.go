package policy

import (
	"crypto/sha256"
	"slices"
	"testing"
	"time"
)

func TestServesOthers(t *testing.T) {
	hashOf := func(n int) [sha256.Size]byte { return sha256.Sum256(version(n).Body) }
	const day = MaxAge
	type event struct {
		at      time.Duration
		text    int
		reading bool // of the site by us; else somebody is seen to be served the text
	}
	for _, tc := range []struct {
		name   string
		events []event
		at     time.Duration
		want   bool
	}{
		{"nothing is known", nil, 0, false},
		{"one version", []event{{0, 1, true}}, time.Hour, false},
		{"one version that was seen", []event{{0, 1, true}, {time.Hour, 1, false}}, time.Hour, false},
		{"another text was seen", []event{{0, 1, true}, {time.Hour, 2, false}}, time.Hour, true},
		{"another text was seen, and ours since", []event{{0, 1, true}, {time.Hour, 2, false}, {2 * time.Hour, 1, false}}, 2 * time.Hour, true},
		{"another text was seen nearly a day ago", []event{{0, 1, true}, {time.Hour, 2, false}}, day + time.Hour - 1, true},
		{"another text was seen a day ago", []event{{0, 1, true}, {time.Hour, 2, false}}, day + time.Hour, false},
		{"a text was seen where none is known", []event{{0, 1, false}}, time.Hour, true},
		{"a version was replaced nearly a day ago", []event{{0, 1, true}, {time.Hour, 2, true}}, day + time.Hour - 1, true},
		{"a version was replaced a day ago", []event{{0, 1, true}, {time.Hour, 2, true}}, day + time.Hour, false},
		{"seen again within a minute does not count anew", []event{{0, 1, true}, {0, 2, false}, {seenInterval - 1, 2, false}}, day, false},
		{"seen again after a minute does", []event{{0, 1, true}, {0, 2, false}, {seenInterval, 2, false}}, day, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, clock := newTestCache(Bounds{Entries: 10, Bytes: 1 << 20, Reads: 1})
			e := c.Add(Key{Host: "a.test"}, Named)
			for _, event := range tc.events {
				clock.advance(event.at - clock.now().Sub(epoch))
				if event.reading {
					e.MakeDue()
					<-e.Refresh(holding(time.Hour), func() Answer { return version(event.text) }, nil)
				} else {
					e.Saw(hashOf(event.text), clock.now())
				}
			}
			if got := e.ServesOthers(epoch.Add(tc.at)); got != tc.want {
				t.Errorf("%t, want %t", got, tc.want)
			}
		})
	}
}

// TestSeenTextsAreBounded has a site serve one text after the other: the last ones are
// remembered.
func TestSeenTextsAreBounded(t *testing.T) {
	c, clock := newTestCache(Bounds{Entries: 10, Bytes: 1 << 20, Reads: 1})
	e := c.Add(Key{Host: "a.test"}, Named)
	const texts = 3 * maxSeenTexts
	for n := range texts {
		e.Saw([sha256.Size]byte{byte(n)}, clock.now())
	}
	kept := *e.seen.Load()
	if len(kept) != maxSeenTexts {
		t.Errorf("%d texts are remembered, want %d", len(kept), maxSeenTexts)
	}
	for i, seen := range kept {
		if want := texts - len(kept) + i; int(seen.hash[0]) != want {
			t.Errorf("text %d is remembered, want %d", seen.hash[0], want)
		}
	}
	clock.advance(MaxAge)
	if e.Saw([sha256.Size]byte{texts}, clock.now()); len(*e.seen.Load()) != 1 {
		t.Errorf("%d texts of a day ago are remembered", len(*e.seen.Load())-1)
	}
}

// TestInherit has a site go by other keys: what was served there counts here as well.
func TestInherit(t *testing.T) {
	c, clock := newTestCache(Bounds{Entries: 10, Bytes: 1 << 20, Reads: 1})
	wild, any, e := c.Add(Key{Host: "a.test", Site: "*.test"}, Invented), c.Add(Key{Host: "a.test"}, Invented), c.Add(Key{Host: "a.test", Site: "a.test"}, Named)
	if len(e.Former()) > 0 || e.ServesOthers(clock.now()) {
		t.Error("something is known at first")
	}
	wild.Saw([sha256.Size]byte{1}, clock.now().Add(-MaxAge)) // is over
	any.Saw([sha256.Size]byte{2}, clock.now())
	for _, before := range []*Entry{wild, any, wild} {
		e.Inherit(before)
	}
	if got := e.Former(); !slices.Equal(got, []Key{any.Key(), wild.Key()}) || !e.ServesOthers(clock.now()) {
		t.Errorf("%v, serves others: %t", got, e.ServesOthers(clock.now()))
	}
	e.Saw([sha256.Size]byte{3}, clock.now())
	if n := len(*any.seen.Load()); n != 1 || len(*e.seen.Load()) != 2 {
		t.Errorf("%d texts were seen before, and %d in all", n, len(*e.seen.Load()))
	}
}
