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

// recordForAudit records whether a crawler gets another response instead of the robots.txt. It
// observes registered crawlers except spoofed clients, because a site may refuse these. A redirect
// followed by the guard's own fetch to the file is not another response. isPage reports whether the
// response is an HTML page.
func (g *Guard) recordForAudit(f *robotsFetch, response robotsResponse, isPage func() bool) {
	j := f.j
	if j.Verification == verify.Spoofed || !j.Client.Class.IsCrawler() || j.KnownName() == "" || f.r.Method != http.MethodGet || !f.isPlain || !f.isAnonymous {
		return
	}
	got := responseaudit.RobotsResponse{Status: response.status, Location: response.location, IsHTML: isPage()}
	path, _, _ := strings.Cut(redirectTargetOf(response.location, j.Site.OwnKey()), "?")
	got.IsLoop = path == "/robots.txt"
	if entry := g.state.Cache.Get(j.Site.Key); entry != nil && got.Location != "" {
		if state := entry.State(); state != nil && len(state.RedirectTargets) > 0 && state.Current != nil && state.Current.Robots.Restricts() {
			got.Location, got.IsLoop = "/robots.txt", false
		}
	}
	g.state.withheldResponses.RecordResponse(responseaudit.Fetcher{
		Site: j.Site.Label, Token: j.KnownName(), Class: j.Client.Class.String(), Network: addr.NetworkOfAddr(site.ClientAddr(f.r)),
		IsSearchEngine: judge.IsSearchEngine(j.Client.Class, j.Verification), IsVerified: j.Verification == verify.Verified,
	}, got, time.Now())
}

// recordOwnFetch wraps fetch and records the guard's own response at a site.
func (g *Guard) recordOwnFetch(s *site.Site, fetch func() policy.FetchResult) func() policy.FetchResult {
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

// SelfTestSource returns how the self-test fetches the robots.txt, or nil for a guard with decide.
func (g *Guard) SelfTestSource() *site.ServerSource {
	if g.ForwardAuth != nil {
		return nil
	}
	if source, ok := g.Source.(*site.ServerSource); ok {
		return source
	}
	return site.NewServerSource(false)
}

// RecordSelfTest records the response to a self-test with the User-Agent of a crawler. The site must
// serve browsers a robots.txt.
func (s *State) RecordSelfTest(f responseaudit.Fetcher, got responseaudit.RobotsResponse) {
	s.withheldResponses.RecordSelfTest(f, got, time.Now())
}

// WithheldResponses returns the crawlers that get another response instead of a robots.txt.
func (s *State) WithheldResponses(now time.Time) []responseaudit.Withheld {
	return s.withheldResponses.Find("", now)
}

// WithheldFrom describes the crawlers that get another response instead of the robots.txt with a key.
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
