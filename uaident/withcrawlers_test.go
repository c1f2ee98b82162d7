package uaident

import (
	"strings"
	"testing"
)

func TestWith(t *testing.T) {
	google := *Default().Lookup("Googlebot")
	google.Wildcard = WildcardOff
	r, err := Default().WithCrawlers(
		Crawler{Token: "AcmeFetch", Class: Monitor, Wildcard: WildcardOn, Fallback: []string{"Googlebot"}},
		Crawler{Token: "Green Apple", Class: Feed, Aliases: []string{"NaverBot"}},
		Crawler{Token: "CURL", Class: SEO},
		google,
	)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		ua, name string
		class    Class
		wildcard bool
	}{
		{"AcmeFetch/1.0", "AcmeFetch", Monitor, true},
		{chrome + " acmefetch/1.0", "AcmeFetch", Monitor, true},
		{"green apple 3", "Green Apple", Feed, false},
		{"NaverBot/1.0", "Green Apple", Feed, false},
		{"Yeti/1.1", "Yeti", Search, true},
		{"curl/8", "CURL", SEO, true},
		{"Googlebot/2.1", "Googlebot", Search, false},
		{"bingbot/2.0", "bingbot", Search, true},
		{chrome, "", Browser, false},
	}
	for _, tt := range tests {
		id := r.Identify(tt.ua)
		if id.Name() != tt.name || id.Class != tt.class || id.WildcardApplies() != tt.wildcard {
			t.Errorf("%q is %q, class %s, `*` %v", tt.ua, id.Name(), id.Class, id.WildcardApplies())
		}
	}
	if chain := strings.Join(r.Identify("acmefetch/1").AppendNames(nil), " "); chain != "acmefetch Googlebot" {
		t.Errorf("chain %s", chain)
	}
	if Identify("curl/8").Class != Library || Identify("AcmeFetch/1.0").HasKnownName() || Identify("NaverBot/1.0").Name() != "Yeti" {
		t.Error("the default registry has changed")
	}
	if again, err := r.WithCrawlers(Crawler{Token: "Green Apple", Class: Ads}); err != nil || again.Identify("Green Apple/1").Class != Ads {
		t.Errorf("second WithCrawlers: %v", err)
	}
}

func TestWithRefuses(t *testing.T) {
	tests := []struct {
		crawlers []Crawler
		want     []string
	}{
		{[]Crawler{{Token: "", Class: SEO}}, []string{`"" does not begin with a letter`}},
		{[]Crawler{{Token: "-x", Class: SEO}}, []string{`"-x" does not begin with a letter`}},
		{[]Crawler{{Token: "FooBot/1.0", Class: SEO}}, []string{`"FooBot/1.0" contains a version; write FooBot`}},
		{[]Crawler{{Token: "FooBot", Aliases: []string{"Foo Bot/v2"}, Class: SEO}}, []string{`"Foo Bot/v2" contains a version`, "write Foo Bot"}},
		{[]Crawler{{Token: "FooBot (new)", Class: SEO}}, []string{"not allowed in a product token"}},
		{[]Crawler{{Token: "Chrome", Class: SEO}}, []string{"Chrome", "cannot name a crawler"}},
		{[]Crawler{{Token: "BOT", Class: SEO}}, []string{"BOT", "cannot name a crawler"}},
		{[]Crawler{{Token: "Foo*", Class: SEO}}, []string{"Foo*", "character"}},
		{[]Crawler{{Token: strings.Repeat("x", 101), Class: SEO}}, []string{"longer than 100 bytes"}},
		{[]Crawler{{Token: "Foo", Class: Browser}}, []string{"Foo", "class browser"}},
		{[]Crawler{{Token: "Foo", Class: 99}}, []string{"Foo", "class invalid"}},
		{[]Crawler{{Token: "Foo", Class: SEO}, {Token: "foo", Class: SEO}}, []string{"foo", "occurs twice"}},
		{[]Crawler{{Token: "Foo", Class: SEO, Fallback: []string{"Nobody"}}}, []string{"Foo", `unknown fallback "Nobody"`}},
		{[]Crawler{{Token: "Foo", Class: SEO, Fallback: []string{"FOO"}}}, []string{"falls back to itself"}},
		{[]Crawler{{Token: "Foo", Class: SEO, Verification: Verification{RDNS: []string{"foo.com"}}}}, []string{"Foo", "foo.com", "such as .example.com"}},
		{[]Crawler{{Token: "Foo", Class: Browser}, {Token: "Bar*", Class: SEO}}, []string{"Foo", "Bar*"}},
	}
	for _, tt := range tests {
		_, err := Default().WithCrawlers(tt.crawlers...)
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q in it", tt.crawlers, err, want)
			}
		}
	}
}
