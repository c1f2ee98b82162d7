package uaident

import "github.com/robotsguard/caddy-robots-guard/uaident/internal/words"

// nameParts is a set of name endings, indexed by first letter. Each ending begins with two
// letters.
type nameParts struct {
	secondLetters [26]uint32 // bit set of the second letters
	endings       [26][]string
	// afterCapitals allows an ending directly after capital letters: AIAgent.
	afterCapitals bool
	// onlyAtEnd allows only a plural, digits or a version after an ending.
	onlyAtEnd bool
}

func newNameParts(endings ...string) *nameParts {
	var p nameParts
	for _, e := range endings {
		letter := e[0] - 'a'
		p.secondLetters[letter] |= 1 << (e[1] - 'a')
		p.endings[letter] = append(p.endings[letter], e)
	}
	return &p
}

func allowAfterCapitals(p *nameParts) *nameParts {
	p.afterCapitals = true
	return p
}

func restrictToEnd(p *nameParts) *nameParts {
	p.onlyAtEnd = true
	return p
}

// robotParts are endings of robot names.
var robotParts = newNameParts("bot", "crawler", "spider", "crawl", "spyder", "scraper", "scrapper", "harvester")

// serviceWords occur in names and addresses of robots that act for a person or a site. An
// UptimeBot visits the sites of its customers, and an RssBot the feeds of its readers.
var serviceWords = newNameParts(
	"uptime", "webhook", "unfurl", "linkpreview", "link-preview", "previewbot", "healthcheck", "health-check",
	"rssreader", "feedreader", "dcv",
	"podca", "fetcher", // podcast, podcatcher
	"opengraph", "oembed", // sources of link previews
)

// serviceParts occur in the names of such robots as separate parts. ShoppingBot and
// ScrapingBot do not contain one, Foo-Bot-Preview does.
var serviceParts = newNameParts(
	"pingbot", "preview", "previewer",
	"webcal", "caldav", // calendar subscriptions
)

// servicePrefixes stand directly before "bot" in the names of such robots: StatusBot,
// calendar-bot, Acme RSS Bot.
var servicePrefixes = groupByLastLetter(
	"status", "health", "rss", "feed", "reader", "calendar", "favicon", "bookmark", "bookmarkmanager", "readlater",
	"caldav",                                                         // CalDAVBot, whose capitals hide the end of this part
	"notification", "notifier", "verify", "verification", "metadata", // of shared or saved links
)

// monitorPrefixes are servicePrefixes for names of one word only. An Acme Price Monitoring
// Bot crawls.
var monitorPrefixes = groupByLastLetter("monitor", "monitoring")

func groupByLastLetter(words ...string) (by [26][]string) {
	for _, w := range words {
		last := w[len(w)-1] - 'a'
		by[last] = append(by[last], w)
	}
	return by
}

// robotWords occur in addresses of robots.
var robotWords = newNameParts("crawl", "robot", "spider")

// toolParts are endings of tool names. Apps use some of them too, so they are weak evidence.
var toolParts = newNameParts(
	"checker", "check", "validator", "validation", "fetcher", "fetch", "scanner", "scan", "grabber", "extractor", "resolver", "preview", "previewer", "unfurler", "monitor", "monitoring",
	"synthetic", "feedparser", "parser", "screenshot", "thumbnail", "thumbnailer", "analyzer", "analyser",
	"analytics", "auditor", "audit", "pinger", "prober", "probe", "searchengine", "sitemap", "imageproxy",
	"imgproxy", "proxy", "aggregator", "expander", "inspector", "verifier", "verification", "copier", "sucker",
	"healthcheck", "subscriber", "webhook", "rss", "feed", "feeder", "generator", "research", "collector",
	"capture", "linkcheck", "uptime", "status",
)

