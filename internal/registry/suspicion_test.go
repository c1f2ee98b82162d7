package registry

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
	"github.com/robotsguard/caddy-robots-guard/uaident/edition"
)

func TestSuspicions(t *testing.T) {
	parse := func(text string) *edition.Edition {
		t.Helper()
		e, err := edition.Parse("f", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	entry := func(fields string) string { return `{"crawlers": [{"source": "https://a.test/", ` + fields + `}]}` }
	google := strings.TrimSuffix(string(edition.AppendEntry(nil, uaident.Default().Lookup("Googlebot"))), "}")
	eight := text(1, "ABot", "BBot", "CBot", "DBot", "EBot", "FBot", "GBot", "HBot")
	for _, tc := range []struct{ name, before, after, want string }{
		{"new names", "", text(1, "ABot", "BBot:search"), ""},
		{"nothing", "", `{"crawlers": []}`, ""},
		{"the built-in one", "", string(edition.Embedded()), ""},
		{"a quarter is gone", eight, text(2, "ABot", "BBot", "CBot", "DBot", "EBot", "FBot"), ""},
		{"more is gone", eight, text(2, "ABot", "BBot", "CBot", "DBot", "EBot"), "it has lost 3 of 8 entries"},
		{"all is gone", eight, `{"crawlers": []}`, "it has lost 8 of 8 entries"},
		{"a search engine is spared", "", entry(`"token": "bingbot", "class": "search", "wildcard": false`), "the search engine bingbot becomes one of class search"},
		{"another class", "", entry(`"token": "Googlebot", "class": "ai_training"`), "the search engine Googlebot becomes one of class ai_training"},
		{"a new name for it", "", entry(`"token": "Greatbot", "class": "search", "aliases": ["NaverBot"]`), "the search engine Yeti loses its name NaverBot"},
		{"its name taken", text(1, "OwnBot:search"), entry(`"token": "Greatbot", "class": "search", "aliases": ["OwnBot"]`), "the search engine OwnBot becomes Greatbot"},
		{"it is gone", text(1, "OwnBot:search"), `{"crawlers": []}`, "the search engine OwnBot is gone"},
		{"another address", "", `{"crawlers": [` + strings.Replace(google, ".googlebot.com", ".evil.test", 1) + "}]}", "the search engine Googlebot is verified otherwise"},
		{"another source", "", `{"crawlers": [` + strings.Replace(google, "google-common-crawlers", "x", 1) + "}]}", ""},
		{"others' groups", "", `{"crawlers": [` + google + `,"fallback":["bingbot"]}]}`, "the search engine Googlebot goes by other groups"},
		{"a service", "", entry(`"token": "Stripe", "class": "crawler"`), "Stripe, of class service, becomes one that the * group is meant for"},
		{"a library", "", entry(`"token": "curl", "class": "seo"`), "curl, of class library, becomes"},
		{"a browser's words", "", entry(`"token": "Windows NT 10.0", "class": "seo"`), `the browser "Mozilla/5.0 (Windows NT 10.0`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var before *edition.Edition
			if tc.before != "" {
				before = parse(tc.before)
			}
			got := strings.Join(suspicionsOf(before, parse(tc.after)), "; ")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
	var many []string
	for _, c := range uaident.Default().Crawlers() {
		if c.Class == uaident.Search && len(many) < 20 {
			many = append(many, c.Token+":seo")
		}
	}
	if got := suspicionsOf(nil, parse(text(1, many...))); len(got) != maxWhy+1 || !strings.HasPrefix(got[maxWhy], "and ") {
		t.Errorf("%q", got)
	}
}

// What claims cannot be verified by is a mistake, and not only odd.
func TestUsable(t *testing.T) {
	for fields, want := range map[string]string{
		`"verification": {"rdns": [".foo.example"]}`: "",
		`"operator": "Foo", "verification": {"web_bot_auth": "https://chatgpt.com/.well-known/http-message-signatures-directory"}`: "the same signing agent",
	} {
		e, err := edition.Parse("f", []byte(`{"crawlers": [{"token": "FooBot", "class": "seo", "source": "https://foo.example/", `+fields+"}]}"))
		if err != nil {
			t.Fatal(err)
		}
		known, err := e.Over(uaident.Default())
		if err != nil {
			t.Fatal(err)
		}
		if err := Usable(known); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", fields, err, want)
		}
	}
}

// What shuts out those that `*` is not meant for, or lets out those that it is, waits.
func TestWatched(t *testing.T) {
	as := func(token, class, more string) string {
		return fmt.Sprintf(`{"crawlers": [{"token": %q, "class": %q, "source": "https://a.test/"%s}]}`, token, class, more)
	}
	known := func(token string, change func(*uaident.Crawler)) string {
		c := *uaident.Default().Lookup(token)
		change(&c)
		return `{"crawlers": [` + string(edition.AppendEntry(nil, &c)) + "]}"
	}
	same := func(token string) string { return known(token, func(*uaident.Crawler) {}) }
	fallback := func(c *uaident.Crawler) { c.Fallback = []string{"GPTBot"} }
	verification := func(c *uaident.Crawler) {
		c.Verification = uaident.Verification{RDNS: []string{".evil.test"}}
	}
	for _, tc := range []struct{ name, before, after, want string }{
		{"a preview's groups", "", known("facebookexternalhit", fallback), "facebookexternalhit goes by other groups"},
		{"another preview's", "", known("Slackbot-LinkExpanding", fallback), "Slackbot-LinkExpanding goes by other groups"},
		{"a feed reader's", "", known("Feedly", fallback), "Feedly goes by other groups"},
		{"an ad crawler's", "", known("AdsBot-Google", fallback), "AdsBot-Google goes by other groups"},
		{"an operator's", "", known("Google-InspectionTool", fallback), "Google-InspectionTool goes by other groups"},
		{"a monitor's", "", known("UptimeRobot", fallback), "UptimeRobot goes by other groups"},
		{"an assistant's", "", known("ChatGPT-User", fallback), "ChatGPT-User goes by other groups"},
		{"written from scratch", "", as("Mediapartners-Google", "ads", `, "fallback": ["GPTBot"]`), "Mediapartners-Google goes by other groups"},
		{"a preview is spoofed", "", known("facebookexternalhit", verification), "facebookexternalhit is verified otherwise"},
		{"an operator's crawler is spoofed", "", known("Google-InspectionTool", verification), "Google-InspectionTool is verified otherwise"},
		{"another class", "", known("facebookexternalhit", func(c *uaident.Crawler) { c.Class = uaident.Library }), "of class preview, becomes one of class library"},
		{"the * by a flag", "", known("facebookexternalhit", func(c *uaident.Crawler) { c.Wildcard = uaident.WildcardOn }), "becomes one that the * group is meant for"},
		{"a new name, with a group for it", "", known("facebookexternalhit", func(c *uaident.Crawler) { c.Aliases = append(slices.Clone(c.Aliases), "AcmeScraper") }), "the crawler facebookexternalhit has another name, AcmeScraper"},
		{"only in robots.txt", "", known("Feedly", func(c *uaident.Crawler) { c.RobotsOnly = true }), "Feedly goes by other groups"},
		{"weeks to follow a change", "", known("GPTBot", func(c *uaident.Crawler) {
			c.RobotsLag = uaident.RobotsLag{Most: uaident.MaxRobotsLag, Source: "https://a.test/"}
		}), "the crawler GPTBot may take 168h0m0s to follow a change"},
		{"a day to follow a change", "", known("facebookexternalhit", func(c *uaident.Crawler) {
			c.RobotsLag = uaident.RobotsLag{Most: policy.MaxAge, Source: "https://a.test/"}
		}), ""},
		{"another operator", "", known("facebookexternalhit", func(c *uaident.Crawler) { c.Operator = "Evil" }), `becomes one of "Evil"`},
		{"for training alone", "", known("GoogleOther", func(c *uaident.Crawler) {
			c.Purposes = uaident.Purposes{Of: uaident.ForTraining, Source: "https://a.test/"}
		}), "GoogleOther comes to do nothing but train models"},
		{"GPTBot is let out", "", known("GPTBot", func(c *uaident.Crawler) { c.Class = uaident.Library }), "GPTBot, of class ai_training, becomes one that the * group is not meant for"},
		{"by a person", "", known("GPTBot", func(c *uaident.Crawler) { c.UserTriggered = true }), "becomes one that the * group is not meant for"},
		{"by another's groups", "", known("GPTBot", func(c *uaident.Crawler) { c.Fallback = []string{"Googlebot"} }), "GPTBot goes by other groups"},
		{"by another's name", "", as("Acme", "library", `, "aliases": ["GPTBot"]`), "GPTBot, of class ai_training, becomes"},
		{"by a longer name", "", as("GPTBot 1.2", "library", ""), `"GPTBot 1.2", a name of GPTBot 1.2, takes requests of GPTBot`},
		{"its other address", "", known("GPTBot", verification), ""},
		{"a longer name of a preview", "", as("Slackbot-LinkExpanding 1.0", "seo", ""), "takes requests of Slackbot-LinkExpanding"},
		{"the same name by case", "", as("FEEDLY", "seo", `, "exact_case": true`), `"FEEDLY", a name of FEEDLY, takes requests of Feedly`},
		{"a name taken", "", as("Acme", "feed", `, "aliases": ["facebookexternalhit"]`), "the crawler facebookexternalhit becomes Acme"},
		{"a service is gone", as("AcmeHookBot", "service", ""), `{"crawlers": []}`, "the crawler AcmeHookBot is gone"},
		{"a signer for an operator", "", as("AcmeBot", "seo", `, "operator": "Google", "verification": {"web_bot_auth": "https://evil.test/.well-known/http-message-signatures-directory"}`), "https://evil.test comes to sign for the crawlers of Google"},
		{"one for another", "", as("AcmeBot", "seo", `, "operator": "Acme", "verification": {"web_bot_auth": "https://acme.test/.well-known/http-message-signatures-directory"}`), ""},
		{"words of rare browsers", "", as("Windows NT 6.3", "seo", ""), `"Windows NT 6.3", a name of Windows NT 6.3, begins like what browsers send`},
		{"their systems", "", as("Acme", "seo", `, "aliases": ["Android 13"]`), "begins like what browsers send"},
		{"a browser's name", "", as("Whale", "seo", ""), `is taken for Whale`},
		{"a new member of a family", "", as("YandexAcme", "search", `, "operator": "Yandex"`), ""},
		{"a new service", "", as("AcmeHook", "service", ""), ""},
		{"a preview as it was", "", same("facebookexternalhit"), ""},
		{"its note", "", strings.Replace(same("Feedly"), `{"token"`, `{"note": "read again", "token"`, 1), ""},
		{"its day", "", known("Feedly", func(c *uaident.Crawler) { c.Checked = "2026-11-24" }), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var editions [2]*edition.Edition
			for i, text := range []string{tc.before, tc.after} {
				if text == "" {
					continue
				}
				e, err := edition.Parse("f", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				editions[i] = e
			}
			got := strings.Join(suspicionsOf(editions[0], editions[1]), "; ")
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// All browsers are known as such, or they guard nothing.
func TestBrowsers(t *testing.T) {
	for _, userAgent := range browsers {
		if id := uaident.Identify(userAgent); id.Class != uaident.Browser {
			t.Errorf("%s is %s", userAgent, id.Name())
		}
	}
}
