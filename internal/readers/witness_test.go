package readers

import (
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/origin"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// TestWitness has clients be served the file one after the other.
func TestWitness(t *testing.T) {
	type seen struct {
		after    time.Duration // the one before
		who      string
		verified bool
		first    bool   // nobody was for a day
		last     string // whom LastWitness returns then
	}
	for _, tc := range []struct {
		name  string
		seen  []seen
		after time.Duration // the last
		lasts bool          // then it is known yet
	}{
		{"one", []seen{{0, "a", false, true, "a"}}, 0, true},
		{"almost a day ago", []seen{{0, "a", false, true, "a"}}, policy.MaxAge - 1, true},
		{"a day ago", []seen{{0, "a", false, true, "a"}}, policy.MaxAge, false},
		{"the later one", []seen{{0, "a", false, true, "a"}, {time.Hour, "b", false, false, "b"}}, 0, true},
		{"a verified one", []seen{{0, "a", false, true, "a"}, {time.Hour, "b", true, false, "b"}}, 0, true},
		{"none after a verified one", []seen{{0, "a", true, true, "a"}, {time.Hour, "b", false, false, "a"}}, 0, true},
		{"another verified one", []seen{{0, "a", true, true, "a"}, {time.Hour, "b", true, false, "b"}}, 0, true},
		{"any before the day is over", []seen{{0, "a", true, true, "a"}, {policy.MaxAge - 1, "b", false, false, "a"}}, 0, true},
		{"any after a day", []seen{{0, "a", true, true, "a"}, {policy.MaxAge, "b", false, true, "b"}}, 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var s SiteTexts
			if _, ok := s.LastWitness(noon); ok {
				t.Error("there is a witness before anybody was served")
			}
			now, at := noon, noon
			for _, one := range tc.seen {
				now = now.Add(one.after)
				if first := s.Saw(origin.Witness{UserAgent: one.who}, one.verified, now); first != one.first {
					t.Errorf("%s is the first for a day: %v, want %v", one.who, first, one.first)
				}
				got, _ := s.LastWitness(now)
				if got.UserAgent != one.last {
					t.Errorf("after %s it is %s, want %s", one.who, got.UserAgent, one.last)
				}
				if one.last == one.who {
					if at = now; got.Verified != one.verified {
						t.Errorf("%s is verified: %v", one.who, got.Verified)
					}
				}
				if !got.At.Equal(at) {
					t.Errorf("after %s it was at %v, want %v", one.who, got.At, at)
				}
			}
			if _, ok := s.LastWitness(now.Add(tc.after)); ok != tc.lasts {
				t.Errorf("%v later it is known: %v, want %v", tc.after, ok, tc.lasts)
			}
		})
	}
}

// TestSetRefused says what is known already and what is not.
func TestSetRefused(t *testing.T) {
	var s SiteTexts
	for i, tc := range []struct{ refused, changed bool }{{false, false}, {true, true}, {true, false}, {false, true}, {false, false}} {
		if changed := s.SetRefused(tc.refused); changed != tc.changed || s.IsRefused() != tc.refused {
			t.Errorf("%d: changed %v, refused %v, want %v and %v", i, changed, s.IsRefused(), tc.changed, tc.refused)
		}
	}
}
