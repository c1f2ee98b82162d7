package main

import (
	"fmt"
	"net/http"
	"slices"
)

// text is a robots.txt. Each version is another text; odd ones forbid /new/,
// too.
type text int

func (t text) String() string {
	more := ""
	if t.forbidsNew() {
		more = "Disallow: /new/\n"
	}
	return fmt.Sprintf("# version %d\nUser-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /private/\n%s", int(t), more)
}

func (t text) forbidsNew() bool { return t%2 == 1 }

// state is what is wrong with an origin.
type state string

const (
	well        state = "well"
	robots500   state = "robots.txt 500"
	robotsHang  state = "robots.txt hangs"
	robotsReset state = "robots.txt reset"
	all500      state = "all 500"
	refuses     state = "refuses"
)

// config is a configuration by number. It decides the status of a refusal.
type config int

func (c config) status() int {
	if c/8%2 == 1 {
		return http.StatusGone
	}
	return http.StatusForbidden
}

// site is one of the sites of the server under test.
type site struct {
	host     string
	enforces bool
	readers  bool // clients ask for robots.txt, too
	invented bool // host is the end of names that clients make up, whose robots.txt may not be read in time, or at all
	text     *fact[text]
	state    *fact[state]
	origin   *origin          // nil for files
	publish  func(text) error // nil where the origin takes it from text
}

// kind is what a client counts as. The guard judges crawlers only.
type kind int

const (
	browser kind = iota
	bystander
	crawler
	banned // a crawler that the robots.txt names and forbids everything
)

// client is somebody who asks.
type client struct {
	name, userAgent, label string // label: in the metrics; empty if not counted
	kind                   kind
}

var clients = []client{
	{"Firefox", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "", browser},
	{"Chrome", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36", "", browser},
	{"Safari", "Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Mobile/15E148 Safari/604.1", "", browser},
	{"curl", "curl/8.7.1", "curl", bystander},
	{"Feedly", "Feedly/1.0 (+http://www.feedly.com/fetcher.html; like FeedFetcher-Google)", "Feedly", bystander},
	{"bingbot", "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "bingbot", crawler},
	{"Googlebot", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot", crawler},
	{"unknown", "FooBarBot/3.1 (+https://foo.example/bot)", "_other", crawler},
	{"GPTBot", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)", "GPTBot", banned},
}

var paths = []string{"/page", "/private/x", "/new/x", "/robots.txt"}

// forbidden reports whether a text forbids a client a path.
func forbidden(c client, path string, t text) bool {
	switch {
	case path == "/robots.txt" || c.kind == browser || c.kind == bystander:
		return false
	case c.kind == banned:
		return true
	}
	return path == "/private/x" || path == "/new/x" && t.forbidsNew()
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

// moment is when a request was sent, as the facts of its site know it.
type moment struct{ text, state, config int }

// now returns the moment at which a request to a site begins.
func (w *world) now(s *site) moment {
	return moment{s.text.mark(), s.state.mark(), w.config.mark()}
}

// expected returns the statuses that an answer may have whose request was sent
// at a moment. It is one, unless something was changing meanwhile.
func (w *world) expected(s *site, c client, path string, sent moment) []int {
	var may []int
	add := func(status int) {
		if !slices.Contains(may, status) {
			may = append(may, status)
		}
	}
	texts := s.text.since(sent.text)
	// Who reads the new text through the guard before it does puts its copy in
	// doubt, by which nobody is blocked.
	lenient := s.invented || s.readers && len(texts) > 1
	for _, t := range texts {
		if s.enforces && forbidden(c, path, t) {
			for _, k := range w.config.since(sent.config) {
				add(k.status())
			}
			if !lenient {
				continue
			}
		}
		for _, state := range s.state.since(sent.state) {
			add(served(path, state))
		}
	}
	return may
}

// world is all that the oracle knows.
type world struct {
	sites  []*site
	config *fact[config]
}
