package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// identifyByContact identifies a robot by its address in a browser's User-Agent, or in a User-Agent
// without products: "Mozilla/5.0 (X11; Linux x86_64) ... Safari/537.36
// (+https://acme.example/bot)". The token is the host of the address. If the registry has an entry
// for the host, the result has that entry. If the registry has a crawler's entry for the label
// before the public suffix, the result has that entry, and the label is the token. A host without a
// dot is ignored, because the host could match the `*` group or another crawler.
func (s *parsedUserAgent) identifyByContact(r *Registry) Identity {
	if s.firstProductIndex() >= 0 && !s.startsLikeBrowser() || s.isFromApp() {
		return Identity{}
	}
	i := s.robotContactIndex()
	if i < 0 || s.numBrowserWords > 1 && !s.hasPlusBefore(i) && s.words[i].flags&afterCompatible == 0 && !(s.isContactWithoutProduct(i) && hasRobotPath(s.wordText(&s.words[i]))) {
		return Identity{}
	}
	host := contactHost(s.wordText(&s.words[i]))
	if strings.IndexByte(host, '.') <= 0 {
		return Identity{}
	}
	if c := r.Lookup(host); c != nil {
		return Identity{Token: host, Crawler: c, Class: c.Class, Evidence: FromRegistry}
	}
	if label := labelBeforeSuffix(host); label != "" {
		if c := r.Lookup(label); c != nil && c.Class.IsCrawler() {
			return Identity{Token: label, Crawler: c, Class: c.Class, Evidence: FromRegistry}
		}
	}
	return Identity{Token: host, Class: GenericCrawler, Evidence: FromRobotContact}
}

// isContactWithoutProduct reports whether no unknown product precedes the URL or mail address at
// index i in the same comment. The address of a browser extension follows the extension's name.
func (s *parsedUserAgent) isContactWithoutProduct(i int) bool {
	return i == 0 || s.words[i-1].kind != words.Unknown || s.words[i-1].comment != s.words[i].comment
}

// identifyByHostInOverlay identifies a client by a URL in a browser's User-Agent, if the overlay
// contains the label before the host's public suffix: deepcrawl for "... Safari/600.1.4
// https://deepcrawl.com/about". URLs without a path are ignored.
func (s *parsedUserAgent) identifyByHostInOverlay(o *Overlay) Identity {
	if !s.startsLikeBrowser() || s.kindBits&kindBit(words.Contact) == 0 || s.isFromApp() {
		return Identity{}
	}
	for i := range s.words[:s.numWords] {
		w := &s.words[i]
		text := s.wordText(w)
		if w.kind != words.Contact || !s.isContactWithoutProduct(i) || strings.Contains(text, "@") || isServiceName(text) {
			continue
		}
		host, path := splitURL(text)
		label := labelBeforeSuffix(contactHost(text))
		if label == "" || path == "" || isCodeHost(host) || !o.mayContain(words.Hash(label)) {
			continue
		}
		for j := range o.names {
			if n := &o.names[j]; len(n.lowerCaseName) == len(label) && hasFoldedPrefix(label, n.lowerCaseName) {
				id := Identity{Token: label, Class: Other, Evidence: FromGroupName, groupName: n.spelling}
				if containsRobotWord(path) {
					id.Class = GenericCrawler
				}
				return id
			}
		}
	}
	return Identity{}
}

// labelBeforeSuffix returns the label of a host before its public suffix: acme for www.acme.example
// and acme.co.uk. The result is a guess, because labelBeforeSuffix uses no list of public suffixes.
// The result for a host of one label is "".
func labelBeforeSuffix(host string) string {
	end := strings.LastIndexByte(host, '.')
	for end > 0 {
		start := strings.LastIndexByte(host[:end], '.') + 1
		if label := host[start:end]; start == 0 || len(label) > 3 {
			return label
		}
		end = start - 1
	}
	return ""
}

// contactHost returns the host of a URL or mail address, without "www." at its start and without
// its port.
func contactHost(contact string) string {
	host, _ := splitURL(contact)
	if _, domain, ok := strings.Cut(host, "@"); ok {
		host = domain
	}
	return trimWWWAndPort(host)
}

// trimWWWAndPort returns a host without "www." at its start and without its port.
func trimWWWAndPort(host string) string {
	if hasFoldedPrefix(host, "www.") {
		host = host[len("www."):]
	}
	if i := strings.IndexByte(host, ':'); i > 0 {
		host = host[:i]
	}
	return host
}
