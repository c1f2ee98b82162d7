package uaident

import "github.com/robotsguard/caddy-robots-guard/uaident/internal/words"

// parts are endings of names by their first letter; each begins with two letters.
type parts struct {
	second  [26]uint32 // bit per letter that comes after the first
	endings [26][]string
	// capitals says that one may also begin right behind capitals: AIAgent.
	capitals bool
	// last says that nothing may follow one but a plural, digits or a version.
	last bool
}

func newParts(endings ...string) *parts {
	var p parts
	for _, e := range endings {
		letter := e[0] - 'a'
		p.second[letter] |= 1 << (e[1] - 'a')
		p.endings[letter] = append(p.endings[letter], e)
	}
	return &p
}

func behindCapitals(p *parts) *parts {
	p.capitals = true
	return p
}

func atEnd(p *parts) *parts {
	p.last = true
	return p
}

// How robots' names end.
var robotParts = newParts("bot", "crawler", "spider", "crawl", "spyder", "scraper", "scrapper", "harvester")

// What a name or an address has in it that serves somebody, even if it calls
// itself a robot: an UptimeBot visits where its customers tell it to, and an
// RssBot what its readers subscribed to.
var serviceWords = newParts(
	"uptime", "webhook", "unfurl", "linkpreview", "link-preview", "previewbot", "healthcheck", "health-check",
	"rssreader", "feedreader", "dcv",
	"podca", "fetcher", // podcast, podcatcher
	"opengraph", "oembed", // what previews of links are made of
)

// What a name has as a part of its spelling that serves somebody: no ShoppingBot
// or ScrapingBot does, but what fetches a link preview (Foo-Bot-Preview) does.
var serviceParts = newParts(
	"pingbot", "preview", "previewer",
	"webcal", "caldav", // what calendars are subscribed to by
)

// What stands right before "bot" in the name of a robot that serves somebody: StatusBot,
// calendar-bot, Acme RSS Bot.
var servants = byLastLetter(
	"status", "health", "rss", "feed", "reader", "calendar", "favicon", "bookmark", "bookmarkmanager", "readlater",
	"caldav",                                                         // CalDAVBot: its end is no part by the case of its letters
	"notification", "notifier", "verify", "verification", "metadata", // of links that somebody saves or shares
)

// The same, but not for a name of several words: an Acme Price Monitoring Bot crawls.
var watchers = byLastLetter("monitor", "monitoring")

func byLastLetter(words ...string) (by [26][]string) {
	for _, w := range words {
		last := w[len(w)-1] - 'a'
		by[last] = append(by[last], w)
	}
	return by
}

// What an address has in it that is a robot's.
var robotWords = newParts("crawl", "robot", "spider")

// How names end that say what a robot is for. People's apps have some of these
// too, so they count for less.
var toolParts = newParts(
	"checker", "check", "validator", "validation", "fetcher", "fetch", "scanner", "scan", "grabber", "extractor", "resolver", "preview", "previewer", "unfurler", "monitor", "monitoring",
	"synthetic", "feedparser", "parser", "screenshot", "thumbnail", "thumbnailer", "analyzer", "analyser",
	"analytics", "auditor", "audit", "pinger", "prober", "probe", "searchengine", "sitemap", "imageproxy",
	"imgproxy", "proxy", "aggregator", "expander", "inspector", "verifier", "verification", "copier", "sucker",
	"healthcheck", "subscriber", "webhook", "rss", "feed", "feeder", "generator", "research", "collector",
	"capture", "linkcheck", "uptime", "status",
)

// How names end that watch or show a site, or act for somebody, even if they are written
// as crawlers write theirs.
var watchParts = behindCapitals(newParts(
	"monitor", "monitoring", "preview", "previewer", "linkcheck", "linkchecker", "validator", "verification", "status",
	"synthetic",                                       // "synthetics" are requests that a monitor makes up
	"user", "agent", "client", "assistant", "service", // as assistants name what fetches for a person: Perplexity-User
	"proxy", "gateway", "reader", "feed", "rss", // what people read through: FlipboardProxy, Hatena-Mobile-Gateway
))

// The same, but only of the last part of a name: an EmailHunter is no mail program.
var lastWatchParts = atEnd(behindCapitals(newParts(
	"app", "player", "browser", "mail", "email", "calendar", "fetch", "webfetch", "favicon", "bookmark",
	"health", "ping", "checker", "verifier", "verify",
)))

// How names of HTTP libraries end.
var libraryParts = newParts("httpclient", "http-client", "http_client", "httplib", "httprequest", "httpunit", "urllib", "webclient")

// inBot are words of languages and names of people that end like a robot's; Cubot
// makes phones: CUBOT_NOTE_S.
var inBot = [...]string{"abbot", "angebot", "aufgebot", "gebot", "sabot", "talbot", "verbot"}

const maxInBot = len("aufgebot")

