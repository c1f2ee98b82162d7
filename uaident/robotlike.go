package uaident

import "github.com/robotsguard/caddy-robots-guard/uaident/internal/words"

// The lists in this file classify a client by its unknown name. A name consists of
// parts: FooBot-Link has the parts Foo, Bot and Link. A part ends at the end of the name, before a
// separator or a version, and between a lower-case and an upper-case letter.
//
//	list                 where the word must stand       function            effect
//	robotParts           at the end of a part            looksLikeRobot      a robot
//	robotAddressWords    anywhere in an address          containsRobotWord        a robot, if not a service
//	genericRobotWords    the whole word                  isGenericRobotWord  a robot in an address; ends a name
//	robotPathWords       at the start of a path element  hasRobotPath        a robot, if its address is one
//	serviceWords         anywhere                        isServiceName       class Other instead of a robot
//	serviceParts         a part, or the end of one       isServiceName       the same
//	servicePrefixes      directly before "bot"           isServiceName       the same
//	monitorPrefixes      the same, in the same word      isServiceName       the same
//	nonCrawlerParts      at the end of a part            followsCrawlerConvention  no evidence by convention
//	nonCrawlerEndParts   at the end of the name          followsCrawlerConvention  the same
//	toolParts            at the end of a part            looksLikeTool       weak evidence
//	libraryParts         at the end of a part            looksLikeLibrary    class Library
//
// Two lists of words.json apply to whole words of the User-Agent only: "generic" words are
// evidence of a robot, and "tool" words are weak evidence.

// wordSet is a set of words to find inside a name. Each word has at least two
// letters.
type wordSet struct {
	secondLetterBits [26]uint32   // This is the set of the second letters, as bits, by first letter.
	words            [26][]string // The index is the first letter.
	wordOptions
}

// wordOptions select the places of a name at which a word of a wordSet matches. By default a word
// matches only at the end of a part of the name.
type wordOptions struct {
	// anywhere lets a word stand anywhere in a name. The other options then have no effect.
	anywhere bool
	// maxShortWord is the maximum length of short words, which match only a whole part of the name.
	// So fetch does not match in "prefetch".
	maxShortWord int
	// partAfterCapitals lets a part begin directly after capital letters, such as Agent in AIAgent.
	partAfterCapitals bool
	// onlyAtEnd lets a word match only at the end of the name, before an optional plural, digits or
	// version.
	onlyAtEnd bool
}

// newWordSet returns a set of words, which must be in lower case.
func newWordSet(options wordOptions, words ...string) *wordSet {
	set := wordSet{wordOptions: options}
	for _, w := range words {
		letter := w[0] - 'a'
		set.secondLetterBits[letter] |= 1 << (w[1] - 'a')
		set.words[letter] = append(set.words[letter], w)
	}
	return &set
}

// robotParts are endings of robot names.
var robotParts = newWordSet(wordOptions{}, "bot", "crawler", "spider", "crawl", "spyder", "scraper", "scrapper", "harvester")

// robotAddressWords occur in addresses of robots.
var robotAddressWords = newWordSet(wordOptions{anywhere: true}, "crawl", "robot", "spider")

// genericRobotWords are general words for robots, which name no particular robot.
var genericRobotWords = [...]string{"bot", "robot", "crawler", "spider", "webcrawler", "webspider", "spyder", "scraper"}

// robotPathWords begin path elements of pages that describe a robot.
var robotPathWords = [...]string{"bot", "bots", "crawl", "crawler", "crawlers", "spider", "spiders", "robot", "robots"}

// serviceWords occur in names and addresses of robots that act for a person or a site. An
// UptimeBot visits the sites of its customers, and an RssBot the feeds of its readers.
var serviceWords = newWordSet(wordOptions{anywhere: true},
	"uptime", "webhook", "unfurl", "linkpreview", "link-preview", "previewbot", "healthcheck", "health-check",
	"rssreader", "feedreader", "dcv",
	"podca", "fetcher", // The prefix is for podcast and podcatcher.
	"opengraph", "oembed", // These are sources of link previews.
)

// serviceParts occur in the names of robots that act for a person or a site: Preview in
// Foo-Bot-Preview. Each must be a whole part, so pingbot does not match in ShoppingBot. Only
// previewer, the longest, can also be the end of a part.
var serviceParts = newWordSet(wordOptions{maxShortWord: len("pingbot")},
	"pingbot", "preview", "previewer",
	"webcal", "caldav", // These are for calendar subscriptions.
)

