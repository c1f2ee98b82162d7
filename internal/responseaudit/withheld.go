package responseaudit

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Substitute is a response instead of a robots.txt.
type Substitute uint8

// The substitutes.
const (
	NoSubstitute      Substitute = iota
	RedirectElsewhere            // a redirect to another page, such as a login
	NoAnswer                     // the connection is closed without a response
	WebPage                      // an HTML page, such as a challenge
)

// RobotsResponse is a response to GET /robots.txt.
type RobotsResponse struct {
	Status   int    // 0 if the connection was closed without a response
	Location string // of a redirect
	IsLoop   bool   // the redirect leads to the same robots.txt again
	IsHTML   bool   // the body is an HTML page
}

// Substitute returns the kind of a response other than a robots.txt. isFile reports whether the
// response is a robots.txt, or states that none exists. Both results are zero for other responses,
// for example a redirect to a robots.txt or an error without a page.
func (r RobotsResponse) Substitute() (instead Substitute, isFile bool) {
	switch {
	case r.Status == 0:
		return NoAnswer, false
	case r.Status == 304, r.Status == 404, r.Status == 410:
		return NoSubstitute, true
	case r.Status >= 300 && r.Status < 400:
		if r.Location != "" && (r.IsLoop || !isRobotsURL(r.Location)) {
			return RedirectElsewhere, false
		}
		return NoSubstitute, false
	case r.IsHTML && (r.Status < 500 || r.Status == 503): // other server errors have HTML bodies too
		return WebPage, false
	}
	return NoSubstitute, r.Status >= 200 && r.Status < 300
}

// isRobotsURL reports whether a URL can be a robots.txt.
func isRobotsURL(location string) bool {
	u, err := url.Parse(location)
	if err != nil {
		return false
	}
	path := strings.ToLower(u.Path)
	return strings.HasSuffix(path, ".txt") || strings.Contains(path, "robots")
}

// Fetcher is a crawler that fetched a robots.txt.
type Fetcher struct {
	Site           string
	Token          string
	Class          string
	IsSearchEngine bool // search engine
	IsVerified     bool
	Network        netip.Prefix
}

// Withheld is a finding: a crawler gets something else instead of a robots.txt.
type Withheld struct {
	Fetcher         // Network is zero
	Substitute      Substitute
	Status          int
	Location        string
	Since           time.Time
	Responses       uint64 // number of such responses
	SameForGuard    bool   // the guard's own fetch gets the same response
	SameForSelfTest bool   // the self-test with the crawler's name gets the same response
}

// Description describes the finding with its remedy, such as "GPTBot gets a web page (status 403)
// instead of robots.txt since 12:00 UTC; exclude /robots.txt from the challenge".
func (w *Withheld) Description(now time.Time) string {
	who, since := w.Token, w.Since.UTC().Format("15:04 UTC")
	switch {
	case w.IsVerified:
	case w.SameForSelfTest:
		who = "a client named " + w.Token
	default:
		who = "an unverified client named " + w.Token
	}
	if now.Sub(w.Since) >= 24*time.Hour {
		since = w.Since.UTC().Format("15:04 UTC on 2 January")
	}
	switch w.Substitute {
	case RedirectElsewhere:
		return fmt.Sprintf("%s is redirected to %s instead of robots.txt since %s; exclude /robots.txt from the login or challenge", who, w.Location, since)
	case NoAnswer:
		return fmt.Sprintf("%s gets no response for robots.txt since %s; exclude /robots.txt from what closes the connection, such as abort", who, since)
	}
	remedy := "exclude /robots.txt from the challenge"
	if w.SameForGuard && w.Status == 200 { // can be an application that serves its page for all paths
		remedy = "let /robots.txt answer with a text file or 404, and exclude it from a challenge"
	}
	return fmt.Sprintf("%s gets a web page (status %d) instead of robots.txt since %s; %s", who, w.Status, since, remedy)
}

// Bounds of a RobotsResponses.
const (
	maxSites    = 4096
	maxFetchers = 64 // of a site
	// minNetworks is the number of networks whose unverified clients must agree.
	minNetworks = 3
	// maxLocation is the maximum stored length of a redirect in bytes.
	maxLocation = 200
	// responseLifetime is the time after which a response expires if the crawler does not return.
	responseLifetime = 7 * 24 * time.Hour
)

// RobotsResponses records crawlers with another response instead of a robots.txt. RobotsResponses
// is bounded and safe for concurrent use. The zero value is empty.
type RobotsResponses struct {
	mu    sync.Mutex
	sites map[string]*siteResponses
}

// siteResponses are the responses of a site.
type siteResponses struct {
	guardSubstitute Substitute // the guard's own last fetch
	withheld        []*crawlerResponses
}

// crawlerResponses is the responses to a crawler.
type crawlerResponses struct {
	Withheld
	lastResponse              time.Time
	badNetworks, goodNetworks []netip.Prefix // networks of unverified clients, minNetworks at most
}

// isFinding reports whether the responses are a finding. One of these conditions is enough: a
// verified crawler, the same response to the guard's own fetch or the self-test, or clients of
// several networks.
func (d *crawlerResponses) isFinding(own Substitute) bool {
	return d.IsVerified || d.isTested() || d.Substitute == own || len(d.badNetworks) >= minNetworks
}

