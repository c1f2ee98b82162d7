package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// agentKind is a family of similar User-Agents.
type agentKind struct {
	name string
	make func(*rand.Rand) string
}

// The kinds of clients. The generated User-Agents resemble those of real clients.
// Versions are random, so duplicates are rare.
var (
	browserKinds = []agentKind{
		{"desktop browsers", desktopBrowser},
		{"mobile browsers", mobileBrowser},
		{"browsers inside apps", inAppBrowser},
	}
	robotKinds = []agentKind{
		{"known crawlers", knownCrawler},
		{"unknown crawlers", unknownCrawler},
		{"crawlers as browsers", disguisedCrawler},
		{"HTTP libraries", httpLibrary},
	}
	knownKinds = robotKinds[:1]
)

func pick(random *rand.Rand, list ...string) string { return list[random.IntN(len(list))] }

func chromeVersion(random *rand.Rand) string {
	return fmt.Sprintf("%d.0.%d.%d", 100+random.IntN(45), 4000+random.IntN(4000), random.IntN(250))
}

func desktopBrowser(random *rand.Rand) string {
	system := pick(random, "Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15_7", "X11; Linux x86_64", "X11; CrOS x86_64 14541.0.0")
	switch random.IntN(4) {
	case 0:
		v := 90 + random.IntN(55)
		return fmt.Sprintf("Mozilla/5.0 (%s; rv:%d.0) Gecko/20100101 Firefox/%d.%d", system, v, v, random.IntN(9))
	case 1:
		return fmt.Sprintf("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_%d_%d) AppleWebKit/605.1.%d (KHTML, like Gecko) Version/%d.%d Safari/605.1.%d",
			random.IntN(16), random.IntN(8), random.IntN(20), 13+random.IntN(6), random.IntN(9), random.IntN(20))
	case 2:
		v := chromeVersion(random)
		return fmt.Sprintf("Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%s Safari/537.36 Edg/%s", system, v, v)
	}
	return fmt.Sprintf("Mozilla/5.0 (%s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%s Safari/537.36", system, chromeVersion(random))
}

func mobileBrowser(random *rand.Rand) string {
	if random.IntN(2) == 0 {
		return fmt.Sprintf("Mozilla/5.0 (iPhone; CPU iPhone OS %d_%d like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/%d.%d Mobile/15E%d Safari/604.1",
			13+random.IntN(6), random.IntN(9), 13+random.IntN(6), random.IntN(9), 100+random.IntN(300))
	}
	return fmt.Sprintf("Mozilla/5.0 (Linux; Android %d; %s) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%s Mobile Safari/537.36",
		8+random.IntN(8), pick(random, "K", "SM-S918B", "Pixel 8 Pro", "SM-A536E", "2201117TG"), chromeVersion(random))
}

func inAppBrowser(random *rand.Rand) string {
	return fmt.Sprintf("Mozilla/5.0 (Linux; Android %d; %s Build/UP1A.23%04d.007; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/%s Mobile Safari/537.36 %s",
		10+random.IntN(6), pick(random, "SM-S918B", "SM-A525F", "moto g power"), random.IntN(1300), chromeVersion(random),
		pick(random, "Instagram 334.0.0.42.95 Android", "GSA/15.20.37.28.arm64", "[FB_IAB/FB4A;FBAV/456.0.0.40.109;]"))
}

// crawlerTokens are the names that registered crawlers send.
var crawlerTokens = tokens(func(c *uaident.Crawler) bool { return c.Class.IsCrawler() })

// tokens returns the names of the registered crawlers for which keep returns true.
func tokens(keep func(*uaident.Crawler) bool) (list []string) {
	crawlers := uaident.Default().Crawlers()
	for i := range crawlers {
		if c := &crawlers[i]; !c.RobotsOnly && keep(c) {
			list = append(list, c.Token)
		}
	}
	return list
}

func knownCrawler(random *rand.Rand) string {
	token := pick(random, crawlerTokens...)
	version := fmt.Sprintf("%d.%d", random.IntN(5), random.IntN(40))
	contact := "+https://www.example.com/" + pick(random, "bot", "robot.html", "about/crawling", "faq")
	switch random.IntN(3) {
	case 0:
		return fmt.Sprintf("%s/%s (%s)", token, version, contact)
	case 1:
		return fmt.Sprintf("Mozilla/5.0 (compatible; %s/%s; %s)", token, version, contact)
	}
	return fmt.Sprintf("Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; %s/%s; %s)", token, version, contact)
}

func disguisedCrawler(random *rand.Rand) string {
	return mobileBrowser(random) + fmt.Sprintf(" (compatible; %s/%d.%d; +http://www.example.com/bot.html)",
		pick(random, crawlerTokens...), 1+random.IntN(4), random.IntN(9))
}

func unknownCrawler(random *rand.Rand) string {
	robot := pick(random, "bot", "Bot", "Crawler", "-spider", "")
	name := strings.ToUpper(inventedWord(random, 1)) + inventedWord(random, 5) + robot
	shape := pick(random, "%s/%d.%d (+https://crawl.example/about)", "Mozilla/5.0 (compatible; %s/%d.%d; +https://crawl.example/about)")
	if robot == "" { // a URL alone does not identify a crawler
		shape = "Mozilla/5.0 (compatible; %s/%d.%d; +https://crawl.example/about)"
	}
	return fmt.Sprintf(shape, name, random.IntN(4), random.IntN(30))
}

func inventedWord(random *rand.Rand, n int) string {
	word := make([]byte, n)
	for i := range word {
		word[i] = "bcdfgklmnprstvz"[random.IntN(15)]
		if i%2 == 1 {
			word[i] = "aeiou"[random.IntN(5)]
		}
	}
	return string(word)
}

func httpLibrary(random *rand.Rand) string {
	return fmt.Sprintf(pick(random, "curl/%d.%d.%d", "Go-http-client/%d.%d%.0d", "python-requests/%d.%d.%d", "Wget/%d.%d.%d", "okhttp/%d.%d.%d"),
		1+random.IntN(8), random.IntN(40), random.IntN(9))
}

// agentsOf returns n User-Agents, at most distinct of them different. It takes the
// kinds in turn.
func agentsOf(n, distinct int, kinds ...agentKind) []string {
	random := rand.New(rand.NewPCG(uint64(n), uint64(len(kinds))))
	list := make([]string, 0, n)
	seen := make(map[string]bool)
	for i := 0; len(list) < min(n, distinct); i++ {
		if ua := kinds[i%len(kinds)].make(random); !seen[ua] {
			seen[ua] = true
			list = append(list, ua)
		}
	}
	for i := 0; len(list) < n; i++ {
		list = append(list, list[i%distinct])
	}
	return list
}

// mixedAgents returns n User-Agents, seven browsers for every three robots, at most
// distinct of them different.
func mixedAgents(n, distinct int) []string {
	browsers := agentsOf(n*7/10, distinct*7/10, browserKinds...)
	robots := agentsOf(n-len(browsers), max(1, distinct*3/10), robotKinds...)
	list := make([]string, 0, n)
	for len(list) < n {
		if i := len(list); i%10 < 7 {
			list = append(list, browsers[i/10*7+i%10])
		} else {
			list = append(list, robots[i/10*3+i%10-7])
		}
	}
	return list
}
