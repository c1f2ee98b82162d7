package judge

import (
	"slices"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestShutsOutSearch compares versions of a robots.txt for Googlebot, bingbot and pages
// that they were served.
func TestShutsOutSearch(t *testing.T) {
	engines := []*uaident.Crawler{uaident.Default().Lookup("Googlebot"), uaident.Default().Lookup("bingbot")}
	pages := []ServedPage{
		{Crawler: "Googlebot", Names: []string{"Googlebot"}, WildcardApplies: true, Target: "/shop/1"},
		{Crawler: "bingbot", Names: []string{"bingbot", "msnbot"}, WildcardApplies: true, Target: "/shop//2"},
		{Crawler: "AdsBot-Google", Names: []string{"AdsBot-Google"}, Target: "/shop/3"},
	}
	for _, tc := range []struct {
		name, before, after string
		keepSlashes         bool
		engines             []string
		pages               []int
	}{
		{name: "the same", before: "User-agent: *\nDisallow: /\n", after: "User-agent: *\nDisallow: /\n"},
		{name: "everything is forbidden", after: "User-agent: *\nDisallow: /\n", engines: []string{"Googlebot", "bingbot"}, pages: []int{0, 1}},
		{name: "it was forbidden before", before: "User-agent: *\nDisallow: /\n", after: "User-agent: bingbot\nDisallow: /\n"},
		{name: "one engine by name", after: "User-agent: bingbot\nDisallow: /\n", engines: []string{"bingbot"}, pages: []int{1}},
		{name: "an earlier name of it", after: "User-agent: msnbot\nDisallow: /\n", engines: []string{"bingbot"}, pages: []int{1}},
		{name: "another crawler", after: "User-agent: GPTBot\nDisallow: /\n"},
		{name: "a page", after: "User-agent: *\nDisallow: /shop/1\n", pages: []int{0}},
		{name: "a page by name only", after: "User-agent: AdsBot-Google\nDisallow: /shop/\n", pages: []int{2}},
		{name: "slashes in a row", after: "User-agent: *\nDisallow: /shop/2\n", pages: []int{1}},
		{name: "slashes that count", after: "User-agent: *\nDisallow: /shop/2\n", keepSlashes: true},
		{name: "more is allowed", before: "User-agent: *\nDisallow: /\n", after: ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := FindShutOut(policy.Parse([]byte(tc.before)), policy.Parse([]byte(tc.after)), ProtectedSearchTraffic{Engines: engines, Pages: pages, KeepSlashes: tc.keepSlashes})
			if !slices.Equal(got.Engines, tc.engines) || !slices.Equal(got.Pages, tc.pages) || got.IsEmpty() != (len(tc.engines)+len(tc.pages) == 0) {
				t.Errorf("got %+v, want %v and %v", got, tc.engines, tc.pages)
			}
		})
	}
}