// robotLike reports whether an unknown word is spelled like a robot's name:
// FooBot, foocrawler, AcademicBotRTU, aiHitBot-DM, RankingBot2, Foo-Google.
func robotLike(w string) bool {
	if hasPart(w, robotParts, 0) {
		return !hasFoldedPrefix(w, "cubot") && (len(w) > maxInBot || !isOneOf(w, inBot[:]))
	}
	if end := len(w) - len("archiver"); end > 0 && w[len(w)-1]|0x20 == 'r' && (hasFoldedPrefix(w[end:], "archiver") || hasFoldedPrefix(w[end+1:], "indexer")) {
		return true
	}
	return len(w) > 10 && hasFoldedPrefix(w, "google-") && words.Fold[w[10]]&words.Letter != 0 || // not Google-TR-1
		len(w) > 8 && hasFoldedPrefix(w[len(w)-7:], "-google")
}

// toolLike reports whether one of the parts of a word's spelling says what a
// robot is for: LinkChecker, page-preview-tool.
func toolLike(w string) bool { return hasPart(w, toolParts, 5) }

// servesSomebody reports whether a name or an address says that it acts on
// somebody's behalf: UptimeBot, Acme-Webhooks, or FooBot-User, as operators tell what
// fetches for a person from their crawler.
func servesSomebody(name string) bool {
	return len(name) <= maxName && (containsPart(name, serviceWords) || hasPart(name, serviceParts, len("pingbot")) ||
		isServant(name) || hasFoldedSuffix(name, "-user"))
}

// isServant reports whether what stands right before "bot" or "robot" in a name says that it
// serves somebody.
func isServant(name string) bool {
	for i := 1; i+len("bot") <= len(name); i++ {
		if name[i]|0x20 != 'b' || !hasFoldedPrefix(name[i:], "bot") || !partEnds(name, i+len("bot")) {
			continue
		}
		before, apart := name[:i], false
		if hasFoldedSuffix(before, "ro") {
			before = before[:i-len("ro")]
		}
		if n := len(before); n > 0 && (before[n-1] == '-' || before[n-1] == '_' || before[n-1] == ' ') {
			before, apart = before[:n-1], before[n-1] == ' '
		}
		if endsWith(before, &servants) || !apart && endsWith(before, &watchers) {
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

// hasFoldedSuffix is hasFoldedPrefix for the end of s.
func hasFoldedSuffix(s, suffix string) bool {
	return len(s) >= len(suffix) && hasFoldedPrefix(s[len(s)-len(suffix):], suffix)
}

// isGoogles reports whether a name is built as those of Google's fetchers are,
// many of which somebody else sends.
func isGoogles(name string) bool {
	return hasFoldedPrefix(name, "google-") || hasFoldedSuffix(name, "-google")
}

// libraryLike reports whether a word is spelled like an HTTP library's name.
func libraryLike(w string) bool { return hasPart(w, libraryParts, 5) }

// hasPart reports whether one of the endings stands in w and ends a part of its
// spelling: at the end of w, before a separator or a version, or where lower
// case changes to upper. Endings of at most short bytes must also start a part:
// "prefetch" is no fetcher.
func hasPart(w string, p *parts, short int) bool {
	for i := range len(w) - 1 {
		letter := (w[i] | 0x20) - 'a'
		if letter >= 26 || !p.goOn(letter, w[i+1]) {
			continue
		}
		for _, ending := range p.endings[letter] {
			if hasFoldedPrefix(w[i:], ending) && p.endsPart(w, i+len(ending)) && (len(ending) > short || p.startsPart(w, i)) {
				return true
			}
		}
	}
	return false
}

// goOn reports whether an ending may go on with a byte after a letter.
func (p *parts) goOn(letter, next byte) bool { return p.second[letter]>>((next|0x20)-'a')&1 != 0 }

// containsPart reports whether one of the endings stands anywhere in w.
func containsPart(w string, p *parts) bool {
	for i := range len(w) - 1 {
		letter := (w[i] | 0x20) - 'a'
		if letter >= 26 || !p.goOn(letter, w[i+1]) {
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

// startsPart reports whether an ending that begins at i starts a part of the spelling of w.
func (p *parts) startsPart(w string, i int) bool {
	return i == 0 || words.Fold[w[i-1]]&words.Letter == 0 ||
		w[i] < 'a' && (w[i-1] >= 'a' || p.capitals && i+1 < len(w) && w[i+1] >= 'a')
}

// endsPart reports whether an ending that ends at i ends a part of the spelling of w.
func (p *parts) endsPart(w string, i int) bool {
	return partEnds(w, i) && (!p.last || !goesOn(w[i:]))
}

// goesOn reports whether what follows an ending is more than a plural, digits or a version.
func goesOn(rest string) bool {
	if len(rest) == 1 && rest[0]|0x20 == 's' {
		return false
	}
	for i := range len(rest) {
		isV := rest[i]|0x20 == 'v' && i+1 < len(rest) && words.Digit(rest[i+1])
		if words.Fold[rest[i]]&words.Letter != 0 && !isV {
			return true
		}
	}
	return false
}

func partEnds(w string, i int) bool {
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
