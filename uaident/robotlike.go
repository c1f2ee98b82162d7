package uaident

import "github.com/robotsguard/caddy-robots-guard/uaident/internal/words"

// parts are endings of names by their first letter.
type parts struct {
	letters uint32 // bit per letter that an ending begins with
	endings [26][]string
}

func newParts(endings ...string) *parts {
	var p parts
	for _, e := range endings {
		letter := e[0] - 'a'
		p.letters |= 1 << letter
		p.endings[letter] = append(p.endings[letter], e)
	}
	return &p
}

// How robots' names end.
var robotParts = newParts("bot", "crawler", "spider", "crawl", "spyder", "scraper", "scrapper", "harvester")

// How names end that say what a robot is for. People's apps have some of these
// too, so they count for less.
var toolParts = newParts(
	"checker", "check", "validator", "validation", "fetcher", "fetch", "scanner", "scan", "indexer", "archiver",
	"grabber", "extractor", "resolver", "preview", "previewer", "unfurler", "monitor", "monitoring",
	"synthetic", "feedparser", "parser", "screenshot", "thumbnail", "thumbnailer", "analyzer", "analyser",
	"analytics", "auditor", "audit", "pinger", "prober", "probe", "searchengine", "sitemap", "imageproxy",
	"imgproxy", "proxy", "aggregator", "expander", "inspector", "verifier", "verification", "copier", "sucker",
	"healthcheck", "subscriber", "webhook", "rss", "feed", "feeder", "generator", "research", "collector",
	"capture", "linkcheck", "uptime",
)

// How names of HTTP libraries end.
var libraryParts = newParts("httpclient", "http-client", "http_client", "httplib", "httprequest", "httpunit", "urllib", "webclient")

// robotLike reports whether an unknown word is spelled like a robot's name:
// FooBot, foocrawler, AcademicBotRTU, aiHitBot-DM, RankingBot2, Foo-Google.
func robotLike(w string) bool {
	if hasPart(w, robotParts, 0) {
		return true
	}
	return len(w) > 10 && hasFoldedPrefix(w, "google-") && words.Fold[w[10]]&words.Letter != 0 || // not Google-TR-1
		len(w) > 8 && hasFoldedPrefix(w[len(w)-7:], "-google")
}

// toolLike reports whether one of the parts of a word's spelling says what a
// robot is for: LinkChecker, page-preview-tool.
func toolLike(w string) bool { return hasPart(w, toolParts, 5) }

// libraryLike reports whether a word is spelled like an HTTP library's name.
func libraryLike(w string) bool { return hasPart(w, libraryParts, 5) }

// hasPart reports whether one of the endings stands in w and ends a part of its
// spelling: at the end of w, before a separator or a version, or where lower
// case changes to upper. Endings of at most short bytes must also start a part:
// "prefetch" is no fetcher.
func hasPart(w string, p *parts, short int) bool {
	for i := range len(w) {
		letter := (w[i] | 0x20) - 'a'
		if letter >= 26 || p.letters>>letter&1 == 0 {
			continue
		}
		for _, ending := range p.endings[letter] {
			if hasFoldedPrefix(w[i:], ending) && partEnds(w, i+len(ending)) && (len(ending) > short || partStarts(w, i)) {
				return true
			}
		}
	}
	return false
}

// partStarts reports whether a part of the spelling of w starts at i.
func partStarts(w string, i int) bool {
	return i == 0 || words.Fold[w[i-1]]&words.Letter == 0 || w[i] < 'a' && w[i-1] >= 'a'
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
