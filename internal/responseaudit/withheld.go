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

// RobotsSubstitute is what a crawler gets in place of a robots.txt.
type RobotsSubstitute uint8

// The substitutes.
const (
	NoSubstitute      RobotsSubstitute = iota
	RedirectElsewhere                  // RedirectElsewhere is a redirect to another page, such as a login page.
	NoResponse                         // NoResponse means that the connection is closed without a response.
	WebPage                            // WebPage is an HTML page, such as a challenge.
)

// RobotsResponse is a response to GET /robots.txt.
type RobotsResponse struct {
	Status   int    // Status is 0 if the connection was closed without a response.
	Location string // Location is the Location of a redirect.
	IsLoop   bool   // IsLoop is true if the redirect leads to no file, for example to the same robots.txt again.
	IsHTML   bool   // IsHTML is true if the body is an HTML page.
}

// Substitute returns what the response is in place of a robots.txt. isFile reports whether the
// response is a robots.txt, or says that there is none. For other responses, for example a redirect
// to a robots.txt or an error without a page, both results are zero.
func (r RobotsResponse) Substitute() (substitute RobotsSubstitute, isFile bool) {
	switch {
	case r.Status == 0:
		return NoResponse, false
	case r.Status == 304, r.Status == 404, r.Status == 410:
		return NoSubstitute, true
	case r.Status >= 300 && r.Status < 400:
		if r.Location != "" && (r.IsLoop || !isRobotsURL(r.Location)) {
			return RedirectElsewhere, false
		}
		return NoSubstitute, false
	case r.IsHTML && (r.Status < 500 || r.Status == 503): // Other server errors have HTML bodies too.
		return WebPage, false
	}
	return NoSubstitute, r.Status >= 200 && r.Status < 300
}

// isRobotsURL reports whether a URL can be that of a robots.txt.
func isRobotsURL(location string) bool {
	u, err := url.Parse(location)
	if err != nil {
		return false
	}
	path := strings.ToLower(u.Path)
	return strings.HasSuffix(path, ".txt") || strings.Contains(path, "robots")
}

// RobotsFetcher is a crawler that requested a robots.txt.
type RobotsFetcher struct {
	Site           string
	Token          string
	Class          string
	IsSearchEngine bool // IsSearchEngine is true for a search engine.
	IsVerified     bool
	Network        netip.Prefix
}

// WithheldFinding is a crawler that gets something else in place of the robots.txt, such as a login
// page.
type WithheldFinding struct {
	RobotsFetcher // The Network of the fetcher is zero.
	Substitute    RobotsSubstitute
	Status        int
	Location      string
	Since         time.Time
	Responses     uint64 // Responses is the number of such responses.
	GuardGetsSame bool   // GuardGetsSame is true if the guard's own fetch gets the same response.
	// SelfTestGetsSame is true if the self-test with the crawler's name gets the same response.
	SelfTestGetsSame bool
}

// Description describes the finding with its remedy, see [WithheldFinding.ProblemAndRemedy].
func (w *WithheldFinding) Description(now time.Time) string {
	problem, remedy := w.ProblemAndRemedy(now)
	return problem + "; " + remedy
}

// ProblemAndRemedy describes the finding, such as "GPTBot gets a web page (status 403) instead of
// robots.txt since 12:00 UTC", and what to do, such as "exclude /robots.txt from the challenge".
func (w *WithheldFinding) ProblemAndRemedy(now time.Time) (problem, remedy string) {
	who, since := w.Token, w.Since.UTC().Format("15:04 UTC")
	switch {
	case w.IsVerified:
	case w.SelfTestGetsSame:
		who = "a client named " + w.Token
	default:
		who = "an unverified client named " + w.Token
	}
	if now.Sub(w.Since) >= 24*time.Hour {
		since = w.Since.UTC().Format("15:04 UTC on 2 January")
	}
	switch w.Substitute {
	case RedirectElsewhere:
		return fmt.Sprintf("%s is redirected to %s instead of robots.txt since %s", who, w.Location, since), "exclude /robots.txt from the login or challenge"
	case NoResponse:
		return fmt.Sprintf("%s gets no response for robots.txt since %s", who, since), "exclude /robots.txt from the handler that closes the connection, such as abort"
	}
	remedy = "exclude /robots.txt from the challenge"
	if w.GuardGetsSame && w.Status == 200 { // This can be an application that serves its page for all paths.
		remedy = "serve a text file or 404 at /robots.txt, and exclude the path from any challenge"
	}
	return fmt.Sprintf("%s gets a web page (status %d) instead of robots.txt since %s", who, w.Status, since), remedy
}

