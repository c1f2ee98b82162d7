package guard

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// people are User-Agents of human visitors. Hard cases among them contain words of
// crawlers' names in the names of phones, apps and extensions.
var people = []string{
	"", "-", "Mozilla/5.0", "Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0)", uaFirefox, uaChrome,
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 OPR/121.0.0.0",
	"Opera/9.80 (Windows NT 6.1; U; en) Presto/2.12.388 Version/12.16",
	"Mozilla/5.0 (Linux; Android 13; CUBOT NOTE 21) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36",
	"Mozilla/5.0 (Linux; Android 13; XBot_Senior) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36",
	"Mozilla/5.0 (Linux; Android 9; Spider 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/90.0.4430.66 Mobile Safari/537.36",
	"Mozilla/5.0 (Linux; Android 12; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Mobile Safari/537.36 WhatsApp/2.24",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [Pinterest/iOS]",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/470.0.0.36.109;FBBV/611431612]",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) GSA/320.0.637937441 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36",
	"Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/2.0 Chrome/76.0.3809.146 TV Safari/537.36",
	"Mozilla/5.0 (PlayStation; PlayStation 5/8.20) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Safari/605.1.15",
	"Lynx/2.9.0dev.12 libwww-FM/2.14 SSL-MM/1.4.1", "w3m/0.5.3+git20230121", "ELinks/0.16.1.1 (textmode; Linux; 80x24-2)", "Links (2.29; Linux x86_64; GNU C 12.2; text)",
	"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) obsidian/1.6.3 Chrome/124.0.6367.243 Electron/30.1.2 Safari/537.36",
	"ExampleApp/1 Windows Phone/10.0 Microsoft; Lumia 550", "ExampleApp/1 iPhone5,2 iOS/10_1 CFNetwork/808.3 Darwin/16.3.0", "Dalvik/2.1.0 (Linux; U; Android 13; SM-S911B Build/TP1A.220624.014)",
	"Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17628; Pro)", "Thunderbird/128.0", "VLC/3.0.20 LibVLC/3.0.20",
	"curl/8.7.1", "Wget/1.21.4", "python-requests/2.32.3", "Go-http-client/2.0", "okhttp/4.12.0", "Java/17.0.9", "axios/1.7.2",
	uaPreview, "facebookexternalhit/1.1 Facebot Twitterbot/1.0", "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
	"Feedly/1.0 (+http://www.feedly.com/fetcher.html; like FeedFetcher-Google)", "Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)",
}

// knownFalse are the names of the five rows, out of 20,228 in the shared list, that the
// guard takes for crawlers. Four are crawlers, and the fifth is an extension with a
// URL.
var knownFalse = map[string]bool{"Lucidworks-Anda": true, "Pinterestbot": true, "AI": true, "BotName": true, "UltraBlock": true}

// TestFalseBlocks sends requests of human visitors to a site that disallows everything
// for all crawlers, and to a site that disallows everything for a hundred named
// crawlers.
func TestFalseBlocks(t *testing.T) {
	named := "User-agent: GPTBot\n"
	for _, c := range uaident.Default().Crawlers() {
		if c.Class.IsCrawler() && !strings.Contains(named, "User-agent: "+c.Token+"\n") && strings.Count(named, "\n") < 100 && c.WildcardApplies() && !c.RobotsOnly {
			named += "User-agent: " + c.Token + "\n"
		}
	}
	lists := map[string][]string{"our own": people}
	if data, err := os.ReadFile("../../../shared/data/useragents-browsers.txt"); err == nil {
		lists["the shared list"] = strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	} else {
		t.Log("without the list of third parties, which is not part of the repository: ", err)
	}
	for policy, robots := range map[string]string{"everybody": "User-agent: *\nDisallow: /\n", "a hundred names": named + "Disallow: /\n"} {
		for list, userAgents := range lists {
			t.Run(policy+", "+list, func(t *testing.T) {
				g := testGuard(t, options{Enforce: true}, serving(robots))
				blocked := func(userAgent string) bool {
					w := httptest.NewRecorder()
					r := caddyhttp.PrepareRequest(requestBy(userAgent, "/page"), caddy.NewReplacer(), w, new(caddyhttp.Server))
					passed := false
					err := g.Serve(w, r, caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { passed = true; return nil }))
					if failed := (caddyhttp.HandlerError{}); err != nil && !errors.As(err, &failed) {
						t.Fatal(err)
					}
					return !passed
				}
				if !blocked("GPTBot/1.3") {
					t.Fatal("a crawler passes")
				}
				for _, userAgent := range userAgents {
					if blocked(userAgent) {
						if name := uaident.Identify(userAgent).Name(); list == "our own" || !knownFalse[name] {
							t.Errorf("%q is blocked as %q", userAgent, name)
						}
					}
				}
			})
		}
	}
}
