package main

import (
	"cmp"
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
	return fmt.Sprintf("# version %d\nUser-agent: GPTBot\nDisallow: /\n\nUser-agent: Verix\nAllow: /\nDisallow: /trained/\n\nUser-agent: *\nContent-Usage: /trained/ train-ai=n\nCrawl-delay: 1\nDisallow: /private/\n%s", int(t), more)
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
	strict   bool          // holds to a limit, and turns false names away
	managed  bool          // its robots.txt is composed
	readers  bool          // clients ask for robots.txt, too
	asked    bool          // another proxy asks about it, and shows the pages itself
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

// request returns the request of a client for a path, or the question of another proxy
// about it.
func (s *site) request(c client, host, path string) (*http.Request, error) {
	url := s.url(host, path)
	if s.asked {
		url = s.url(deciderHost, "/")
	}
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", c.userAgent)
	address := c.address()
	if s.asked {
		r.Header.Set("X-Forwarded-Method", http.MethodGet)
		r.Header.Set("X-Forwarded-Proto", "https")
		r.Header.Set("X-Forwarded-Host", host)
		r.Header.Set("X-Forwarded-Uri", path)
		address = cmp.Or(address, others)
	}
	if address != "" {
		r.Header.Set("X-Forwarded-For", address)
	}
	return r, nil
}

// reads reports whether a client asks for robots.txt. Where another proxy asks, what a
// crawler was answered is not seen, so that for a minute it may have read a newer one;
// so one crawler does, and of the others each answer is known.
func (s *site) reads(c client) bool {
	return s.readers && (!s.asked || c.name == "bingbot" || c.kind == browser)
}

var paths = []string{"/page", "/private/x", "/new/x", "/trained/x", "/robots.txt"}
