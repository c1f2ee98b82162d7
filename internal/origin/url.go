package origin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// URL reads the robots.txt at a URL, whatever site the request is for, unless the host
// stands in it.
type URL struct {
	location     Location
	outbound     *outbound
	allowPrivate bool
}

// NewURL returns the source at a URL, which is checked when it is fetched.
// allowPrivate lets it and its redirects lead to addresses inside of the owner's
// network.
func NewURL(rawURL string, allowPrivate bool) *URL {
	return newURL(Location{URL: rawURL}, allowPrivate)
}

func newURL(l Location, allowPrivate bool) *URL {
	return &URL{location: l, outbound: newOutbound(allowPrivate), allowPrivate: allowPrivate}
}

// errChosenByClients is why nothing is read for a host that only clients name.
var errChosenByClients = errors.New("a client has chosen this host, which may be any inside of your network; name it behind decide, or do without allow_private")

// Prepare implements [Source]. ok is always true: no request is needed.
func (s *URL) Prepare(_ *http.Request, key policy.Key) (fetch Fetch, ok bool) {
	l := s.location
	if !l.HasHost() {
		return s.Fetch, true
	}
	if s.allowPrivate && ChoosesServer(l.URL) && key.Forwarded != "" && key.Site == "" {
		return func(context.Context, *policy.Version) policy.Answer { return policy.Answer{Err: errChosenByClients} }, true
	}
	l.URL, l.Host, _ = strings.Cut(key.Source, behindURL)
	return s.fetchFrom(l), true
}

// Fetch reads the URL, and where it redirects to, as a [Fetch] does.
func (s *URL) Fetch(ctx context.Context, have *policy.Version) policy.Answer {
	return s.fetchFrom(s.location)(ctx, have)
}

// fetchFrom returns what reads a URL and where it redirects to.
func (s *URL) fetchFrom(l Location) Fetch {
	return onceMore(func(ctx context.Context, have *policy.Version) policy.Answer {
		u, err := url.Parse(l.URL)
		if err != nil {
			return policy.Answer{Err: fmt.Errorf("source: %w", err)}
		}
		return Follow(ctx, u, nil, conditionsOf(have), func(ctx context.Context, at *url.URL, conditions http.Header) policy.Answer {
			if at == u && l.Host != "" {
				return s.outbound.getAs(ctx, u, l.Host, conditions)
			}
			return s.outbound.get(ctx, at, conditions)
		})
	})
}
