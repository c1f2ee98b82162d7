package origin

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// URL reads the robots.txt at a fixed URL, whatever site the request is for.
type URL struct {
	url      string
	outbound *outbound
}

// NewURL returns the source at a URL, which is checked when it is fetched.
// allowPrivate lets it and its redirects lead to addresses inside of the owner's
// network.
func NewURL(rawURL string, allowPrivate bool) *URL {
	return &URL{url: rawURL, outbound: newOutbound(allowPrivate)}
}

// Prepare implements [Source]. ok is always true: no request is needed.
func (s *URL) Prepare(*http.Request, policy.Key, Witness) (fetch Fetch, ok bool) {
	return s.Fetch, true
}

// Fetch reads the URL, and where it redirects to, as a [Fetch] does.
func (s *URL) Fetch(ctx context.Context, have *policy.Version) policy.Answer {
	u, err := url.Parse(s.url)
	if err != nil {
		return policy.Answer{Err: fmt.Errorf("source: %w", err)}
	}
	return follow(ctx, u, conditionsOf(have), s.outbound.get)
}
