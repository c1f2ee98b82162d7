package managed

import (
	"strings"
	"testing"
	"time"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestSpec restores an equal schedule from its spec, without source positions.
func TestSpec(t *testing.T) {
	rule := during(disallow("GPTBot", "/a<b"), "sale", epoch, epoch.Add(time.Hour), "B.test", "*.c.test")
	rule.Reason, rule.Owner, rule.Ticket, rule.At = "load", "shop", "OPS-1", "Caddyfile:3"
	delay := Rule{ID: "delay", For: []string{"bingbot"}, CrawlDelay: "5"}
	usage := Rule{ID: "usage", ContentUsage: "train-ai=n"}
	s, err := NewSchedule(uaident.Default(), Spec{Rules: []Rule{rule, delay, usage}, Sitemaps: []string{"https://a.test/s.xml"}, ExtraLines: []string{"Host: a.test"}, StagingHosts: []string{"staging.test"}})
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseSpec(uaident.Default(), s.EncodeSpec())
	if err != nil || string(again.EncodeSpec()) != string(s.EncodeSpec()) {
		t.Fatalf("%v\n%s\n%s", err, again.EncodeSpec(), s.EncodeSpec())
	}
	for _, host := range []string{"a.test", "b.test", "x.c.test"} {
		a, _ := s.Compose(epoch, host, nil)
		b, _ := again.Compose(epoch, host, nil)
		if string(a) != string(b) {
			t.Errorf("%s: %q and %q", host, a, b)
		}
	}
	if !again.IsStagingHost("staging.test") || again.IsStagingHost("a.test") {
		t.Error("staging is at other hosts")
	}
	if got := DescribeDifference(s, again); len(got) > 0 {
		t.Errorf("they differ in %q", got)
	}
	if text := string(s.EncodeSpec()); strings.Contains(text, "Caddyfile") || !strings.Contains(text, "OPS-1") {
		t.Errorf("stored is %s", text)
	}
	if got := string(newSchedule(t).EncodeSpec()); got != "{}" {
		t.Errorf("nothing is %s", got)
	}
	for _, bad := range []string{"", "{", `{"rules":[{"id":"x","for":["GPTBot"],"new":1}]}`, `{"rules":[{"id":"x","for":["no_such_class"]}]}`} {
		if _, err := ParseSpec(uaident.Default(), []byte(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if _, err := ParseSpec(uaident.Default(), []byte(`{"rules":[{"id":"x","for":["NoSuchBot"]}]}`)); err != nil {
		t.Errorf("a crawler that others know: %v", err)
	}
}

// TestDifference checks the lines of a difference, with rule, content and reason.
func TestDifference(t *testing.T) {
	sale := during(disallow("*", "/search"), "sale", epoch, epoch.Add(time.Hour), "b.test")
	sale.Reason, sale.Ticket = "load of the sale", "OPS-1"
	staged, err := NewSchedule(uaident.Default(), Spec{Rules: []Rule{disallow("GPTBot"), sale}, StagingHosts: []string{AllHosts}})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(DescribeDifference(newSchedule(t, disallow("GPTBot"), allow("CCBot", "/x")), staged), "\n")
	want := "- allow CCBot /x\n+ rule sale: disallow * /search from " + epoch.Format(time.RFC3339) + " until " + epoch.Add(time.Hour).Format(time.RFC3339) +
		" at b.test; load of the sale; OPS-1\n+ staging *"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestComparison checks the pairs of different files, now and in the future. Hosts with equal files
// share a pair.
func TestComparison(t *testing.T) {
	later := during(disallow("*", "/later"), "later", epoch.Add(time.Hour), time.Time{}, "b.test", "c.test")
	over := during(disallow("*", "/over"), "over", time.Time{}, epoch.Add(-time.Hour), "d.test")
	far := during(disallow("*", "/far"), "far", epoch.Add(horizon+time.Hour), time.Time{}, "e.test")
	var got []string
	compare := Comparison{
		Before: newSchedule(t, disallow("GPTBot")), After: newSchedule(t, disallow("GPTBot"), later, over, far), Hosts: []string{"x.test"},
		Base: func(string) []byte { return nil }, Now: epoch, MaxPairs: 1000,
	}
	left := compare.ForEachDifference(func(p FilePair) {
		got = append(got, strings.Join(p.Hosts, " ")+" "+p.From.Sub(epoch).String())
		if strings.Contains(string(p.Before), "/later") || !strings.Contains(string(p.After), "/later") {
			t.Errorf("%q became %q", p.Before, p.After)
		}
	})
	if all := strings.Join(got, ", "); all != "b.test c.test 1h0m0s" || left > 0 {
		t.Errorf("got %s, %d left out", all, left)
	}
	compare.OnlyNow = true
	if left := compare.ForEachDifference(func(p FilePair) { t.Errorf("%v differs now", p.Hosts) }); left > 0 {
		t.Errorf("%d left out of what is in force now", left)
	}
	compare.OnlyNow, compare.Before, compare.After, compare.Hosts, compare.MaxPairs = false, newSchedule(t), newSchedule(t, later), nil, 1
	if left := compare.ForEachDifference(func(FilePair) {}); left != 2 {
		t.Errorf("%d left out", left)
	}
}

// TestComparisonOfWildcards compares the files of a wildcard, and not those of a host below it that
// a rule or the staging hosts name.
func TestComparisonOfWildcards(t *testing.T) {
	at := func(hosts ...string) []Rule {
		rule := disallow("Googlebot")
		rule.ID, rule.Hosts = "x", hosts
		return []Rule{rule}
	}
	for name, test := range map[string]struct {
		before, after Spec
		want          string // the hosts of each pair
	}{
		"rule moved from www to the wildcard": {Spec{Rules: at("www.example.com")}, Spec{Rules: at("*.example.com")}, "*.example.com"},
		"rule moved from the wildcard to www": {Spec{Rules: at("*.example.com")}, Spec{Rules: at("www.example.com")}, "*.example.com"},
		"www is a staging host":               {Spec{StagingHosts: []string{"www.example.com"}}, Spec{Rules: at("*.example.com"), StagingHosts: []string{"www.example.com"}}, "*.example.com"},
		"staging moved to the wildcard":       {Spec{StagingHosts: []string{"www.example.com"}}, Spec{StagingHosts: []string{"*.example.com"}}, "*.example.com"},
		"wildcard unchanged":                  {Spec{Rules: at("*.example.com")}, Spec{Rules: at("*.example.com"), StagingHosts: []string{"www.example.com"}}, "www.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := NewSchedule(uaident.Default(), test.before)
			if err != nil {
				t.Fatal(err)
			}
			after, err := NewSchedule(uaident.Default(), test.after)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			compare := Comparison{Before: before, After: after, Base: func(string) []byte { return nil }, Now: epoch, MaxPairs: 1000}
			compare.ForEachDifference(func(p FilePair) { got = append(got, p.Hosts...) })
			if strings.Join(got, " ") != test.want {
				t.Errorf("differences at %q, want %q", got, test.want)
			}
		})
	}
}

// TestSameFor finds unaffected crawlers without a base.
func TestSameFor(t *testing.T) {
	google := []*uaident.Crawler{uaident.Default().Lookup("Googlebot")}
	for name, test := range map[string]struct {
		a, b []Rule
		same bool
	}{
		"another crawler":  {nil, []Rule{disallow("GPTBot")}, true},
		"it":               {nil, []Rule{disallow("Googlebot", "/x")}, false},
		"all":              {nil, []Rule{disallow("*", "/x")}, false},
		"the same, twice":  {[]Rule{disallow("*", "/x")}, []Rule{disallow("*", "/x"), disallow("*", "/x")}, true},
		"with another":     {[]Rule{disallow("Googlebot", "/x")}, []Rule{{ID: "r", For: []string{"Googlebot", "GPTBot"}, Paths: []string{"/x"}}}, true},
		"at another time":  {[]Rule{disallow("*", "/x")}, []Rule{during(disallow("*", "/x"), "r", epoch, time.Time{})}, false},
		"at another host":  {[]Rule{disallow("*", "/x")}, []Rule{during(disallow("*", "/x"), "r", time.Time{}, time.Time{}, "a.test")}, false},
		"another's delay":  {nil, []Rule{{ID: "d", For: []string{"Googlebot"}, CrawlDelay: "1"}}, true},
		"what is allowed":  {[]Rule{allow("Googlebot", "/x")}, nil, false},
		"in another order": {[]Rule{disallow("*", "/x"), disallow("*", "/y")}, []Rule{disallow("*", "/y"), disallow("*", "/x")}, true},
	} {
		if got := SameEffectFor(newSchedule(t, test.a...), newSchedule(t, test.b...), google); got != test.same {
			t.Errorf("%s: %v", name, got)
		}
	}
}
