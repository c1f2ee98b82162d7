package uaident

import (
	"slices"
	"testing"
)

func TestChain(t *testing.T) {
	tests := []struct {
		ua   string
		want []string
	}{
		{"Googlebot/2.1 (+http://www.google.com/bot.html)", []string{"Googlebot"}},
		{"googlebot/2.1", []string{"googlebot"}},
		{"Googlebot-Image/1.0", []string{"Googlebot-Image", "Googlebot"}},
		{"Googlebot-Video/1.0", []string{"Googlebot-Video", "Googlebot"}},
		{"Googlebot-Sound/1.0", []string{"Googlebot-Sound", "Googlebot"}},
		{"GoogleOther-Image/1.0", []string{"GoogleOther-Image", "GoogleOther"}},
		{"Mozilla/5.0 (compatible; YandexImages/3.0; +http://yandex.com/bots)", []string{"YandexImages", "Yandex"}},
		{"Mozilla/5.0 (compatible; YandexOfTomorrow/3.0; +http://yandex.com/bots)", []string{"YandexOfTomorrow", "Yandex"}},
		{"Baiduspider-image+(+http://www.baidu.com/search/spider.htm)", []string{"Baiduspider-image", "Baiduspider"}},
		{"Mozilla/5.0 (compatible; Applebot/0.1; +http://www.apple.com/go/applebot)", []string{"Applebot", "Googlebot"}},
		{"360Spider-Image", []string{"360Spider-Image", "360Spider"}},
		{"msnbot-media/1.1", []string{"msnbot-media", "msnbot"}},
		{"NaverBot/1.0", []string{"NaverBot", "Yeti"}},
		{"Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)", []string{"Yahoo! Slurp", "Slurp", "Yahoo! Slurp China", "Yahoo Slurp"}},
		{"Nutch-1.7 (+http://example.com/)", []string{"Nutch-1", "Nutch"}},
		{"bedrockbot_123e4567-e89b-12d3-a456-426614174000", []string{"bedrockbot_123e4567-e89b-12d3-a456-426614174000", "bedrockbot"}},
		{"bedrockbot_123e4567-e89b-12d3-a456", []string{"bedrockbot_123e4567-e89b-12d3-a456"}}, // not a UUID
		{"FooBot/1.0 (+https://foo.example/)", []string{"FooBot"}},
		{"curl/8.7.1", []string{"curl"}},
		{"Google-Extended/1.0", nil},
		{chrome, nil},
		{"", nil},
	}
	for _, tt := range tests {
		if got := Identify(tt.ua).AppendNames(nil); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, not %q", tt.ua, got, tt.want)
		}
	}
}

func TestChainAppends(t *testing.T) {
	room := make([]string, 1, 20)
	room[0] = "Googlebot"
	id := Identify("Googlebot-Image/1.0")
	got := id.AppendNames(room)
	if !slices.Equal(got, []string{"Googlebot", "Googlebot-Image", "Googlebot"}) {
		t.Errorf("%q", got)
	}
	if n := testing.AllocsPerRun(100, func() { id.AppendNames(room[:0]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestWildcardDefault(t *testing.T) {
	tests := []struct {
		ua   string
		want bool
	}{
		{"Googlebot/2.1", true},
		{"AdsBot-Google (+http://www.google.com/adsbot.html)", false},
		{"FooBot/1.0", true},
		{"Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)", false},
		{"Mozilla/5.0 (compatible; Google-Site-Verification/1.0)", false},
		{"curl/8.7.1", false},
		{"SomeApp/1.0", false},
		{chrome, false},
		{"", false},
	}
	for _, tt := range tests {
		if id := Identify(tt.ua); id.WildcardApplies() != tt.want {
			t.Errorf("%q (%s, %s): %v", tt.ua, id.Token, id.Class, id.WildcardApplies())
		}
	}
}

func TestEvidenceWords(t *testing.T) {
	seen := map[string]bool{}
	for e := range numEvidenceKinds {
		if word := e.String(); word == "" || seen[word] {
			t.Errorf("%d is called %q", e, word)
		}
		seen[e.String()] = true
	}
	if Evidence(99).String() != "invalid" {
		t.Error("unknown evidence has a name")
	}
}
