package uaident

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/uaident/internal/words"
)

// byAddress finds a robot that has no name of its own and copies a browser's, but tells
// its address as robots do: "Mozilla/5.0 (X11; Linux x86_64) ... Safari/537.36
// (+https://acme.example/bot)". It goes by the name of the site, or by that of the crawler
// which the registry knows by the site's name without its domain. A host without a dot is
// not taken for a site: it could be the name of a crawler, which would then count as that
// crawler, or "*".
func (s *scan) byAddress(r *Registry) Identity {
	if s.firstProduct() >= 0 && !s.likeBrowser() || s.byApp() {
		return Identity{}
	}
	i := s.robotContact()
	if i < 0 || s.stops > 1 && !s.hasPlus(i) && s.words[i].flags&afterCompatible == 0 && !(s.isAlone(i) && pathSaysRobot(s.text(&s.words[i]))) {
		return Identity{}
	}
	site := siteOf(s.text(&s.words[i]))
	if strings.IndexByte(site, '.') <= 0 {
		return Identity{}
	}
	if c := r.Lookup(site); c != nil {
		return Identity{Token: site, Crawler: c, Class: c.Class, Evidence: FromRegistry}
	}
	if label := labelOf(site); label != "" {
		if c := r.Lookup(label); c != nil && c.Class.IsCrawler() {
			return Identity{Token: label, Crawler: c, Class: c.Class, Evidence: FromRegistry}
		}
	}
	return Identity{Token: site, Class: GenericCrawler, Evidence: FromRobotContact}
}

// isAlone reports whether no unknown word stands before the contact i, whose own it could
// be: extensions of browsers have addresses, too.
func (s *scan) isAlone(i int) bool {
	return i == 0 || s.words[i-1].kind != words.Unknown || s.words[i-1].comment != s.words[i].comment
}

// namedByHost looks for a name of the overlay that is the host's label of an address in a
// browser's User-Agent: deepcrawl in "... Safari/600.1.4 https://deepcrawl.com/about". The
// address of a home page alone is no evidence.
func (s *scan) namedByHost(o *Overlay) Identity {
	if !s.likeBrowser() || s.signs&sign(words.Contact) == 0 || s.byApp() {
		return Identity{}
	}
	for i := range s.words[:s.n] {
		w := &s.words[i]
		text := s.text(w)
		if w.kind != words.Contact || !s.isAlone(i) || strings.Contains(text, "@") || servesSomebody(text) {
			continue
		}
		host, path := splitAddress(text)
		label := labelOf(siteOf(text))
		if label == "" || path == "" || isOneOf(host, codeHosts[:]) || !o.mayHave(words.Hash(label)) {
			continue
		}
		for j := range o.names {
			if n := &o.names[j]; len(n.text) == len(label) && hasFoldedPrefix(label, n.text) {
				id := Identity{Token: label, Class: Other, Evidence: FromPolicyName, policyName: n.name}
				if addressSays(path) {
					id.Class = GenericCrawler
				}
				return id
			}
		}
	}
	return Identity{}
}

// labelOf returns the label of a host that stands before its public suffix, as far as that
// can be told without a list of these: acme of www.acme.example and of acme.co.uk. It is ""
// for a host of one label.
func labelOf(host string) string {
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

// siteOf returns the host that a URL or mail address names, without www. and its port.
func siteOf(contact string) string {
	host, _ := splitAddress(contact)
	if _, domain, ok := strings.Cut(host, "@"); ok {
		host = domain
	}
	if hasFoldedPrefix(host, "www.") {
		host = host[len("www."):]
	}
	if i := strings.IndexByte(host, ':'); i > 0 {
		host = host[:i]
	}
	return host
}