// These are bounds of a WithheldTracker.
const (
	maxTrackedSites    = 4096
	maxCrawlersPerSite = 64 // maxCrawlersPerSite is the maximum number of crawlers of a site.
	// minNetworks is the number of networks in which unverified clients must get no robots.txt for
	// a finding, if nothing else confirms it. The robots.txt in as many networks ends the finding.
	minNetworks = 3
	// maxLocationLength is the maximum stored length of a redirect in bytes.
	maxLocationLength = 200
	// responseLifetime is the time after which a response expires if the crawler does not return.
	responseLifetime = 7 * 24 * time.Hour
)

// WithheldTracker records which crawlers get something else in place of the robots.txt. Its memory
// is bounded. It is safe for concurrent use. The zero value is empty.
type WithheldTracker struct {
	mu    sync.Mutex
	sites map[string]*siteResponses
}

// siteResponses are the crawlers of one site that got no robots.txt.
type siteResponses struct {
	guardSubstitute RobotsSubstitute // guardSubstitute is what the guard's own last fetch got.
	crawlers        []*crawlerResponses
}

// crawlerResponses are the responses to one crawler that got no robots.txt.
type crawlerResponses struct {
	WithheldFinding
	lastResponse time.Time
	// These are the networks of unverified clients that got no robots.txt, and that got one. Each list
	// has at most minNetworks and testNetwork.
	withheldNetworks, servedNetworks []netip.Prefix
}

// isFinding reports whether the responses are a finding. One condition is enough: the crawler is
// verified, the self-test or the guard's own fetch got the same response, or clients of several
// networks did. guard is what the guard got.
func (d *crawlerResponses) isFinding(guard RobotsSubstitute) bool {
	return d.IsVerified || d.isConfirmedBySelfTest() || d.Substitute == guard || len(d.withheldNetworks) >= minNetworks
}

// testNetwork represents the self-test in a list of networks of unverified clients. It is reserved
// for documentation (RFC 5737), so no client has it.
var testNetwork = netip.MustParsePrefix("192.0.2.0/24")

// isConfirmedBySelfTest reports whether the last self-test with the crawler's name got no
// robots.txt either.
func (d *crawlerResponses) isConfirmedBySelfTest() bool {
	return slices.Contains(d.withheldNetworks, testNetwork)
}

// RecordGuardFetch records the response to the guard's own request for a site's robots.txt.
func (x *WithheldTracker) RecordGuardFetch(site string, r RobotsResponse) {
	instead, isFile := r.Substitute()
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.getOrCreateSite(site, instead != NoSubstitute); s != nil && (isFile || instead != NoSubstitute) {
		s.guardSubstitute = instead
	}
}

// RecordResponse records the response to a crawler's request for robots.txt. Do not call it for
// spoofed clients.
func (x *WithheldTracker) RecordResponse(f RobotsFetcher, r RobotsResponse, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if d := x.recordResponse(f, r, now); d != nil {
		d.Responses++
	}
}

// RecordSelfTest records the response to a self-test, a request for robots.txt with a crawler's
// name. The site must serve browsers a robots.txt. The self-test is not counted as a response to
// the crawler.
func (x *WithheldTracker) RecordSelfTest(f RobotsFetcher, r RobotsResponse, now time.Time) {
	f.Network = testNetwork
	x.mu.Lock()
	defer x.mu.Unlock()
	x.recordResponse(f, r, now)
}

