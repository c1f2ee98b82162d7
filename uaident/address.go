package uaident

import "strings"

// byAddress finds a robot that has no name of its own and copies a browser's, but tells
// its address as robots do: "Mozilla/5.0 (X11; Linux x86_64) ... Safari/537.36
// (+https://acme.example/bot)". It goes by the name of the site. A host without a dot is
// not taken for a site: it could be the name of a crawler, which would then count as that
// crawler, or "*".
func (s *scan) byAddress(r *Registry) Identity {
	if s.firstProduct() >= 0 && !s.likeBrowser() || s.byApp() {
		return Identity{}
	}
	i := s.robotContact()
	if i < 0 || s.stops > 1 && !s.hasPlus(i) && s.words[i].flags&afterCompatible == 0 { // extensions of browsers have addresses, too
		return Identity{}
	}
	site := siteOf(s.text(&s.words[i]))
	if strings.IndexByte(site, '.') <= 0 {
		return Identity{}
	}
	if c := r.Lookup(site); c != nil {
		return Identity{Token: site, Crawler: c, Class: c.Class, Evidence: FromRegistry}
	}
	return Identity{Token: site, Class: GenericCrawler, Evidence: FromRobotContact}
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
