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
	url, host    string // host is "" for the host of the URL; each may have a HostPlaceholder
	outbound     *outbound
	allowPrivate bool
}

// NewURL returns the source at a URL, which is checked when it is fetched. host is the host to
// request there, "" for the host of the URL. allowPrivate lets the URL and its redirects lead to
// addresses in the owner's network.
func NewURL(rawURL, host string, allowPrivate bool) *URL {
	return &URL{url: rawURL, host: host, outbound: newOutbound(allowPrivate), allowPrivate: allowPrivate}
}

// behindURL separates the URL and the host in a key.
const behindURL = " host "

// Key returns the key for all hosts, as a Caddyfile spells the location: the URL, and the host if
// there is one. [KeyFor] returns the key of one host.
func (s *URL) Key() string {
	if s.host == "" {
		return s.url
	}
	return s.url + behindURL + s.host
}

// errChosenByClients is why nothing is read for a host that only clients name.
var errChosenByClients = errors.New("a client has chosen this host, which may be any inside of your network; name it behind decide, or do without allow_private")

// Prepare implements [Source]. ok is always true: no request is needed.
func (s *URL) Prepare(_ *http.Request, key policy.Key) (fetch Fetch, ok bool) {
	if !strings.Contains(s.Key(), HostPlaceholder) {
		return s.Fetch, true
	}
	if s.allowPrivate && ChoosesServer(s.url) && key.ForwardedHost != "" && key.Site == "" {
		return func(context.Context, *policy.Version) policy.Answer { return policy.Answer{Err: errChosenByClients} }, true
	}
	rawURL, host, _ := strings.Cut(key.Source, behindURL)
	return s.fetchFrom(rawURL, host), true
}

// Fetch reads the URL, and where it redirects to, as a [Fetch] does.
func (s *URL) Fetch(ctx context.Context, have *policy.Version) policy.Answer {
	return s.fetchFrom(s.url, s.host)(ctx, have)
}

// fetchFrom returns the fetch of a URL with a host, which follows redirects.
func (s *URL) fetchFrom(rawURL, host string) Fetch {
	return onceMore(func(ctx context.Context, have *policy.Version) policy.Answer {
		u, err := url.Parse(rawURL)
		if err != nil {
			return policy.Answer{Err: fmt.Errorf("source: %w", err)}
		}
		return Follow(ctx, u, nil, conditionsOf(have), func(ctx context.Context, at *url.URL, conditions http.Header) policy.Answer {
			if at == u && host != "" {
				return s.outbound.getAs(ctx, u, host, conditions)
			}
			return s.outbound.get(ctx, at, conditions)
		})
	})
}