// recordResponse records a response to f. If f got something else in place of a robots.txt, the
// result is its entry, else nil. The caller must have locked x.mu.
func (x *WithheldTracker) recordResponse(f RobotsFetcher, r RobotsResponse, now time.Time) *crawlerResponses {
	instead, isFile := r.Substitute()
	s := x.getOrCreateSite(f.Site, instead != NoSubstitute)
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.crawlers, func(d *crawlerResponses) bool { return d.Token == f.Token })
	switch {
	case instead != NoSubstitute:
		if i < 0 {
			i = s.addCrawler(&crawlerResponses{WithheldFinding: WithheldFinding{RobotsFetcher: f, Since: now}})
		}
		d := s.crawlers[i]
		d.Substitute, d.Status, d.Location, d.lastResponse = instead, r.Status, r.Location[:min(len(r.Location), maxLocationLength)], now
		d.IsVerified, d.Network = d.IsVerified || f.IsVerified, netip.Prefix{}
		d.servedNetworks = nil
		if !f.IsVerified {
			d.withheldNetworks = addNetwork(d.withheldNetworks, f.Network)
		}
		return d
	case i >= 0 && isFile && s.crawlers[i].recordFile(f):
		s.crawlers = slices.Delete(s.crawlers, i, i+1)
	}
	return nil
}

// recordFile records that a client got the robots.txt, and reports whether this ends the finding.
// An unverified client cannot end the finding about a verified crawler.
func (d *crawlerResponses) recordFile(f RobotsFetcher) bool {
	switch {
	case f.IsVerified:
		return true
	case d.IsVerified:
		return false
	}
	d.withheldNetworks = slices.DeleteFunc(d.withheldNetworks, func(n netip.Prefix) bool { return n == f.Network })
	d.servedNetworks = addNetwork(d.servedNetworks, f.Network)
	return len(d.withheldNetworks) == 0 || len(d.servedNetworks) >= minNetworks
}

// addNetwork adds a network to a list. The list has each network once, and at most minNetworks. It
// has room for testNetwork in addition, because a self-test is a finding of its own.
func addNetwork(list []netip.Prefix, n netip.Prefix) []netip.Prefix {
	if slices.Contains(list, n) || len(list) >= minNetworks && n != testNetwork {
		return list
	}
	return append(list, n)
}

// getOrCreateSite returns the entry of a site, or nil. If create is true, it creates a missing
// entry while there is room. The caller must have locked x.mu.
func (x *WithheldTracker) getOrCreateSite(name string, create bool) *siteResponses {
	s := x.sites[name]
	if s == nil && create && len(x.sites) < maxTrackedSites {
		if x.sites == nil {
			x.sites = make(map[string]*siteResponses)
		}
		s = new(siteResponses)
		x.sites[name] = s
	}
	return s
}

// addCrawler adds a crawler, and returns its index. If the list is full, the crawler replaces the
// oldest one, unverified crawlers first.
func (s *siteResponses) addCrawler(d *crawlerResponses) int {
	if len(s.crawlers) < maxCrawlersPerSite {
		s.crawlers = append(s.crawlers, d)
		return len(s.crawlers) - 1
	}
	least := 0
	for i, other := range s.crawlers {
		if lesser := s.crawlers[least]; other.IsVerified != lesser.IsVerified && lesser.IsVerified || other.IsVerified == lesser.IsVerified && other.lastResponse.Before(lesser.lastResponse) {
			least = i
		}
	}
	s.crawlers[least] = d
	return least
}

// Find returns the findings about a site, or about all sites if site is "". It also removes entries
// that have expired.
func (x *WithheldTracker) Find(site string, now time.Time) (found []WithheldFinding) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for name, s := range x.sites {
		s.crawlers = slices.DeleteFunc(s.crawlers, func(d *crawlerResponses) bool { return now.Sub(d.lastResponse) >= responseLifetime })
		if len(s.crawlers) == 0 && s.guardSubstitute == NoSubstitute {
			delete(x.sites, name)
		}
		for _, d := range s.crawlers {
			if d.isFinding(s.guardSubstitute) && (site == "" || site == name) {
				w := d.WithheldFinding
				w.GuardGetsSame, w.SelfTestGetsSame = d.Substitute == s.guardSubstitute, d.isConfirmedBySelfTest()
				found = append(found, w)
			}
		}
	}
	slices.SortFunc(found, func(a, b WithheldFinding) int {
		return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.Token, b.Token))
	})
	return found
}