// testNetwork represents the self-test among networks of unverified clients. No client has
// this documentation address (RFC 5737).
var testNetwork = netip.MustParsePrefix("192.0.2.0/24")

// isTested reports whether the last self-test got another response.
func (d *crawlerResponses) isTested() bool { return slices.Contains(d.badNetworks, testNetwork) }

// RecordGuardFetch records the response to the guard's own fetch.
func (x *RobotsResponses) RecordGuardFetch(site string, r RobotsResponse) {
	instead, isFile := r.Substitute()
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.responsesOf(site, instead != NoSubstitute); s != nil && (isFile || instead != NoSubstitute) {
		s.guardSubstitute = instead
	}
}

// RecordResponse records the response to a crawler. Do not call RecordResponse for spoofed clients.
func (x *RobotsResponses) RecordResponse(f Fetcher, r RobotsResponse, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if d := x.record(f, r, now); d != nil {
		d.Responses++
	}
}

// RecordSelfTest records the response to a self-test with a crawler's name, on a site that serves
// browsers a robots.txt. The self-test does not increase the number of responses to the crawler.
func (x *RobotsResponses) RecordSelfTest(f Fetcher, r RobotsResponse, now time.Time) {
	f.Network = testNetwork
	x.mu.Lock()
	defer x.mu.Unlock()
	x.record(f, r, now)
}

// record records a response. If the crawler got a substitute for robots.txt, record returns the
// crawler's entry, else nil. The caller must have locked x.mu.
func (x *RobotsResponses) record(f Fetcher, r RobotsResponse, now time.Time) *crawlerResponses {
	instead, isFile := r.Substitute()
	s := x.responsesOf(f.Site, instead != NoSubstitute)
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.withheld, func(d *crawlerResponses) bool { return d.Token == f.Token })
	switch {
	case instead != NoSubstitute:
		if i < 0 {
			i = s.add(&crawlerResponses{Withheld: Withheld{Fetcher: f, Since: now}})
		}
		d := s.withheld[i]
		d.Substitute, d.Status, d.Location, d.lastResponse = instead, r.Status, r.Location[:min(len(r.Location), maxLocation)], now
		d.IsVerified, d.Network = d.IsVerified || f.IsVerified, netip.Prefix{}
		d.goodNetworks = nil
		if !f.IsVerified {
			d.badNetworks = addNetwork(d.badNetworks, f.Network)
		}
		return d
	case i >= 0 && isFile && s.withheld[i].recordFile(f):
		s.withheld = slices.Delete(s.withheld, i, i+1)
	}
	return nil
}

// recordFile records that a client got the file, and reports whether the finding ends. An unverified
// client cannot refute a verified crawler.
func (d *crawlerResponses) recordFile(f Fetcher) bool {
	switch {
	case f.IsVerified:
		return true
	case d.IsVerified:
		return false
	}
	d.badNetworks = slices.DeleteFunc(d.badNetworks, func(n netip.Prefix) bool { return n == f.Network })
	d.goodNetworks = addNetwork(d.goodNetworks, f.Network)
	return len(d.badNetworks) == 0 || len(d.goodNetworks) >= minNetworks
}

// addNetwork adds a network to a list of at most minNetworks.
func addNetwork(list []netip.Prefix, n netip.Prefix) []netip.Prefix {
	if len(list) >= minNetworks || slices.Contains(list, n) {
		return list
	}
	return append(list, n)
}

// responsesOf returns the responses of a site, or nil. If add is true, missing responses are created while
// there is room. The caller must have locked x.mu.
func (x *RobotsResponses) responsesOf(name string, add bool) *siteResponses {
	s := x.sites[name]
	if s == nil && add && len(x.sites) < maxSites {
		if x.sites == nil {
			x.sites = make(map[string]*siteResponses)
		}
		s = new(siteResponses)
		x.sites[name] = s
	}
	return s
}

// add adds a crawler and returns its index. A full list loses the oldest unverified crawler
// first.
func (s *siteResponses) add(d *crawlerResponses) int {
	if len(s.withheld) < maxFetchers {
		s.withheld = append(s.withheld, d)
		return len(s.withheld) - 1
	}
	least := 0
	for i, other := range s.withheld {
		if lesser := s.withheld[least]; other.IsVerified != lesser.IsVerified && lesser.IsVerified || other.IsVerified == lesser.IsVerified && other.lastResponse.Before(lesser.lastResponse) {
			least = i
		}
	}
	s.withheld[least] = d
	return least
}

// Find returns the findings of a site, or of all sites for "". Find also removes expired responses.
func (x *RobotsResponses) Find(site string, now time.Time) (found []Withheld) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for name, s := range x.sites {
		s.withheld = slices.DeleteFunc(s.withheld, func(d *crawlerResponses) bool { return now.Sub(d.lastResponse) >= responseLifetime })
		if len(s.withheld) == 0 && s.guardSubstitute == NoSubstitute {
			delete(x.sites, name)
		}
		for _, d := range s.withheld {
			if d.isFinding(s.guardSubstitute) && (site == "" || site == name) {
				w := d.Withheld
				w.SameForGuard, w.SameForSelfTest = d.Substitute == s.guardSubstitute, d.isTested()
				found = append(found, w)
			}
		}
	}
	slices.SortFunc(found, func(a, b Withheld) int { return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.Token, b.Token)) })
	return found
}
