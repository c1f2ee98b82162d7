package uaident

import (
	"fmt"
	"strings"
	"testing"
)

const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36"

func TestOverlay(t *testing.T) {
	names := []string{
		"Zorbl", "FooBot/2.1", "Green Apple Reader", "Wibble*", "Sync Helper", "Code", "Fire", "Build", "SM-S918B", // not in the registry
		"Googlebot", "curl", "NaverBot", "sogou web spider", // in the registry
		"Chrome", "Mozilla/5", "Mozilla", "bot", "crawler", "like", "Android", "Spider", "preview", // words of every User-Agent
		"*", "", " ", "42", "/", "-",
	}
	o := Default().NewOverlay(names)
	tests := []struct {
		ua, token, name string
		class           Class
	}{
		// Not products: a part of a word, a word of a comment, a device.
		{chrome, "", "", Browser},
		{chrome + " Zorblet/1.0", "", "", Browser},
		{chrome + " x-Zorbl/1.0", "", "", Browser},
		{chrome + " Zorbl", "", "", Browser},
		{"Mozilla/5.0 (Windows NT 10.0; Zorbl; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36", "", "", Browser},
		{"Mozilla/5.0 (Linux; Android 4.4.2; Fire Build/KOT49H) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/30.0.0.0 Mobile Safari/537.36", "", "", Browser},
		{"Mozilla/5.0 (Linux; Android 14; SM-S918B Build/UP1A) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36", "", "", Browser},
		{chrome + " (like Zorbl/1.0)", "", "", Browser},
		// A product in a browser's User-Agent, named by the site's owner.
		{chrome + " Zorbl/1.0", "Zorbl", "Zorbl", Other},
		{chrome + " ZORBL/1.0", "ZORBL", "Zorbl", Other},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Code/1.101.0 Chrome/134.0.6998.205 Electron/35.5.1 Safari/537.36", "", "", Browser},
		// The first product.
		{"Zorbl", "Zorbl", "Zorbl", Other},
		{"zorbl/7 (Windows)", "zorbl", "Zorbl", Other},
		{"green apple reader/1.0", "green apple reader", "Green Apple Reader", Other},
		{"Wibble/1.0 (iPhone; iOS 18.0)", "Wibble", "Wibble*", Other},
		{"Sync Helper 2", "Sync Helper", "Sync Helper", Other},
		// Crawlers that only this policy names.
		{"FooBot/3.0 (+https://foo.example/)", "FooBot", "FooBot/2.1", GenericCrawler},
		{"Mozilla/5.0 (compatible; Zorbl/1.0; +https://zorbl.example/)", "Zorbl", "Zorbl", GenericCrawler},
		// Registry names take precedence, and the overlay does not contain them.
		{"Mozilla/5.0 (compatible; Googlebot/2.1; Zorbl/1.0)", "Googlebot", "Googlebot", Search},
		{"curl/8.7.1", "curl", "curl", Library},
	}
	for _, tt := range tests {
		id := Default().IdentifyWithOverlay(tt.ua, o)
		if id.Token != tt.token || id.Name() != tt.name || id.Class != tt.class {
			t.Errorf("%q is %q (%q), class %s by %s, not %q (%q), %s", tt.ua, id.Token, id.Name(), id.Class, id.Evidence, tt.token, tt.name, tt.class)
		}
		if id.Token != "" && !id.HasKnownName() {
			t.Errorf("%q: Known is false for the name %q", tt.ua, id.Name())
		}
	}
}

func TestOverlayWithoutNamesIsNil(t *testing.T) {
	if o := Default().NewOverlay([]string{"*", "Googlebot", "Mozilla/5", "bot", "008", strings.Repeat("x", 101)}); o != nil {
		t.Errorf("%+v", o)
	}
	if o := Default().NewOverlay(nil); o != nil {
		t.Errorf("%+v", o)
	}
	if id := Default().IdentifyWithOverlay(chrome, nil); id != (Identity{}) {
		t.Errorf("%+v", id)
	}
}

func TestIdentifyWithLazyOverlay(t *testing.T) {
	o := Default().NewOverlay([]string{"Zorbl"})
	tests := map[string]struct {
		ua      string
		overlay *Overlay
		token   string
		calls   int
	}{
		"browser":                               {chrome, o, "", 0},
		"no User-Agent":                         {"", o, "", 0},
		"browser with an unknown product":       {chrome + " Other/1.0", o, "", 1},
		"browser with a name of the overlay":    {chrome + " Zorbl/1.0", o, "Zorbl", 1},
		"browser with a name, no overlay":       {chrome + " Zorbl/1.0", nil, "", 1},
		"crawler of the registry":               {"Googlebot/2.1", o, "Googlebot", 1},
		"crawler of the registry, no overlay":   {"Googlebot/2.1", nil, "Googlebot", 1},
		"program with the name of the overlay":  {"zorbl/7 (Windows)", o, "zorbl", 1},
		"program with another name, no overlay": {"Other/7", nil, "Other", 1},
	}
	for name, tt := range tests {
		calls := 0
		id := Default().IdentifyWithLazyOverlay(tt.ua, func() *Overlay { calls++; return tt.overlay })
		if id.Token != tt.token || calls != tt.calls {
			t.Errorf("%s: token %q after %d calls, want %q after %d", name, id.Token, calls, tt.token, tt.calls)
		}
		if want := Default().IdentifyWithOverlay(tt.ua, tt.overlay); id != want {
			t.Errorf("%s: %+v, IdentifyWithOverlay returns %+v", name, id, want)
		}
	}
}

