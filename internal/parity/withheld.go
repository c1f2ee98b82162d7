package parity

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

// Substitute is what a client gets instead of a robots.txt.
type Substitute uint8

// The substitutes.
const (
	NoSubstitute Substitute = iota
	OtherPage               // a redirect to something else than a robots.txt, such as a login
	NoAnswer                // the connection is closed without a response
	WebPage                 // an HTML page, such as a challenge
)

// RobotsResponse is a response to GET /robots.txt.
type RobotsResponse struct {
	Status   int    // 0 if the connection was closed without a response
	Location string // of a redirect
	HTML     bool   // the body is an HTML page
}

// Substitute returns what the client got instead of the file. isFile reports whether the
// response was a robots.txt, or the statement that there is none. Both are zero for a response
// that says neither, such as a redirect to a robots.txt or an error without a page.
func (r RobotsResponse) Substitute() (instead Substitute, isFile bool) {
	switch {
	case r.Status == 0:
		return NoAnswer, false
	case r.Status == 304, r.Status == 404, r.Status == 410:
		return NoSubstitute, true
	case r.Status >= 300 && r.Status < 400:
		if r.Location != "" && !isRobotsURL(r.Location) {
			return OtherPage, false
		}
		return NoSubstitute, false
	case r.HTML && (r.Status < 500 || r.Status == 503): // other errors of a server have pages, too
		return WebPage, false
	}
	return NoSubstitute, r.Status >= 200 && r.Status < 300
}

// isRobotsURL reports whether a URL looks like that of a robots.txt, wherever it is kept.
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
	Site     string
	Token    string
	Class    string
	Search   bool // it counts as a search engine
	Verified bool
	Network  netip.Prefix
}

// Withheld is a finding: a crawler gets something else instead of a robots.txt.
type Withheld struct {
	Fetcher  // Network is zero
	Instead  Substitute
	Status   int
	Location string
	Since    time.Time
	Answers  uint64 // in which it got something else
	Own      bool   // the guard's own fetch gets the same
	Tested   bool   // the self-test gets the same by the name of the crawler
}

// Says returns the finding with its remedy, such as "GPTBot gets a web page (status 403)
// instead of robots.txt since 12:00 UTC; exclude /robots.txt from the challenge".
func (w *Withheld) Says(now time.Time) string {
	who, since := w.Token, w.Since.UTC().Format("15:04 UTC")
	switch {
	case w.Verified:
	case w.Tested:
		who = "a client named " + w.Token
	default:
		who = "an unverified client named " + w.Token
	}
	if now.Sub(w.Since) >= 24*time.Hour {
		since = w.Since.UTC().Format("15:04 UTC on 2 January")
	}
	switch w.Instead {
	case OtherPage:
		return fmt.Sprintf("%s is redirected to %s instead of robots.txt since %s; exclude /robots.txt from the login", who, w.Location, since)
	case NoAnswer:
		return fmt.Sprintf("%s gets no response for robots.txt since %s; exclude /robots.txt from what closes the connection, such as abort", who, since)
	}
	remedy := "exclude /robots.txt from the challenge"
	if w.Own && w.Status == 200 { // it may as well be an application that answers all paths with its page
		remedy = "let /robots.txt answer with a text file or 404, and exclude it from a challenge"
	}
	return fmt.Sprintf("%s gets a web page (status %d) instead of robots.txt since %s; %s", who, w.Status, since, remedy)
}

// Bounds of a Deliveries.
const (
	maxDeliverySites = 4096
	maxFetchers      = 64 // of a site
	// enoughNetworks is from how many networks unverified clients have to agree.
	enoughNetworks = 3
	// maxLocation bounds the part of a redirect that is kept, in bytes.
	maxLocation = 200
	// deliveryLasts is how long a response counts if the crawler does not return.
	deliveryLasts = 7 * 24 * time.Hour
)

// Deliveries notes which crawlers get something else instead of a robots.txt. It holds a
// bounded number of sites and crawlers, and is safe for concurrent use. The zero Deliveries is
// empty.
type Deliveries struct {
	mu    sync.Mutex
	sites map[string]*deliveries
}

// deliveries are those of one site.
type deliveries struct {
	own      Substitute // what the guard's own last fetch got
	withheld []*delivery
}

// delivery is what one crawler got.
type delivery struct {
	Withheld
	last      time.Time
	bad, good []netip.Prefix // networks of unverified clients, enoughNetworks at most
}

// isFinding reports whether the responses are a finding: one of a verified crawler is, or one
// that the guard's own fetch or the self-test gets too, or those to clients of several networks.
func (d *delivery) isFinding(own Substitute) bool {
	return d.Verified || d.isTested() || d.Instead == own || len(d.bad) >= enoughNetworks
}

