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

// resolveRedirectTarget returns the URL of a Location in a response for robots.txt, in the form of
// [policy.FetchResult.RedirectTargets], or "".
func resolveRedirectTarget(location string, own *policy.Key) string {
	base := url.URL{Scheme: site.SchemeOf(own.Secure), Host: own.Host, Path: "/robots.txt"}
	to, err := base.Parse(location)
	if location == "" || err != nil {
		return ""
	}
	to.Fragment, to.RawFragment, to.User = "", "", nil
	if to.Path == "" {
		to.Path = "/" // as requested by clients
	}
	if to.Scheme == base.Scheme && site.NormalizeHost(to.Host, own.Secure) == own.Host {
		return to.RequestURI()
	}
	return to.String()
}

// recordRedirectTargets records the redirect targets at other hosts of a configured site's robots.txt.
// A guard must not refuse a target: the crawler would assume a site without rules.
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

// isOtherSitesRedirectTarget reports whether the robots.txt of another site redirects to this target of a site.
func (g *Guard) isOtherSitesRedirectTarget(s *site.Site, target string) bool {
	if g.state.redirectTargets.Len() == 0 {
		return false
	}
	own := s.OwnKey()
	return g.state.redirectTargets.Contains(site.SchemeOf(own.Secure) + "://" + own.Host + target)
}

func newRedirectTargets() *lru.Cache[string, struct{}] {
	places, _ := lru.New[string, struct{}](maxRedirectTargets) // fails for sizes below 1 only
	return places
}
