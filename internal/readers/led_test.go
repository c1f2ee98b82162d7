package readers

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	here  = netip.MustParsePrefix("192.0.2.0/24")
	there = netip.MustParsePrefix("198.51.100.0/24")
)

// noon is when the tests begin.
var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// TestLed asks where clients were redirected to, within the site and to others.
func TestLed(t *testing.T) {
	for _, tc := range []struct {
		name    string
		place   string        // to which a client was led at noon
		by      netip.Prefix  // whose network asks
		asks    string        // for this
		since   time.Duration // after this time
		after   time.Duration // then
		led     bool
		ignored bool // nothing was remembered
	}{
		{"at once", "/r.txt", here, "/r.txt", -time.Hour, 0, true, false},
		{"a moment ago", "/r.txt", here, "/r.txt", -1, ledLasts - 1, true, false},
		{"too long ago", "/r.txt", here, "/r.txt", -1, ledLasts, false, false},
		{"not after", "/r.txt", here, "/r.txt", 0, time.Second, false, false},
		{"from elsewhere", "/r.txt", there, "/r.txt", -1, 0, false, false},
		{"to another place", "/r.txt", here, "/s.txt", -1, 0, false, false},
		{"nowhere", "", here, "", -1, 0, false, true},
		{"as far as is remembered", strings.Repeat("r", maxLedPlace), here, strings.Repeat("r", maxLedPlace), -1, 0, true, false},
		{"further", strings.Repeat("r", maxLedPlace+1), here, strings.Repeat("r", maxLedPlace+1), -1, 0, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			now := noon.Add(tc.after)
			var within, all Texts
			within.Led(key, here, tc.place, noon)
			if got := within.Site(key).WasLed(tc.by, tc.asks, noon.Add(tc.since), now); got != tc.led {
				t.Errorf("within the site: %v, want %v", got, tc.led)
			}
			all.LedAbroad(here, tc.place, noon)
			want := tc.led || tc.since == 0 // abroad it does not matter after what
			if got := all.WasLedAbroad(tc.by, tc.asks, now); got != want {
				t.Errorf("to another: %v, want %v", got, want)
			}
			any := !tc.ignored && tc.after < ledLasts
			if got, abroad := within.Leads(now), all.Leads(now); got != any || abroad != any {
				t.Errorf("anybody within a site %v, to another %v, want %v", got, abroad, any)
			}
		})
	}
	if new(Texts).Leads(time.Unix(1, 0)) {
		t.Error("a clock that begins in 1970 leads to other sites")
	}
}

// TestLedAbroadBefore asks for one who was led too long ago, and another just not.
func TestLedAbroadBefore(t *testing.T) {
	var s Texts
	s.LedAbroad(here, "a.test/r.txt", noon)
	s.LedAbroad(there, "a.test/r.txt", noon.Add(1))
	for _, tc := range []struct {
		network netip.Prefix
		want    bool
	}{{here, false}, {there, true}} {
		if got := s.WasLedAbroad(tc.network, "a.test/r.txt", noon.Add(ledLasts)); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.network, got, tc.want)
		}
	}
}

// TestWithLed adds to what is remembered.
func TestWithLed(t *testing.T) {
	at := func(s int, network netip.Prefix, place string) led {
		return led{network, place, noon.Add(time.Duration(s) * time.Second)}
	}
	for _, tc := range []struct {
		name      string
		all, want []led // want without the one that is added
		last      led
	}{
		{"the first", nil, nil, at(0, here, "/a")},
		{"another place", []led{at(0, here, "/a")}, []led{at(0, here, "/a")}, at(1, here, "/b")},
		{"another network", []led{at(0, here, "/a")}, []led{at(0, here, "/a")}, at(1, there, "/a")},
		{"the same again", []led{at(0, here, "/a"), at(1, there, "/a")}, []led{at(1, there, "/a")}, at(2, here, "/a")},
		{"the last moment", []led{at(0, here, "/a")}, []led{at(0, here, "/a")}, at(59, here, "/b")},
		{"what is over", []led{at(0, here, "/a"), at(1, here, "/b")}, []led{at(1, here, "/b")}, at(60, here, "/c")},
		{"as many as there is room for", []led{at(0, here, "/a"), at(1, here, "/b")}, []led{at(0, here, "/a"), at(1, here, "/b")}, at(2, here, "/c")},
		{"one too many", []led{at(0, here, "/a"), at(1, here, "/b"), at(2, here, "/c")}, []led{at(1, here, "/b"), at(2, here, "/c")}, at(3, here, "/d")},
	} {
		if got, want := withLed(slices.Clone(tc.all), 3, tc.last), append(slices.Clone(tc.want), tc.last); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", tc.name, got, want)
		}
	}
}
