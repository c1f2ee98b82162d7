package registry

import (
	"strings"
	"testing"

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
			got := strings.Join(Suspicions(before, parse(tc.after)), "; ")
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
	if got := Suspicions(nil, parse(text(1, many...))); len(got) != maxWhy+1 || !strings.HasPrefix(got[maxWhy], "and ") {
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