// monitorParts are endings of names that monitor or show a site, or act for a person. They
// outweigh the convention of crawlers.
var monitorParts = allowAfterCapitals(newNameParts(
	"monitor", "monitoring", "preview", "previewer", "linkcheck", "linkchecker", "validator", "verification", "status",
	"synthetic",                                       // synthetic requests of a monitor
	"user", "agent", "client", "assistant", "service", // assistants: Perplexity-User
	"proxy", "gateway", "reader", "feed", "rss", // proxies and readers: FlipboardProxy, Hatena-Mobile-Gateway
))

// monitorEndParts are monitorParts at the end of a name only. An EmailHunter is not a mail
// program.
var monitorEndParts = restrictToEnd(allowAfterCapitals(newNameParts(
	"app", "player", "browser", "mail", "email", "calendar", "fetch", "webfetch", "favicon", "bookmark",
	"health", "ping", "checker", "verifier", "verify",
)))

// libraryParts are endings of the names of HTTP libraries.
var libraryParts = newNameParts("httpclient", "http-client", "http_client", "httplib", "httprequest", "httpunit", "urllib", "webclient")

// nonRobotWords are ordinary words and names of people that end like a robot's name.
var nonRobotWords = [...]string{"abbot", "angebot", "aufgebot", "gebot", "sabot", "talbot", "verbot"}

const maxNonRobotWord = len("aufgebot")

// looksLikeRobot reports whether an unknown word is spelled like a robot's name: FooBot,
// foocrawler, AcademicBotRTU, aiHitBot-DM, RankingBot2, Foo-Google. Cubot is a brand of
// phones: CUBOT_NOTE_S.
func looksLikeRobot(w string) bool {
	if hasPart(w, robotParts, 0) {
		return !hasFoldedPrefix(w, "cubot") && (len(w) > maxNonRobotWord || !isOneOf(w, nonRobotWords[:]))
	}
	if end := len(w) - len("archiver"); end > 0 && w[len(w)-1]|0x20 == 'r' && (hasFoldedPrefix(w[end:], "archiver") || hasFoldedPrefix(w[end+1:], "indexer")) {
		return true
	}
	return len(w) > 10 && hasFoldedPrefix(w, "google-") && words.Fold[w[10]]&words.Letter != 0 || // not Google-TR-1
		len(w) > 8 && hasFoldedPrefix(w[len(w)-7:], "-google")
}

// looksLikeTool reports whether a part of w is the ending of a tool name: LinkChecker,
// page-preview-tool.
func looksLikeTool(w string) bool { return hasPart(w, toolParts, 5) }

// isServiceName reports whether a name or address belongs to a robot that acts for a person or a
// site: UptimeBot, Acme-Webhooks. Operators give the suffix -User to fetchers for a person:
// FooBot-User.
func isServiceName(name string) bool {
	return len(name) <= maxName && (containsPart(name, serviceWords) || hasPart(name, serviceParts, len("pingbot")) ||
		hasServicePrefix(name) || hasFoldedSuffix(name, "-user"))
}

// hasServicePrefix reports whether one of servicePrefixes or monitorPrefixes stands before
// "bot" or "robot" in a name.
func hasServicePrefix(name string) bool {
	for i := 1; i+len("bot") <= len(name); i++ {
		if name[i]|0x20 != 'b' || !hasFoldedPrefix(name[i:], "bot") || !isPartEnd(name, i+len("bot")) {
			continue
		}
		prefix, isSeparateWord := name[:i], false
		if hasFoldedSuffix(prefix, "ro") {
			prefix = prefix[:i-len("ro")]
		}
		if n := len(prefix); n > 0 && (prefix[n-1] == '-' || prefix[n-1] == '_' || prefix[n-1] == ' ') {
			prefix, isSeparateWord = prefix[:n-1], prefix[n-1] == ' '
		}
		if endsWith(prefix, &servicePrefixes) || !isSeparateWord && endsWith(prefix, &monitorPrefixes) {
			return true
		}
	}
	return false
}

