package guard

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
)

// TestHostsThatNobodyNamesAreForgotten removes a host from the configuration. Its data
// goes with the guards of the previous configuration, and the data of other hosts
// stays.
func TestHostsThatNobodyNamesAreForgotten(t *testing.T) {
	first := testGuard(t, options{Enforce: true, FetchWait: 10 * time.Second}, serving("# nothing\n"))
	shared := first.state
	names := func(hosts ...string) (release func()) {
		sites := new(site.Sites)
		of := site.NewHosts(nil)
		of.AddNames(caddyhttp.MatchHost(hosts))
		sites.AddHosts(of)
		return shared.UseSettings(Settings{Sites: ConfiguredSites{IsConfigured: sites.IsHostLabel}})
	}
	known := func() (labels []string) {
		for label := range shared.siteRecords.recordsWithCurrentMode() {
			labels = append(labels, label)
		}
		slices.Sort(labels)
		return labels
	}
	countKeys := func() map[string]int {
		n := make(map[string]int)
		for _, from := range []interface{ Range(func(key, _ any) bool) }{&shared.violations.limits, &shared.warningLimits.limits, &shared.violationEvents.limits} {
			from.Range(func(key, _ any) bool { n[key.(messageLimitKey).host]++; return true })
		}
		return n
	}
	judgedBy := func(g *Guard, labels ...string) {
		for _, label := range labels {
			g.recordSite(&Judgement{Site: &site.Site{Label: label}})
			shared.violations.allowMessage(label, "FooBot")
			shared.warningLimits.allowMessage(label, "")
			shared.violationEvents.allowMessage(label, "FooBot")
		}
		shared.warningLimits.allowMessage(undecidedHost, "missing")
	}

	releaseFirst := names("stays.test", "goes.test", "*.goes.test")
	judgedBy(first, "stays.test", "goes.test", "*.goes.test", "_other")
	releaseNext := names("stays.test", "new.test")
	next := New(t.Context(), shared, first.Config)
	judgedBy(next, "new.test")
	if got, want := countKeys(), map[string]int{"stays.test": 3, "new.test": 3, "_other": 3, undecidedHost: 1}; !maps.Equal(got, want) {
		t.Errorf("limits are kept of %v, want %v", got, want)
	}
	if got, want := known(), []string{"_other", "new.test", "stays.test"}; !slices.Equal(got, want) {
		t.Errorf("after the second configuration there are %v, want %v: stays.test is still named", got, want)
	}
	first.recordSite(&Judgement{Site: &site.Site{Label: "goes.test"}}) // a request that is in flight
	releaseFirst()
	if got, want := known(), []string{"_other", "new.test", "stays.test"}; !slices.Equal(got, want) {
		t.Errorf("after a late request and the end of the first configuration there are %v, want %v", got, want)
	}
	releaseNext()
	if got, want := known(), []string{"_other", "new.test", "stays.test"}; !slices.Equal(got, want) {
		t.Errorf("without a configuration there are %v, want %v", got, want)
	}
}
