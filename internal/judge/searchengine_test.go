package judge

import (
	"slices"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// TestSearchEngines holds the list against the registry: one crawler of each
// operator whose search crawlers can be verified.
func TestSearchEngines(t *testing.T) {
	var operators []string
	for i, c := range SearchEngines() {
		switch {
		case c == nil:
			t.Errorf("%s is not in the registry", searchEngineTokens[i])
		case c.Class != uaident.Search || !c.WildcardApplies():
			t.Errorf("%s is no search engine's crawler: %+v", c.Token, c)
		case slices.Contains(operators, c.Operator):
			t.Errorf("%s is the second one of %s", c.Token, c.Operator)
		default:
			operators = append(operators, c.Operator)
		}
	}
	for _, c := range uaident.Default().Crawlers() {
		published := len(c.Verification.RDNS)+len(c.Verification.Ranges) > 0 || c.Verification.WebBotAuth != ""
		if c.Class == uaident.Search && published && !slices.Contains(operators, c.Operator) {
			t.Errorf("%s of %s can be verified, but no crawler of its operator is listed", c.Token, c.Operator)
		}
	}
}

func TestBlocksSearch(t *testing.T) {
	enforcing := Settings{Enforce: true}
	for _, tc := range []struct {
		name, robots, token string
		identity            verify.State
		want                bool
	}{
		{"the group for all", "User-agent: *\nDisallow: /\n", "Googlebot", verify.Verified, true},
		{"whether it is sure or not", "User-agent: *\nDisallow: /\n", "bingbot", verify.Claimed, true},
		{"a false name", "User-agent: *\nDisallow: /\n", "bingbot", verify.Spoofed, false},
		{"its own group", "User-agent: Applebot\nDisallow: /\n", "Applebot", verify.Verified, false},
		{"its own group, with a version", "User-agent: applebot/0.1\nDisallow: /\n", "Applebot", verify.Verified, false},
		{"another name of it", "User-agent: NaverBot\nDisallow: /\n", "Yeti", verify.Verified, false},
		{"the group of its family", "User-agent: Googlebot\nDisallow: /\n", "Googlebot-Image", verify.Verified, false},
		{"the name before", "User-agent: msnbot\nDisallow: /\n", "bingbot", verify.Verified, false},
		{"a group for another operator's", "User-agent: Googlebot\nDisallow: /\n", "Applebot", verify.Verified, true},
		{"named and forbidden nothing", "User-agent: Applebot\nAllow: /\n\nUser-agent: *\nDisallow: /\n", "Applebot", verify.Verified, false},
		{"none", "User-agent: *\nDisallow: /\n", "GPTBot", verify.Verified, false},
		{"answers of a model", "User-agent: *\nDisallow: /\n", "OAI-SearchBot", verify.Verified, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			known := uaident.Default().Lookup(tc.token)
			client := uaident.Identity{Token: tc.token, Crawler: known, Class: known.Class}
			var r Result
			judge := func(s *Settings) bool {
				s.Judge(&Request{Client: client, Verification: tc.identity, Target: "/page"}, Rules{Robots: policy.Parse([]byte(tc.robots))}, new(Scratch), &r)
				return r.BlocksSearch(client, tc.identity)
			}
			if got := judge(&enforcing); got != tc.want {
				t.Errorf("%v by %+v, want %v", got, r, tc.want)
			}
			if judge(&Settings{}) {
				t.Errorf("nobody is kept out who is only watched: %+v", r)
			}
			closed := Settings{Enforce: true}
			closed.Judge(&Request{Client: client, Verification: tc.identity, Target: "/page"}, Rules{DisallowAll: true}, new(Scratch), &r)
			if r.BlocksSearch(client, tc.identity) {
				t.Errorf("no rule keeps it out: %+v", r)
			}
		})
	}
}

// TestMeans asks whether groups are meant for a crawler.
func TestMeans(t *testing.T) {
	image := &uaident.Crawler{Token: "ZorkImage", Operator: "Zork", Aliases: []string{"ZorkPictures"}, Fallback: []string{"Googlebot", "Googlebot-Image"}}
	of := *image
	of.Operator = "Google"
	for _, tc := range []struct {
		group   string
		crawler *uaident.Crawler
		want    bool
	}{
		{"zorkimage", image, true},
		{"ZorkPictures", image, true},
		{"Googlebot", image, false}, // another operator's
		{"Googlebot", &of, true},
		{"googlebot-image", &of, true},
		{"Googlebot-News", &of, false}, // which it does not obey
		{"bingbot", &of, false},
		{"NoSuchBot", &uaident.Crawler{Token: "ZorkImage", Fallback: []string{"NoSuchBot"}}, false}, // nobody knows whose
	} {
		if got := NamesCrawler(tc.group, tc.crawler); got != tc.want {
			t.Errorf("%s for %s of %s: %v, want %v", tc.group, tc.crawler.Token, tc.crawler.Operator, got, tc.want)
		}
	}
}
