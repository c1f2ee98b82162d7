package main

import (
	"net/http"
	"slices"
)

// forbidden reports whether a text of a site forbids a client a path.
func (s *site) forbidden(c client, path string, t text) bool {
	switch {
	case path == "/robots.txt" || c.kind == browser || c.kind == bystander:
		return false
	case c.kind == banned, c.kind == managed && s.managed:
		return true
	case c.kind == proved:
		return path == "/trained/x"
	case c.kind == liar && (s.strict || path == "/trained/x"): // held to both groups
		return true
	}
	return path == "/private/x" || path == "/new/x" && t.forbidsNew()
}

// slows reports whether a site lets a client pass once in a life only.
func (s *site) slows(c client, path string) bool {
	return s.strict && c.kind == limited && path != "/robots.txt"
}

// served returns the status of an answer that the guard lets pass.
func served(path string, s state) int {
	switch {
	case s == refuses:
		return http.StatusBadGateway
	case s == all500, s == robots500 && path == "/robots.txt":
		return http.StatusInternalServerError
	}
	return http.StatusOK
}

// moment is when a request was sent, as the facts of its site and instance know it.
type moment struct{ text, state, names, config, fresh int }

// now returns the moment at which a request to a site begins.
func (w *world) now(in *instance, s *site) moment {
	return moment{s.text.mark(), s.state.mark(), w.names.mark(), in.config.mark(), in.fresh.mark()}
}

// expected returns the statuses that an answer may have whose request was sent
// at a moment and came to a configuration. It is one, unless something was changing
// meanwhile, or the client has read another text last, which may be what it is held to.
func (w *world) expected(in *instance, s *site, c client, path string, sent moment, by config, read []text) []int {
	var may []int
	add := func(status int) {
		if !slices.Contains(may, status) {
			may = append(may, status)
		}
	}
	texts := s.text.since(sent.text)
	fresh := slices.Contains(in.fresh.since(sent.fresh), true)
	if fresh && s.every > 0 && !s.invented {
		texts = append(texts, texts[0]+1) // the one before is of the same kind
	}
	// Who reads the new text through the guard before it does puts its copy in
	// doubt, by which nobody is blocked. One that has just been started may know
	// none yet.
	lenient := s.invented || fresh || s.readers && !s.asked && len(texts) > 1
	for i, t := range append(texts, read...) {
		if s.enforces && s.forbidden(c, path, t) {
			add(by.status())
			if !lenient || i >= len(texts) {
				continue
			}
		}
		if s.slows(c, path) {
			add(http.StatusTooManyRequests) // but for the first, which is the tally's to know
			if !fresh {
				continue
			}
		}
		for _, status := range s.passes(path, sent) {
			add(status)
		}
	}
	return may
}

// passes returns the statuses that an answer may have which no text forbids.
func (s *site) passes(path string, sent moment) (may []int) {
	for _, state := range s.state.since(sent.state) {
		if s.asked {
			state = well // it is not the guard that asks the origin
		}
		may = append(may, served(path, state))
	}
	return may
}

// world is all that the oracle knows.
type world struct {
	sites     []*site
	instances []*instance
	names     *fact[names]
	registry  string // the file with the names
	ranges    string // the file with the addresses of a crawler
}

// names are an edition of the registry file by number. It decides the class of one
// crawler.
type names int

func (n names) class() string {
	if n%2 == 1 {
		return "seo"
	}
	return "ai_training"
}
