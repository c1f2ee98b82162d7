package uaident

import (
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// Every crawler of the registry is identified where products stand.
func TestEveryEntryIsIdentified(t *testing.T) {
	for _, c := range Default().Crawlers() {
		for _, name := range append([]string{c.Token}, c.Aliases...) {
			uas := []string{
				name,
				name + "/1.0",
				strings.ToUpper(name) + "/1.0 (+https://www.example.com/about)",
				"Mozilla/5.0 (compatible; " + name + "/1.0; +https://www.example.com/about)",
			}
			switch {
			case c.App && !looksLikeRobot(name):
				uas = uas[2:] // by itself it is the app
			case c.ExactCase:
				uas = slices.Delete(uas, 2, 3)
			}
			for _, ua := range uas {
				id := Identify(ua)
				if id.Crawler == nil || id.Crawler.Token != c.Token || !strings.EqualFold(id.Token, name) || id.Class != c.Class {
					t.Errorf("%s: %q is %q, class %s, by %s", c.Token, ua, id.Token, id.Class, id.Evidence)
				}
			}
		}
	}
}

// No name of the registry catches a browser that merely has it as a part of a
// word.
func TestNamesAreWholeWords(t *testing.T) {
	for _, c := range Default().Crawlers() {
		ua := "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) x" + c.Token + "x/1.0 Safari/537.36"
		if id := Identify(ua); id.Crawler != nil && id.Crawler.Token == c.Token {
			t.Errorf("%s: %q is %q", c.Token, ua, id.Token)
		}
	}
}

func TestLookup(t *testing.T) {
	tests := []struct{ name, token string }{
		{"Googlebot", "Googlebot"},
		{"GOOGLEBOT", "Googlebot"},
		{"googlebot-image", "Googlebot-Image"},
		{"Googlebot-Unheard-Of", ""},
		{"Googlebot/2.1", ""},
		{"Sogou web spider", "Sogou web spider"},
		{"sogou WEB spider", "Sogou web spider"},
		{"Sogou web", ""},
		{"Yahoo! Slurp", "Slurp"},
		{"NaverBot", "Yeti"},
		{"ExaBot", "ExaBot"},
		{"Exabot", "Exabot"},
		{"exabot", "Exabot"},
		{"Net::HTTP", "Net::HTTP"},
		{"Mozilla", ""},
		{"bot", ""},
		{"", ""},
		{"*", ""},
	}
	for _, tt := range tests {
		got := ""
		if c := Default().Lookup(tt.name); c != nil {
			got = c.Token
		}
		if got != tt.token {
			t.Errorf("Lookup(%q) = %q, not %q", tt.name, got, tt.token)
		}
	}
}

// A name that begins with a word which most browsers send would have each of them
// looked up as if it could be that name, which takes half as long again.
func TestNoNameBeginsWithAWordOfBrowsers(t *testing.T) {
	for word := range strings.FieldsSeq("Mozilla Windows NT Win64 x64 AppleWebKit KHTML Gecko Chrome Safari Version Mobile Macintosh Intel Mac OS X iPhone CPU Linux X11 Edg Firefox rv") {
		if !Default().isStop(words.Hash(word)) {
			t.Errorf("%s is not found at the first look", word)
		}
	}
}

func TestCrawlersIsNotAppendable(t *testing.T) {
	all := Default().Crawlers()
	if len(all) < 1000 || cap(all) != len(all) {
		t.Errorf("%d entries with room for %d", len(all), cap(all))
	}
	if !slices.IsSortedFunc(all, func(a, b Crawler) int {
		return strings.Compare(strings.ToLower(a.Token), strings.ToLower(b.Token))
	}) {
		t.Error("not sorted by token")
	}
}

// What operators document about the `*` group and about robots.txt-only tokens.
func TestDocumentedFacts(t *testing.T) {
	tests := []struct {
		token      string
		class      Class
		wildcard   bool
		robotsOnly bool
	}{
		{"Googlebot", Search, true, false},
		{"AdsBot-Google", Ads, false, false},
		{"AdsBot-Google-Mobile", Ads, false, false},
		{"Mediapartners-Google", Ads, false, false},
		{"APIs-Google", GenericCrawler, false, false},
		{"Google-InspectionTool", GenericCrawler, true, false},
		{"Google-Extended", AITraining, true, true},
		{"Applebot-Extended", AITraining, true, true},
		{"Webzio-Extended", AITraining, true, true},
		{"GPTBot", AITraining, true, false},
		{"ChatGPT-User", AIAssistant, false, false},
		{"OAI-SearchBot", AISearch, true, false},
		{"YandexBot", Search, true, false},
		{"YandexFavicons", Search, false, false},
		{"facebookexternalhit", Preview, false, false},
		{"UptimeRobot", Monitor, false, false},
		{"Feedly", Feed, false, false},
		{"AhrefsBot", SEO, true, false},
		{"ia_archiver", Archive, true, false},
		{"curl", Library, false, false},
		{"HeadlessChrome", Headless, false, false},
		{"Scrapy", GenericCrawler, true, false},
		{"HTTrack", GenericCrawler, true, false},
		{"WordPress", Preview, false, false},
		{"Stripe", Service, false, false},
		{"Mastodon", Service, false, false},
		{"kube-probe", Service, false, false},
		{"cohere-ai", GenericCrawler, true, false},
		{"LinerBot", AISearch, true, false},
		{"wpbot", GenericCrawler, true, false},
		{"Mojeek", Search, true, false},
	}
	for _, tt := range tests {
		c := Default().Lookup(tt.token)
		if c == nil {
			t.Errorf("%s is not in the registry", tt.token)
			continue
		}
		if c.Class != tt.class || c.WildcardApplies() != tt.wildcard || c.RobotsOnly != tt.robotsOnly {
			t.Errorf("%s: class %s, judged by `*` %v, robots.txt only %v", tt.token, c.Class, c.WildcardApplies(), c.RobotsOnly)
		}
	}
}
