package site

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// URLSource is a source that fetches the robots.txt of all sites from one URL. If the URL or its
// Host contains {host}, each host has its own robots.txt.
type URLSource struct {
	url, host    string // An empty host means the host of the URL. Both may contain HostPlaceholder.
	outbound     *outboundClient
	allowPrivate bool
}

// NewURLSource returns the source for a URL. The first fetch checks the URL. host is the Host of
// the request, or empty for the host of the URL. allowPrivate permits addresses in the owner's
// network for the URL and its redirects.
func NewURLSource(rawURL, host string, allowPrivate bool) *URLSource {
	return &URLSource{url: rawURL, host: host, outbound: newOutboundClient(allowPrivate), allowPrivate: allowPrivate}
}

// hostSeparator separates the URL and the host in a key.
const hostSeparator = " host "

// Key returns the source key for all hosts: the URL, and the Host if set. [KeyForHost] returns the
// source key of a single host.
func (s *URLSource) Key() string {
	if s.host == "" {
		return s.url
	}
	return s.url + hostSeparator + s.host
}

// errUnconfiguredHost is the error for a host named only by clients.
var errUnconfiguredHost = errors.New("the client chose this host, which may be any host in your network; add the host to the option decide, or remove allow_private")

// Prepare implements [Source]. ok is always true, since the URL needs no request.
func (s *URLSource) Prepare(_ *http.Request, key policy.Key) (fetch FetchFunc, ok bool) {
	if !strings.Contains(s.Key(), HostPlaceholder) {
		return s.Fetch, true
	}
	// A key with a ForwardedHost and without a Site is for a host that only the client names.
	if s.allowPrivate && HostSelectsServer(s.url) && key.ForwardedHost != "" && key.Site == "" {
		return func(context.Context, *policy.Version) policy.FetchResult {
			return policy.FetchResult{Err: errUnconfiguredHost}
		}, true
	}
	rawURL, host, _ := strings.Cut(key.Source, hostSeparator)
	return s.newFetch(rawURL, host), true
}

// Fetch fetches the URL and follows redirects, as described at [FetchFunc].
func (s *URLSource) Fetch(ctx context.Context, stored *policy.Version) policy.FetchResult {
	return s.newFetch(s.url, s.host)(ctx, stored)
}

// newFetch returns a FetchFunc that requests a URL, with host as the Host if set, and follows
// redirects.
func (s *URLSource) newFetch(rawURL, host string) FetchFunc {
	return func(ctx context.Context, stored *policy.Version) policy.FetchResult {
		u, err := url.Parse(rawURL)
		if err != nil {
			return policy.FetchResult{Err: fmt.Errorf("source: %w", err)}
		}
		return FollowRedirects(ctx, u, nil, conditionalHeader(stored), func(ctx context.Context, target *url.URL, conditions http.Header) policy.FetchResult {
			// FollowRedirects passes u itself for the first request only.
			if target == u && host != "" {
				return s.outbound.getWithHost(ctx, u, host, conditions)
			}
			return s.outbound.get(ctx, target, conditions)
		})
	}
}

// HostPlaceholder stands for the host of the request in a location.
const HostPlaceholder = "{host}"

// KeyForHost returns the source key of a single host: key with each {host} replaced.
func KeyForHost(key, host string) string { return strings.ReplaceAll(key, HostPlaceholder, host) }

// IsKeyOfTemplate reports whether key is the source key of any host for a template with {host}.
// Without {host} in the template, both must be equal.
func IsKeyOfTemplate(key, template string) bool {
	prefix, _, ok := strings.Cut(template, HostPlaceholder)
	if !ok || !strings.HasPrefix(key, prefix) {
		return key == template
	}
	for end := len(prefix); end <= len(key); end++ {
		if KeyForHost(template, key[len(prefix):end]) == key {
			return true
		}
	}
	return false
}

// HostSelectsServer reports whether the authority of a source key contains {host}, so that the host
// of a request decides which server gets the fetch.
func HostSelectsServer(key string) bool {
	_, rest, _ := strings.Cut(key, "://")
	authority, _, _ := strings.Cut(rest, "/")
	return strings.Contains(authority, HostPlaceholder)
}
