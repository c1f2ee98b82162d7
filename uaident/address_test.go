package uaident

import "testing"

// TestRobotsAddressAlone identifies robots whose User-Agent contains no robot word except in its
// address.
func TestRobotsAddressAlone(t *testing.T) {
	for ua, token := range map[string]string{
		// a complete browser User-Agent plus an address
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 (+https://www.acme.example/bot)":                            "acme.example",
		"Mozilla/5.0 (Linux; Android 7.0; SM-G892A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/60.0.0.0 Mobile Safari/537.36 +https://acme.example/bot": "acme.example",
		"Mozilla/5.0 (Linux;u;Android 2.3.7;zh-cn;) AppleWebKit/533.1 (KHTML,like Gecko) Version/4.0 Mobile Safari/533.1 (compatible; +http://acme.example/spider.html)":   "acme.example",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko; +crawler@acme.example) Chrome/120.0.0.0 Safari/537.36":                                     "acme.example",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:120.0) Gecko/20100101 Firefox/120.0 (compatible; https://crawler.acme.example/)":                                     "crawler.acme.example",
		// only an address
		"Mozilla/5.0 (compatible; +https://acme.example/crawler)": "acme.example",
		"Mozilla/5.0 (+https://acme.example:8443/bot.html)":       "acme.example",
		"https://acme.example/bot":                                "acme.example",
		"+http://acme.example/crawler-info":                       "acme.example",
		"www.acme.example/Crawler":                                "acme.example",
		"bot@acme.example":                                        "acme.example",
	} {
		id := Identify(ua)
		if id.Token != token || id.Class != GenericCrawler || id.Evidence != FromRobotContact || !id.WildcardApplies() {
			t.Errorf("%s\n\tis %q, %v by %v; want the crawler %q by its address", ua, id.Token, id.Class, id.Evidence, token)
		}
	}
}

// TestAddressOfBrowser checks addresses that do not make a browser a robot: addresses without a
// robot word, of services, and of apps.
func TestAddressOfBrowser(t *testing.T) {
	for _, ua := range []string{
		"Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1; http://www.acme.example)",
		"Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 5.1; www.acme.example/toolbar)",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 +https://acme.example",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 https://acme.example/uptime-bot",
		"Mozilla/5.0 (compatible; http://www.uptimeacme.example/bot/ )",
		"Mozilla/5.0 (Linux; U; Android 4.2.2; en-us; ACME Y511) AppleWebKit/534.30 (KHTML, like Gecko) Version/4.0 Mobile Safari/534.30 x-wap-profile http://wap.acme.example/uaprof/Y511.xml",
		"Mozilla/5.0 (Linux; Android 13; Pixel 7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36 Electron/27.0.0 https://github.com/acme/chatbot",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 https://acme.example",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 https://acme.example/about",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 Helper https://acme.example/bot",
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 (crawlers@acme.example)",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 CFNetwork/1335.0.3 Darwin/21.6.0 (+https://acme.example/bot)",
		"https://acme.example/about",
		"someone@acme.example",
	} {
		if id := Identify(ua); id.Class.IsCrawler() || id.WildcardApplies() {
			t.Errorf("%s\n\tis %q, %v by %v; want a client without the `*` group", ua, id.Token, id.Class, id.Evidence)
		}
	}
}

// TestAddressOfCrawler checks that the address of a registered crawler yields its registry entry,
// so that the client can be verified.
func TestAddressOfCrawler(t *testing.T) {
	const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 "
	for ua, crawler := range map[string]string{ // "" for nobody
		chrome + "(+https://Googlebot/bot)":                "",
		"Mozilla/5.0 (compatible; +https://GPTBot:80/bot)": "",
		chrome + "(+https://*/bot)":                        "",
		"http://:80/bot":                                   "",
		chrome + "(+https://megaindex.ru/bot)":             "MegaIndex.ru",
		chrome + "(+https://archive.org_bot/bot)":          "archive.org_bot",
	} {
		id := Identify(ua)
		if crawler == "" && id.Token != "" || crawler != "" && (id.Crawler == nil || id.Crawler.Token != crawler) {
			t.Errorf("%s is %q, %v; want the crawler %q", ua, id.Token, id.Class, crawler)
		}
	}
	// The host only begins with the name of a crawler family.
	for _, host := range []string{"yandex-shop.example", "baiduspider-fan.example"} {
		if id := Identify(chrome + "(+https://" + host + "/bot)"); id.Token != host || id.Crawler != nil {
			t.Errorf("%s is %q of %v", host, id.Token, id.Crawler)
		}
	}
}

// TestAddressWithoutPlus identifies robots by an address without a plus sign at the end of a
// browser's User-Agent. The evidence is the path, or a group that names the label of the host.
func TestAddressWithoutPlus(t *testing.T) {
	const (
		safari  = "Mozilla/5.0 (iPhone; CPU iPhone OS 8_3 like Mac OS X) AppleWebKit/600.1.4 (KHTML, like Gecko) Version/8.0 Mobile/12F70 Safari/600.1.4 "
		android = "Mozilla/5.0 (Linux; Android 10; Pixel 7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36 "
	)
	o := Default().NewOverlay([]string{"acmescan", "deepcrawl"})
	for _, tt := range []struct {
		ua                          string
		withoutOverlay, withOverlay string // the tokens without and with the overlay
	}{
		{safari + "https://deepcrawl.com/bot", "deepcrawl", "deepcrawl"}, // a registry entry
		{safari + "https://acmescan.example/bot", "acmescan.example", "acmescan"},
		{safari + "(https://acmescan.example/crawler.html)", "acmescan.example", "acmescan"},
		{safari + "https://acmescan.example/spiders", "acmescan.example", "acmescan"},
		{safari + "http://www.acmescan.co.uk/spider/", "acmescan.co.uk", "acmescan"},
		{safari + "https://bots.acmescan.example/info/spider-1", "bots.acmescan.example", "acmescan"},
		{chrome + " https://acmescan.example/bot", "acmescan.example", "acmescan"},
		{android + "https://acmescan.example/bot", "acmescan.example", "acmescan"},
		{chrome + " https://acmescan.example/about", "", "acmescan"}, // identified by its group only
		// No evidence: a home page, another host, source code, a service, a browser extension, a
		// mail address.
		{chrome + " https://acmescan.example", "", ""},
		{chrome + " https://acmescan.example/", "", ""},
		{chrome + " https://other.example/acmescan", "", ""},
		{chrome + " https://github.com/acmescan/acmescan", "", ""},
		{chrome + " https://acmescan.example/link-preview-bot", "", ""},
		{chrome + " https://other.example/FooBot", "", ""},
		{chrome + " Helper https://acmescan.example/about", "", ""},
		{chrome + " x-wap-profile http://wap.acmescan.example/uaprof/Y511.xml", "", ""},
		{chrome + " (crawlers@acmescan.example)", "", ""},
	} {
		if id := Identify(tt.ua); id.Token != tt.withoutOverlay || (tt.withoutOverlay != "") != id.WildcardApplies() {
			t.Errorf("%s\n\tis %q, class %s by %s, want %q", tt.ua, id.Token, id.Class, id.Evidence, tt.withoutOverlay)
		}
		if id := Default().IdentifyWithOverlay(tt.ua, o); id.Token != tt.withOverlay {
			t.Errorf("%s\n\tis %q, class %s by %s with the group, want %q", tt.ua, id.Token, id.Class, id.Evidence, tt.withOverlay)
		}
	}
}
