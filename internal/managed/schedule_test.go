package managed

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

var epoch = time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)

// during returns a rule with a name and a window.
func during(r Rule, name string, from, until time.Time, hosts ...string) Rule {
	r.ID, r.Hosts = name, hosts
	r.From, r.Until = formatTime(from), formatTime(until)
	return r
}

// formatTime returns a time of a rule, "" for the zero time.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

func newSchedule(t testing.TB, rules ...Rule) *Schedule {
	t.Helper()
	s, err := NewSchedule(uaident.Default(), Spec{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// planOf returns the plan of rules without times.
func planOf(registry *uaident.Registry, rules []Rule, sitemaps, lines []string) (*Plan, error) {
	s, err := NewSchedule(registry, Spec{Rules: rules, Sitemaps: sitemaps, ExtraLines: lines})
	if err != nil {
		return nil, err
	}
	return Period{s.commonTable, 0}.FilePlan(), nil
}

func textAt(t testing.TB, s *Schedule, now time.Time, host string) string {
	t.Helper()
	text, err := s.Compose(now, host, []byte("User-agent: *\nDisallow: /p\n"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestBoundaries checks the first and the last moment of a rule at its hosts.
func TestBoundaries(t *testing.T) {
	end := epoch.Add(time.Hour)
	s := newSchedule(t,
		during(disallow("GPTBot", "/sale"), "sale", epoch, end),
		during(disallow("GPTBot", "/shop"), "shop", epoch, time.Time{}, "Shop.Example", "*.shop.example"),
		during(disallow("GPTBot", "/old"), "old", time.Time{}, epoch, "b.example"))
	for _, tc := range []struct {
		host string
		at   time.Time
		want string
		next time.Time
	}{
		{"a.example", epoch.Add(-time.Microsecond), "", epoch},
		{"a.example", epoch, "/sale", end},
		{"a.example", end.Add(-time.Microsecond), "/sale", end},
		{"a.example", end, "", time.Time{}},
		{"shop.example", epoch.Add(-time.Microsecond), "", epoch},
		{"shop.example", epoch, "/sale /shop", end},
		{"x.shop.example", end, "/shop", time.Time{}},
		{"x.y.shop.example", end, "", time.Time{}},
		{"b.example", epoch.Add(-time.Microsecond), "/old", epoch},
		{"b.example", epoch, "/sale", end},
	} {
		var got []string
		text := textAt(t, s, tc.at, tc.host)
		for _, path := range []string{"/sale", "/shop", "/old"} {
			if named := strings.Contains(text, "rule "+path[1:]); named != strings.Contains(text, "Disallow: "+path) {
				t.Errorf("%s at %v: a line without its rule's name, or a name without a line:\n%s", tc.host, tc.at, text)
			} else if named {
				got = append(got, path)
			}
		}
		if next := s.FindPeriod(tc.host, tc.at).End(); strings.Join(got, " ") != tc.want || !next.Equal(tc.next) {
			t.Errorf("%s at %v: %v until %v, want %q until %v", tc.host, tc.at, got, next, tc.want, tc.next)
		}
	}
	if next := s.NextChange(epoch); !next.Equal(end) {
		t.Errorf("the next turn is at %v", next)
	}
}

func TestLifetime(t *testing.T) {
	for _, tc := range []struct{ most, rest, want time.Duration }{
		{time.Hour, 2 * time.Hour, time.Hour},
		{time.Hour, 30*time.Minute + time.Microsecond, 30*time.Minute + time.Second},
		{time.Hour, 61 * time.Second, 61 * time.Second},
		{time.Hour, time.Microsecond, time.Minute},
		{time.Minute, time.Second, time.Minute},
	} {
		if got := CacheLifetime(tc.most, epoch, epoch.Add(tc.rest)); got != tc.want {
			t.Errorf("%v with %v left: %v, want %v", tc.most, tc.rest, got, tc.want)
		}
	}
	if got := CacheLifetime(time.Hour, epoch, time.Time{}); got != time.Hour {
		t.Errorf("without a turn: %v", got)
	}
}

func TestWindows(t *testing.T) {
	for _, tc := range []struct{ from, until, want string }{
		{"", "", ""},
		{"2026-11-27T00:00:00+01:00", "2026-11-27T00:00:00Z", ""},
		{"2026-11-27", "", `from "2026-11-27" has no time zone, or no time of day; write 2026-11-27T00:00:00Z`},
		{"", "2026-11-27T08:00:00", `until "2026-11-27T08:00:00" has no time zone`},
		{"2026-11-27 08:00", "", `write 2026-11-27T08:00:00Z`},
		{"2026-02-30T00:00:00Z", "", "not an RFC 3339 time"},
		{"2026-11-27T00:00:00Z", "2026-11-27T00:00:00Z", "never be in force"},
		{"2026-11-27T00:00:00Z", "2026-11-27T00:00:00+01:00", "before it begins"},
	} {
		_, err := ParseWindow(tc.from, tc.until)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q until %q: %v, want %s", tc.from, tc.until, err, tc.want)
		}
	}
}

// TestContradictions checks that rules contradict each other only at common hosts and times.
func TestContradictions(t *testing.T) {
	later, end := epoch.Add(time.Hour), epoch.Add(2*time.Hour)
	open := time.Time{}
	for _, tc := range []struct {
		name string
		a, b Rule
		want string
	}{
		{"one after the other", during(disallow("GPTBot", "/a"), "a", epoch, later), during(allow("GPTBot", "/a"), "b", later, end), ""},
		{"a moment in common", during(disallow("GPTBot", "/a"), "a", epoch, later.Add(1)), during(allow("GPTBot", "/a"), "b", later, open),
			"rule b: GPTBot is both allowed and disallowed /a; rule a says the opposite; remove one, or change the times; both are in force from 2026-11-27T01:00:00Z until 2026-11-27T01:00:00Z"},
		{"a class and one of it", during(disallow("ai_training"), "a", epoch, end), during(allow("GPTBot"), "b", open, later), "GPTBot is both allowed and disallowed the whole site"},
		{"always and for a time", disallow("GPTBot", "/a"), during(allow("GPTBot", "/a"), "b", epoch, later), "disallow GPTBot says the opposite"},
		{"other hosts", during(disallow("GPTBot", "/a"), "a", epoch, end, "a.example"), during(allow("GPTBot", "/a"), "b", epoch, end, "b.example"), ""},
		{"a host and its wildcard", during(disallow("GPTBot", "/a"), "a", epoch, end, "*.example"), during(allow("GPTBot", "/a"), "b", epoch, end, "b.example"), "/a; rule a says the opposite"},
		{"a host and all", during(disallow("GPTBot", "/a"), "a", epoch, end, "b.example"), during(allow("GPTBot", "/a"), "b", epoch, end), "/a; rule a says the opposite"},
		{"the same twice", during(disallow("GPTBot", "/a"), "a", epoch, end), during(disallow("GPTBot", "/a"), "b", later, open), ""},
	} {
		_, err := NewSchedule(uaident.Default(), Spec{Rules: []Rule{tc.a, tc.b}})
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

// TestScheduleIsItsRulesInForce compares a schedule with a plan of the rules in force, for random
// times and hosts.
func TestScheduleIsItsRulesInForce(t *testing.T) {
	hosts := []string{"a.example", "b.example", "x.b.example"}
	schedules := uint64(60)
	if os.Getenv("LONG_TESTS") != "" {
		schedules = 1500
	}
	told := 0
	for seed := range schedules {
		r := rand.New(rand.NewPCG(seed, 2))
		rules := randomRules(r)
		for i := range rules {
			from, until := time.Time{}, time.Time{}
			if r.IntN(3) > 0 {
				from = epoch.Add(time.Duration(r.IntN(6)) * time.Hour)
			}
			if r.IntN(3) > 0 {
				until = epoch.Add(time.Duration(6+r.IntN(6)) * time.Hour)
			}
			rules[i] = during(rules[i], fmt.Sprint("r", i), from, until)
			if r.IntN(2) == 0 {
				rules[i].Hosts = []string{pick(r, append(hosts, "*.b.example"))}
			}
		}
		s, err := NewSchedule(uaident.Default(), Spec{Rules: rules})
		if err != nil {
			continue // the rules contradict each other
		}
		for range 20 {
			now, host := epoch.Add(time.Duration(r.IntN(13))*time.Hour+time.Duration(r.IntN(3)-1)*time.Microsecond), pick(r, hosts)
			var active []Rule
			for _, rule := range rules {
				window, err := ParseWindow(rule.From, rule.Until)
				if err != nil {
					t.Fatal(err)
				}
				began := window.From.IsZero() || !now.Before(window.From)
				over := !window.Until.IsZero() && !now.Before(window.Until)
				if began && !over && (len(rule.Hosts) == 0 || rule.Hosts[0] == host || rule.Hosts[0] == "*.b.example" && host == "x.b.example") {
					rule.From, rule.Until, rule.Hosts = "", "", nil
					active = append(active, rule)
				}
			}
			want := textAt(t, newSchedule(t, active...), now, host)
			if got := textAt(t, s, now, host); got != want {
				t.Fatalf("seed %d: %s at %v has\n%s\nwant\n%s", seed, host, now, got, want)
			}
			told++
		}
	}
	if told < 1000 {
		t.Errorf("only %d texts were compared", told)
	}
}

// TestHostAsWritten replaces {host} in JSON and lists of rules. Messages show the placeholder.
func TestHostAsWritten(t *testing.T) {
	for _, host := range []string{shortPlaceholder, hostPlaceholder} {
		s, err := NewSchedule(uaident.Default(), Spec{Rules: []Rule{disallow("GPTBot", "/"+host+"/a")}, Sitemaps: []string{"https://" + host + "/s.xml"}})
		if err != nil {
			t.Fatal(err)
		}
		text, err := s.Compose(time.Now(), "a.test", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Disallow: /a.test/a\n", "Sitemap: https://a.test/s.xml\n"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: %q is not in\n%s", host, want, text)
			}
		}
		if told, want := s.descriptionLines(), []string{"disallow GPTBot /{host}/a", "sitemap https://{host}/s.xml"}; !slices.Equal(told, want) {
			t.Errorf("%s: it tells %q, want %q", host, told, want)
		}
	}
}

func TestFutureChangesOfLineEnds(t *testing.T) {
	rule := during(disallow("GPTBot", "/b"), "r", epoch.Add(time.Hour), time.Time{})
	s, err := NewSchedule(uaident.Default(), Spec{Rules: []Rule{rule}})
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"\n", "\r\n", "\r"} {
		base := strings.ReplaceAll("User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /a\n", "\n", end)
		changes := s.FindPeriod("a.test", epoch).FutureChanges([]byte(base), "a.test", epoch)
		if len(changes) != 1 || strings.Join(changes[0].Added, ", ") != "Disallow: /a, Disallow: /b" || len(changes[0].Removed) > 0 {
			t.Errorf("%q: %+v", end, changes)
		}
	}
}