func TestOverlayIsBounded(t *testing.T) {
	var names []string
	for i := range 10000 {
		names = append(names, fmt.Sprintf("Policy%dName", i))
	}
	o := Default().NewOverlay(names)
	if len(o.names) != maxOverlayNames {
		t.Errorf("the overlay has %d names", len(o.names))
	}
	if id := Default().IdentifyWithOverlay("Policy255Name/1", o); id.Name() != "Policy255Name" {
		t.Errorf("%+v", id)
	}
	if id := Default().IdentifyWithOverlay("Policy256Name/1", o); id.HasKnownName() {
		t.Errorf("%+v", id)
	}
}

// TestOverlayWithoutVersion checks names that a version follows directly, as in Nutch-1.7. The
// crawler belongs to the group of the name and not to the * group.
func TestOverlayWithoutVersion(t *testing.T) {
	o := Default().NewOverlay([]string{"FooBot", "WobbleBot-3", "Zorbl", "Acme Price Crawler", "Wibble_Spider"})
	tests := []struct {
		ua, token string
		class     Class
	}{
		{"FooBot-2.0 Champigny (+http://foo.example/bot.html)", "FooBot", GenericCrawler},
		{"FooBot_2.3.62 (bot@foo.example)", "FooBot", GenericCrawler},
		{"Mozilla/5.0 (compatible; FooBot2.1; +http://foo.example/)", "FooBot", GenericCrawler},
		{"Mozilla/5.0 (Zorbl-0.9 http://zorbl.example/robot.html)", "Zorbl", GenericCrawler},
		{"WobbleBot-3.1 (+http://wobble.example/)", "WobbleBot-3", GenericCrawler}, // the version is part of the group's name
		{"Acme Price Crawler-1.2 (+http://acme.example/)", "Acme Price Crawler", GenericCrawler},
		{"Wibble_Spider_(modspider)", "Wibble_Spider", GenericCrawler},            // joined to a comment
		{"FooBot_123e4567-e89b-12d3-a456-426614174000", "FooBot", GenericCrawler}, // followed by a UUID
		// Other names.
		{"FooBot-Image/1.0", "FooBot-Image", GenericCrawler},
		{"FooBot-2-Image/1.0", "FooBot-2-Image", GenericCrawler},
		{"FooBot2/1.0", "FooBot2", GenericCrawler},
		{"Acme Price Crawlers-1.2", "Acme Price Crawlers-1.2", Other},
		// Not products.
		{chrome + " Zorbl-1.0", "", Browser},
		{"Mozilla/5.0 (Linux; Android 14; Zorbl-2.0 Build/UP1A) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36", "", Browser},
	}
	for _, tt := range tests {
		if id := Default().IdentifyWithOverlay(tt.ua, o); id.Token != tt.token || id.Class != tt.class {
			t.Errorf("%q is %q, class %s by %s, not %q, %s", tt.ua, id.Token, id.Class, id.Evidence, tt.token, tt.class)
		}
	}
}

// TestOverlayBeforeTheRegistry checks a name of the policy before a registry name. The policy's
// name is the token. The registry name is the framework of the crawler.
func TestOverlayBeforeTheRegistry(t *testing.T) {
	o := Default().NewOverlay([]string{"Zorbl", "FooSpider", "Acme ArchiveBot", "Wibble"})
	tests := []struct{ ua, token string }{
		{"Mozilla/5.0 (compatible; FooSpider/Nutch-1.5-dev; +http://foo.example/)", "FooSpider"},
		{"Mozilla/5.0 (compatible; Zorbl; heritrix/3.4.0 +https://zorbl.example/) Firefox/57", "Zorbl"},
		{"Wibble/1.1 (Nutch; http://wibble.example/bot.html; feedback at wibble.example)", "Wibble"},
		{"Acme ArchiveBot/20170106.02 (wpull 2.0.2)", "Acme ArchiveBot"},
		{"Mozilla/5.0 (compatible; Googlebot/2.1; Zorbl/1.0)", "Googlebot"},
		{"heritrix/3.4.0 (Zorbl; +https://zorbl.example/)", "heritrix"},
		{"Mozilla/5.0 (Linux; Android 6.0.1; Zorbl Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot"},
	}
	for _, tt := range tests {
		if id := Default().IdentifyWithOverlay(tt.ua, o); id.Token != tt.token || !id.Class.WildcardApplies() {
			t.Errorf("%q is %q, class %s by %s, not %q", tt.ua, id.Token, id.Class, id.Evidence, tt.token)
		}
	}
}