// testNetwork stands for the self-test among the networks of unverified clients. It is reserved
// for documentation (RFC 5737), so no client has it.
var testNetwork = netip.MustParsePrefix("192.0.2.0/24")

// isTested reports whether the last self-test got something else instead of the file.
func (d *delivery) isTested() bool { return slices.Contains(d.bad, testNetwork) }

// Fetched notes what the guard's own fetch of the robots.txt of a site got.
func (x *Deliveries) Fetched(site string, r RobotsResponse) {
	instead, isFile := r.Substitute()
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.site(site, instead != NoSubstitute); s != nil && (isFile || instead != NoSubstitute) {
		s.own = instead
	}
}

// Note notes what a crawler got. Clients with a spoofed name must not be noted.
func (x *Deliveries) Note(f Fetcher, r RobotsResponse, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if d := x.note(f, r, now); d != nil {
		d.Answers++
	}
}

// Test notes what the self-test got by the name of a crawler, at a site that sends browsers a
// robots.txt. It does not count as an answer to the crawler.
func (x *Deliveries) Test(f Fetcher, r RobotsResponse, now time.Time) {
	f.Network = testNetwork
	x.mu.Lock()
	defer x.mu.Unlock()
	x.note(f, r, now)
}

// note notes a response, and returns the delivery if the client got something else than the
// file. x.mu must be held.
func (x *Deliveries) note(f Fetcher, r RobotsResponse, now time.Time) *delivery {
	instead, isFile := r.Substitute()
	s := x.site(f.Site, instead != NoSubstitute)
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.withheld, func(d *delivery) bool { return d.Token == f.Token })
	switch {
	case instead != NoSubstitute:
		if i < 0 {
			i = s.add(&delivery{Withheld: Withheld{Fetcher: f, Since: now}})
		}
		d := s.withheld[i]
		d.Instead, d.Status, d.Location, d.last = instead, r.Status, r.Location[:min(len(r.Location), maxLocation)], now
		d.Verified, d.Network = d.Verified || f.Verified, netip.Prefix{}
		d.good = nil
		if !f.Verified {
			d.bad = withNetwork(d.bad, f.Network)
		}
		return d
	case i >= 0 && isFile && s.withheld[i].endsBy(f):
		s.withheld = slices.Delete(s.withheld, i, i+1)
	}
	return nil
}

// endsBy notes that a client got the file, and reports whether that ends the finding. What a
// verified crawler got is not refuted by an unverified client.
func (d *delivery) endsBy(f Fetcher) bool {
	switch {
	case f.Verified:
		return true
	case d.Verified:
		return false
	}
	d.bad = slices.DeleteFunc(d.bad, func(n netip.Prefix) bool { return n == f.Network })
	d.good = withNetwork(d.good, f.Network)
	return len(d.bad) == 0 || len(d.good) >= enoughNetworks
}

// withNetwork adds a network to a list of enoughNetworks at most.
func withNetwork(list []netip.Prefix, n netip.Prefix) []netip.Prefix {
	if len(list) >= enoughNetworks || slices.Contains(list, n) {
		return list
	}
	return append(list, n)
}

// site returns the deliveries of a site, nil if there are none. With add it makes them while
// there is room. x.mu must be held.
func (x *Deliveries) site(name string, add bool) *deliveries {
	s := x.sites[name]
	if s == nil && add && len(x.sites) < maxDeliverySites {
		if x.sites == nil {
			x.sites = make(map[string]*deliveries)
		}
		s = new(deliveries)
		x.sites[name] = s
	}
	return s
}

// add adds a crawler and returns its index. It takes the place of the one that is least
// certain: unverified, and noted longest ago.
func (s *deliveries) add(d *delivery) int {
	if len(s.withheld) < maxFetchers {
		s.withheld = append(s.withheld, d)
		return len(s.withheld) - 1
	}
	least := 0
	for i, other := range s.withheld {
		if lesser := s.withheld[least]; other.Verified != lesser.Verified && lesser.Verified || other.Verified == lesser.Verified && other.last.Before(lesser.last) {
			least = i
		}
	}
	s.withheld[least] = d
	return least
}

// Find returns the findings of a site, of all for "", and forgets what is too old.
func (x *Deliveries) Find(site string, now time.Time) (found []Withheld) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for name, s := range x.sites {
		s.withheld = slices.DeleteFunc(s.withheld, func(d *delivery) bool { return now.Sub(d.last) >= deliveryLasts })
		if len(s.withheld) == 0 && s.own == NoSubstitute {
			delete(x.sites, name)
		}
		for _, d := range s.withheld {
			if d.isFinding(s.own) && (site == "" || site == name) {
				w := d.Withheld
				w.Own, w.Tested = d.Instead == s.own, d.isTested()
				found = append(found, w)
			}
		}
	}
	slices.SortFunc(found, func(a, b Withheld) int { return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.Token, b.Token)) })
	return found
}
