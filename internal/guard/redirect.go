package guard

import (
	"net/url"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// maxRedirectTargets bounds the known redirect targets of robots.txt at other hosts.
const maxRedirectTargets = 1024

// resolveRedirectTarget returns the URL to which a response for robots.txt redirects, in the form
// of [policy.FetchResult.RedirectTargets]. location is the Location field. It returns "" if
// location is empty or invalid.
func resolveRedirectTarget(location string, own *policy.Key) string {
	base := url.URL{Scheme: site.SchemeOf(own.IsHTTPS), Host: own.Host, Path: "/robots.txt"}
	to, err := base.Parse(location)
	if location == "" || err != nil {
		return ""
	}
	to.Fragment, to.RawFragment, to.User = "", "", nil
	if to.Path == "" {
		to.Path = "/" // This is the URL as clients request it.
	}
	if to.Scheme == base.Scheme && site.NormalizeHost(to.Host, own.IsHTTPS) == own.Host {
		return to.RequestURI()
	}
	return to.String()
}

// recordRedirectTargets records the URLs at other hosts to which the robots.txt of a configured
// site redirects. Guards allow these URLs, because a crawler that cannot fetch one assumes a site
// without rules.
func (g *Guard) recordRedirectTargets(s *site.Site, via []string) {
	if s.CacheSegment != policy.ConfiguredHosts {
		return
	}
	for _, place := range via {
		if !strings.HasPrefix(place, "/") {
			g.state.redirectTargets.Add(place, struct{}{})
		}
	}
}

// isOtherSitesRedirectTarget reports whether the robots.txt of another site redirects to this URL
// of s.
func (g *Guard) isOtherSitesRedirectTarget(s *site.Site, target string) bool {
	if g.state.redirectTargets.Len() == 0 {
		return false
	}
	own := s.OwnKey()
	return g.state.redirectTargets.Contains(site.SchemeOf(own.IsHTTPS) + "://" + own.Host + target)
}

func newRedirectTargets() *lru.Cache[string, struct{}] {
	places, _ := lru.New[string, struct{}](maxRedirectTargets) // This fails only for sizes below 1.
	return places
}
