package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"time"
)

// text is a robots.txt. Each version is another text; odd ones forbid /new/,
// too.
type text int

func (t text) String() string {
	more := ""
	if t.forbidsNew() {
		more = "Disallow: /new/\n"
	}
	return fmt.Sprintf("# version %d\nUser-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nContent-Usage: /trained/ train-ai=n\nCrawl-delay: 1\nDisallow: /private/\n%s", int(t), more)
}

func (t text) forbidsNew() bool { return t%2 == 1 }

// hash returns a text's version as the admin API tells it.
func hash(t string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(t))) }

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

// site is one of the sites that all instances have.
type site struct {
	host     string
	clear    bool // without TLS
	enforces bool
	strict   bool          // holds to preferences, and to a limit
	managed  bool          // its robots.txt is composed
	readers  bool          // clients ask for robots.txt, too
	invented bool          // host is the end of names that clients make up, whose robots.txt may not be read in time, or at all
	every    time.Duration // how often its robots.txt changes, 0 for never
	fails    []state       // how its origin does, one after the other
	text     *fact[text]
	state    *fact[state]
	origin   *origin          // nil for files
	publish  func(text) error // nil where the origin takes it from text
}

// url returns the URL of a path of a host.
func (s *site) url(host, path string) string {
	if s.clear {
		return "http://" + host + path
	}
	return "https://" + host + path
}

// kind is what a client counts as. The guard judges crawlers only.
type kind int

const (
	browser kind = iota
	bystander
	crawler
	banned  // a crawler that the robots.txt names and forbids everything
	managed // a crawler that a composed robots.txt names so
	trainer // a crawler that does nothing but train models
	limited // a crawler that a strict site grants one request in a day
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
	{"Quuxle", "Quuxle/1.0", "Quuxle", crawler}, // whom the registry file names
	{"GPTBot", "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.3; +https://openai.com/gptbot)", "GPTBot", banned},
	{"CCBot", "CCBot/2.0 (https://commoncrawl.org/faq/)", "CCBot", managed},
	{"ClaudeBot", "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)", "ClaudeBot", trainer},
	{"SemrushBot", "Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)", "SemrushBot", limited},
}

// named returns the client by a name.
func named(name string) client {
	for _, c := range clients {
		if c.name == name {
			return c
		}
	}
	panic("there is no client " + name)
}

var paths = []string{"/page", "/private/x", "/new/x", "/trained/x", "/robots.txt"}
