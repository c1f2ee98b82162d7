package judge

import (
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// TestUnknownNames refuses words by which nobody would ever be chosen, and proposes
// what is meant.
func TestUnknownNames(t *testing.T) {
	registry, err := uaident.Default().WithCrawlers(uaident.Crawler{Token: "AcmeSpider", Class: uaident.GenericCrawler})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		word, want string // "" for none
		matcher    bool
	}{
		{"Googelbot", "did you mean Googlebot?", false},
		{"serach", "did you mean search?", false},
		{"ai-training", "did you mean ai_training?", false},
		{"Search", "did you mean search?", false},
		{"AI", "did you mean ai_training or ai_search or ai_assistant?", true},
		{"GTPBot", "did you mean GPTBot?", false},
		{"Bignbot", "did you mean bingbot?", false},
		{"CCBto", "did you mean CCBot?", false},
		{"OpenAI", "did you mean ChatGPT-User or GPTBot or OAI-AdsBot or OAI-SearchBot or ChatGPT-Browser?", false},
		{"Google", "did you mean Googlebot or AdsBot-Google or", false},
		{"Bing", "did you mean bingbot", false},
		{"Claude", "or ClaudeBot", false},
		{"Googlebot bingbot seo", "contains several names; write them without quotes: Googlebot bingbot seo", false},
		{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "is a whole User-Agent; write the product token, Googlebot", false},
		{"Mozilla/5.0 (X11) Firefox/140.0", "is a whole User-Agent of an unknown crawler", false},
		{"GPTBot/1.2", "is not a product token: a version or a pattern is not allowed; write GPTBot", false},
		{"//", "a comment begins with #", false},
		{"/private/*", "is a path, not a crawler", false},
		{"66.249.64.0/19", "is an address; only names and classes of crawlers are allowed here; for an address use a matcher, for example @others not client_ip 66.249.64.0/19", false},
		{"AcmeSpidre", "did you mean AcmeSpider?", false},
		{"verifed", "did you mean verified?", true},
		{"verified", "not a class and not a known crawler", false},
		{"Zxqvbnmw", "the classes are other, library", false},
		{"Fast Zxqvbnmw", `write "token:Fast Zxqvbnmw"`, false},
		{"Google-Extended", "no client sends the name Google-Extended", false},
		{"token:Google-Extended", "no client sends the name Google-Extended", false},
		{"token:", "is not a class", false},
		{"token:*", "is not a class", false},
		{"browser", "never judged", false},
		{"x", "the classes are", false},
		{strings.Repeat("x", 1000), "the classes are", false},

		{"googlebot", "", false},
		{"HaosouSpider", "", false}, // an alias
		{"acmespider", "", false},
		{"ai_training", "", false},
		{"spoofed", "", true},
		{"token:NewBot", "", true},
		{"token:search", "", false},
		{"token:GPTBot", "", false},
	} {
		_, err := ParseSelector(registry, []string{tc.word}, tc.matcher)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.40s: %v, want %q", tc.word, err, tc.want)
		}
	}
}

// TestMeantToken chooses clients by a token that nobody knows, or that is spelt as
// a class is.
func TestMeantToken(t *testing.T) {
	for word, userAgent := range map[string]string{"token:NewBot": "NewBot/1.0", "token:gptbot": "GPTBot/1.2"} {
		s, err := ParseSelector(uaident.Default(), []string{word}, false)
		if err != nil || !s.Matches(uaident.Identify(userAgent)) || s.Matches(uaident.Identify("bingbot/2.0")) {
			t.Errorf("%s: %v, chooses %s: %t", word, err, userAgent, s.Matches(uaident.Identify(userAgent)))
		}
	}
}

// TestAboutToken says what is odd about a token that is asked about.
func TestAboutToken(t *testing.T) {
	for token, want := range map[string]string{
		"Google-Extended":   "no client sends the name Google-Extended, so a server cannot block requests by it; its group says whether what Googlebot fetches may be used for Gemini",
		"applebot-extended": "no client sends the name Applebot-Extended, so",
		"GTPBot":            "no known crawler is called GTPBot; did you mean GPTBot?",
		"serach":            "", // no class is meant here
		"ChatGPT Agent":     "", // its requests are signed
		"GPTBot":            "",
		"HaosouSpider":      "",
		"Zxqvbnmw":          "",
		"*":                 "",
		"":                  "",
	} {
		if got := TokenHint(uaident.Default(), token); (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q", token, got, want)
		}
	}
}
