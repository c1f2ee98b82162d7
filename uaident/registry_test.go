package uaident

import (
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// TestEveryEntryIsIdentified checks each registry entry in all positions of a product.
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
				uas = uas[2:] // the name alone is the app
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

// TestNamesAreWholeWords checks that a registry name inside a longer word does not match.
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

// TestNoNameBeginsWithAWordOfBrowsers checks the first words of registry names. If browsers sent
// such a word, each request of a browser would need a longer lookup, which takes 50 % more time.
func TestNamesBeginWithRareWords(t *testing.T) {
	for word := range strings.FieldsSeq("Mozilla Windows NT Win64 x64 AppleWebKit KHTML Gecko Chrome Safari Version Mobile Macintosh Intel Mac OS X iPhone CPU Linux X11 Edg Firefox rv") {
		if !Default().isBrowserWord(words.Hash(word)) {
			t.Errorf("%s is not in its first slot", word)
		}
	}
}

func TestCrawlersIsNotAppendable(t *testing.T) {
	entries := Default().Crawlers()
	if len(entries) < 1000 || cap(entries) != len(entries) {
		t.Errorf("%d entries with capacity %d", len(entries), cap(entries))
	}
	if !slices.IsSortedFunc(entries, func(a, b Crawler) int {
		return strings.Compare(strings.ToLower(a.Token), strings.ToLower(b.Token))
	}) {
		t.Error("the entries are not sorted by token")
	}
}

// TestDocumentedFacts checks operators' documentation about the `*` group and about tokens that
// only occur in robots.txt.
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
			t.Errorf("%s: class %s, `*` group %v, robots.txt only %v", tt.token, c.Class, c.WildcardApplies(), c.RobotsOnly)
		}
	}
}