// endsWith reports whether a name ends with one of the words.
func endsWith(name string, words *[26][]string) bool {
	if name == "" {
		return false
	}
	last := (name[len(name)-1] | 0x20) - 'a'
	if last >= 26 {
		return false
	}
	for _, word := range words[last] {
		if hasFoldedSuffix(name, word) {
			return true
		}
	}
	return false
}

// hasFoldedSuffix reports whether s ends with suffix, ignoring ASCII case. suffix must be in
// lower case.
func hasFoldedSuffix(s, suffix string) bool {
	return len(s) >= len(suffix) && hasFoldedPrefix(s[len(s)-len(suffix):], suffix)
}

// hasGoogleForm reports whether a name has the form of Google's fetchers. Many such fetchers act
// for other people.
func hasGoogleForm(name string) bool {
	return hasFoldedPrefix(name, "google-") || hasFoldedSuffix(name, "-google")
}

// looksLikeLibrary reports whether a word is spelled like the name of an HTTP library.
func looksLikeLibrary(w string) bool { return hasPart(w, libraryParts, 5) }

// hasPart reports whether w contains one of the endings at the end of a part of its spelling.
// A part ends at the end of w, before a separator or version, and between a lower-case and an
// upper-case letter. Endings of at most short bytes must also start a part, so that
// "prefetch" does not contain fetch.
func hasPart(w string, p *nameParts, maxShort int) bool {
	for i := range len(w) - 1 {
		letter := (w[i] | 0x20) - 'a'
		if letter >= 26 || !p.hasSecond(letter, w[i+1]) {
			continue
		}
		for _, ending := range p.endings[letter] {
			if hasFoldedPrefix(w[i:], ending) && p.endsPart(w, i+len(ending)) && (len(ending) > maxShort || p.startsPart(w, i)) {
				return true
			}
		}
	}
	return false
}

// hasSecond reports whether an ending with the given first letter has next as its second
// byte.
func (p *nameParts) hasSecond(letter, next byte) bool {
	return p.secondLetters[letter]>>((next|0x20)-'a')&1 != 0
}

// containsPart reports whether w contains one of the endings anywhere.
func containsPart(w string, p *nameParts) bool {
	for i := range len(w) - 1 {
		letter := (w[i] | 0x20) - 'a'
		if letter >= 26 || !p.hasSecond(letter, w[i+1]) {
			continue
		}
		for _, ending := range p.endings[letter] {
			if hasFoldedPrefix(w[i:], ending) {
				return true
			}
		}
	}
	return false
}

// startsPart reports whether a part of the spelling of w begins at i.
func (p *nameParts) startsPart(w string, i int) bool {
	return i == 0 || words.Fold[w[i-1]]&words.Letter == 0 ||
		w[i] < 'a' && (w[i-1] >= 'a' || p.afterCapitals && i+1 < len(w) && w[i+1] >= 'a')
}

// endsPart reports whether a part of the spelling of w ends at i.
func (p *nameParts) endsPart(w string, i int) bool {
	return isPartEnd(w, i) && (!p.onlyAtEnd || !hasMoreLetters(w[i:]))
}

// hasMoreLetters reports whether rest contains more than a plural, digits or a version.
func hasMoreLetters(rest string) bool {
	if len(rest) == 1 && rest[0]|0x20 == 's' {
		return false
	}
	for i := range len(rest) {
		isV := rest[i]|0x20 == 'v' && i+1 < len(rest) && words.IsDigit(rest[i+1])
		if words.Fold[rest[i]]&words.Letter != 0 && !isV {
			return true
		}
	}
	return false
}

func isPartEnd(w string, i int) bool {
	if i+1 == len(w) && w[i]|0x20 == 's' { // a plural
		return true
	}
	if i == len(w) {
		return true
	}
	switch c := w[i]; {
	case 'a' <= c && c <= 'z':
		return false
	case 'A' <= c && c <= 'Z':
		return w[i-1] >= 'a'
	case '0' <= c && c <= '9':
		for ; i < len(w); i++ {
			if words.Fold[w[i]]&words.Letter != 0 {
				return false
			}
		}
	}
	return true
}