// servicePrefixes stand directly before "bot" in the names of robots that act for a person or a
// site: StatusBot, calendar-bot, Acme RSS Bot.
var servicePrefixes = groupByLastLetter(
	"status", "health", "rss", "feed", "reader", "calendar", "favicon", "bookmark", "bookmarkmanager", "readlater",
	// In CalDAVBot, capitals hide the end of the part caldav.
	"caldav",
	// These are for metadata of shared or saved links.
	"notification", "notifier", "verify", "verification", "metadata",
)

// monitorPrefixes are like servicePrefixes, but only in the same word as "bot". A MonitoringBot
// monitors a site, but an Acme Price Monitoring Bot crawls.
var monitorPrefixes = groupByLastLetter("monitor", "monitoring")

// groupByLastLetter returns the words grouped by their last letter, so that a comparison with the
// end of a name skips most words.
func groupByLastLetter(words ...string) (groups [26][]string) {
	for _, w := range words {
		last := w[len(w)-1] - 'a'
		groups[last] = append(groups[last], w)
	}
	return groups
}

// nonCrawlerParts are endings in the names of programs that monitor or show a site, or act for a
// person. Such a program is not a crawler, even if it follows the convention of crawlers.
var nonCrawlerParts = newWordSet(wordOptions{maxShortWord: 5, partAfterCapitals: true},
	"monitor", "monitoring", "preview", "previewer", "linkcheck", "linkchecker", "validator", "verification", "status",
	"synthetic",                                       // These are for the synthetic requests of a monitor.
	"user", "agent", "client", "assistant", "service", // These are for assistants, such as Perplexity-User.
	// These are for proxies and readers, such as FlipboardProxy and Hatena-Mobile-Gateway.
	"proxy", "gateway", "reader", "feed", "rss",
)

// nonCrawlerEndParts are like nonCrawlerParts, but only at the end of a name. AcmeMail is a mail
// program, and EmailHunter is not.
var nonCrawlerEndParts = newWordSet(wordOptions{maxShortWord: 5, partAfterCapitals: true, onlyAtEnd: true},
	"app", "player", "browser", "mail", "email", "calendar", "fetch", "webfetch", "favicon", "bookmark",
	"health", "ping", "checker", "verifier", "verify",
)

// toolParts are endings of tool names. Apps use some of them too, so they are weak evidence.
var toolParts = newWordSet(wordOptions{maxShortWord: 5},
	"checker", "check", "validator", "validation", "fetcher", "fetch", "scanner", "scan", "grabber", "extractor", "resolver", "preview", "previewer", "unfurler", "monitor", "monitoring",
	"synthetic", "feedparser", "parser", "screenshot", "thumbnail", "thumbnailer", "analyzer", "analyser",
	"analytics", "auditor", "audit", "pinger", "prober", "probe", "searchengine", "sitemap", "imageproxy",
	"imgproxy", "proxy", "aggregator", "expander", "inspector", "verifier", "verification", "copier", "sucker",
	"healthcheck", "subscriber", "webhook", "rss", "feed", "feeder", "generator", "research", "collector",
	"capture", "linkcheck", "uptime", "status",
)

// libraryParts are endings of the names of HTTP libraries.
var libraryParts = newWordSet(wordOptions{maxShortWord: 5},
	"httpclient", "http-client", "http_client", "httplib", "httprequest", "httpunit", "urllib", "webclient",
)

// nonRobotWords are ordinary words and names of people that end like a robot's name.
var nonRobotWords = [...]string{"abbot", "angebot", "aufgebot", "gebot", "sabot", "talbot", "verbot"}

const maxNonRobotWord = len("aufgebot")

// looksLikeRobot reports whether a word that is not in the registry is spelled like a robot's name:
// FooBot, foocrawler, AcademicBotRTU, aiHitBot-DM, RankingBot2, Foo-Google. Words and brands such
// as Talbot and CUBOT_NOTE_S are not.
func looksLikeRobot(w string) bool {
	if robotParts.occursIn(w) {
		return !hasFoldedPrefix(w, "cubot") && (len(w) > maxNonRobotWord || !isOneOf(w, nonRobotWords[:]))
	}
	if end := len(w) - len("archiver"); end > 0 && w[len(w)-1]|0x20 == 'r' && (hasFoldedPrefix(w[end:], "archiver") || hasFoldedPrefix(w[end+1:], "indexer")) {
		return true
	}
	// This excludes Google-TR-1.
	return len(w) > 10 && hasFoldedPrefix(w, "google-") && words.Fold[w[10]]&words.Letter != 0 ||
		len(w) > 8 && hasFoldedPrefix(w[len(w)-7:], "-google")
}

