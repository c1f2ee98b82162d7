package guard

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/addr"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// recordForAudit records for the response audit whether a crawler got the robots.txt or another
// response. Spoofed and unregistered clients are ignored, because a site may refuse these. A
// redirect to the robots.txt is not another response. isPage reports whether the response is an
// HTML page.
func (g *Guard) recordForAudit(f *robotsRequest, response robotsResponse, isPage func() bool) {
	j := f.j
	if j.Verification == verify.Spoofed || !j.Client.Class.IsCrawler() || j.KnownName() == "" || f.r.Method != http.MethodGet || !f.isPlain || !f.isAnonymous {
		return
	}
	got := responseaudit.RobotsResponse{Status: response.status, Location: response.location, IsHTML: isPage()}
	path, _, _ := strings.Cut(resolveRedirectTarget(response.location, j.Site.OwnKey()), "?")
	got.IsLoop = path == "/robots.txt"
	if entry := g.state.Cache.Get(j.Site.Key); entry != nil && got.Location != "" {
		if state := entry.State(); state != nil && len(state.RedirectTargets) > 0 && state.Current != nil && state.Current.Robots.Restricts() {
			// The redirects lead to a robots.txt with rules, as the guard's own fetch shows. So the
			// redirect is not another response. /robots.txt stands for its target.
			got.Location, got.IsLoop = "/robots.txt", false
		}
	}
	g.state.withheldResponses.RecordResponse(responseaudit.RobotsFetcher{
		Site: j.Site.Label, Token: j.KnownName(), Class: j.Client.Class.String(), Network: addr.NetworkOfAddr(site.ClientAddr(f.r)),
		IsSearchEngine: judge.IsSearchEngine(j.Client.Class, j.Verification), IsVerified: j.Verification == verify.Verified,
	}, got, time.Now())
}

// wrapToRecordFetch returns fetch with the addition that the response to the guard is recorded for
// the response audit.
func (g *Guard) wrapToRecordFetch(s *site.Site, fetch func() policy.FetchResult) func() policy.FetchResult {
	if g.SourceKey != "" {
		return fetch
	}
	label := s.Label
	return func() policy.FetchResult {
		answer := fetch()
		if got, ok := site.FirstResponse(answer); ok {
			g.state.withheldResponses.RecordGuardFetch(label, got)
		}
		return answer
	}
}

// SelfTestSource returns the source with which the self-test fetches the robots.txt through the
// server. It is nil for a guard with decide.
func (g *Guard) SelfTestSource() *site.ServerSource {
	if g.ForwardAuth != nil {
		return nil
	}
	if source, ok := g.Source.(*site.ServerSource); ok {
		return source
	}
	return site.NewServerSource(false)
}

// RecordSelfTest records the response to a request of the self-test for robots.txt with the
// User-Agent of a crawler. It must be called only for sites that serve the robots.txt to browsers.
func (s *State) RecordSelfTest(f responseaudit.RobotsFetcher, got responseaudit.RobotsResponse) {
	s.withheldResponses.RecordSelfTest(f, got, time.Now())
}

// WithheldResponses returns the crawlers to which sites send another response instead of the
// robots.txt.
func (s *State) WithheldResponses(now time.Time) []responseaudit.WithheldFinding {
	return s.withheldResponses.Find("", now)
}

// WithheldFrom describes the crawlers that get another response instead of the robots.txt with a
// key, one text for each.
func (s *State) WithheldFrom(key policy.Key) (found []string) {
	now := time.Now()
	labels := slices.Collect(maps.Keys(maps.Collect(s.siteRecords.recordsWithKey(key))))
	if key.Source == "" {
		labels = []string{site.NewSite(key).Label}
	}
	for _, label := range labels {
		for _, w := range s.withheldResponses.Find(label, now) {
			found = append(found, w.Description(now))
		}
	}
	return found
}