// looksLikeTool reports whether a part of w ends with a word for a tool: Checker in LinkChecker,
// preview in page-preview-tool. A word of at most five letters must be the whole part.
func looksLikeTool(w string) bool { return toolParts.occursIn(w) }

// isServiceName reports whether a name or address belongs to a robot that acts for a person or a
// site: UptimeBot, Acme-Webhooks. Operators give the suffix -User to fetchers for a person:
// FooBot-User.
func isServiceName(name string) bool {
	return len(name) <= maxName && (serviceWords.occursIn(name) || serviceParts.occursIn(name) || hasServicePrefix(name) ||
		hasFoldedSuffix(name, "-user"))
}

// hasServicePrefix reports whether a name contains "bot" or "robot" directly after one of
// servicePrefixes or monitorPrefixes: StatusBot.
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
		if hasAnyFoldedSuffix(prefix, &servicePrefixes) || !isSeparateWord && hasAnyFoldedSuffix(prefix, &monitorPrefixes) {
			return true
		}
	}
	return false
}

// hasAnyFoldedSuffix reports whether s ends with one of the suffixes, ignoring ASCII case. The
// suffixes must be in lower case and grouped by groupByLastLetter.
func hasAnyFoldedSuffix(s string, suffixes *[26][]string) bool {
	if s == "" {
		return false
	}
	last := (s[len(s)-1] | 0x20) - 'a'
	if last >= 26 {
		return false
	}
	for _, suffix := range suffixes[last] {
		if hasFoldedSuffix(s, suffix) {
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

// hasGoogleForm reports whether a name has the form Google-Foo or Foo-Google of Google's fetchers.
// Many of these fetchers act for other people.
func hasGoogleForm(name string) bool {
	return hasFoldedPrefix(name, "google-") || hasFoldedSuffix(name, "-google")
}

// looksLikeLibrary reports whether a word is spelled like the name of an HTTP library.
func looksLikeLibrary(w string) bool { return libraryParts.occursIn(w) }

// occursIn reports whether name contains a word of the set at a place that the set's options allow.
func (p *wordSet) occursIn(name string) bool {
	for i := range len(name) - 1 {
		letter := (name[i] | 0x20) - 'a'
		if letter >= 26 || p.secondLetterBits[letter]>>((name[i+1]|0x20)-'a')&1 == 0 {
			continue
		}
		for _, w := range p.words[letter] {
			if hasFoldedPrefix(name[i:], w) && p.allows(name, i, i+len(w)) {
				return true
			}
		}
	}
	return false
}

// allows reports whether the options allow a word at name[start:end].
func (p *wordSet) allows(name string, start, end int) bool {
	return p.anywhere || p.endsPart(name, end) && (end-start > p.maxShortWord || p.startsPart(name, start))
}

// startsPart reports whether a part of the name w begins at offset i.
func (p *wordSet) startsPart(w string, i int) bool {
	return i == 0 || words.Fold[w[i-1]]&words.Letter == 0 ||
		w[i] < 'a' && (w[i-1] >= 'a' || p.partAfterCapitals && i+1 < len(w) && w[i+1] >= 'a')
}

// endsPart reports whether a part of the name w ends at offset i. If onlyAtEnd is true, the
// part must be the last of the name.
func (p *wordSet) endsPart(w string, i int) bool {
	return isPartEnd(w, i) && (!p.onlyAtEnd || !hasOtherLetters(w[i:]))
}

// hasOtherLetters reports whether rest, the remainder of a name, contains letters other than the s
// of a plural or the v of a version.
func hasOtherLetters(rest string) bool {
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

// isPartEnd reports whether a part of the name w ends at offset i, possibly before the s of a
// plural.
func isPartEnd(w string, i int) bool {
	if i+1 == len(w) && w[i]|0x20 == 's' { // This is the s of a plural.
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
