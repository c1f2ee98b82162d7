package site

import (
	"context"
	"net/http"
	"net/url"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// FollowRedirects fetches u with get and follows redirects as RFC 9309 section 2.3.1.2 requires.
// FollowRedirects returns the redirect itself after the fifth redirect, for a loop, and for an
// unusable Location. The site then has no robots.txt.
//
// Each redirect causes a new GET without fields of the previous request. A redirect from https to
// http is allowed, since the RFC wants redirects followed "even across authorities" and crawlers do
// so.
//
// Only the request for u has conditions, since 304 from another URL might mean another file. The
// request is repeated without conditions if 304 may mean an older file. FollowRedirects also drops
// the validators of a file found after a redirect.
//
// isOwnURL reports whether a URL belongs to the site. A nil isOwnURL returns false for every URL.
func FollowRedirects(ctx context.Context, u *url.URL, isOwnURL func(*url.URL) bool, conditions http.Header, get func(context.Context, *url.URL, http.Header) policy.FetchResult) policy.FetchResult {
	visited := make(map[string]bool)
	var redirects []string
	for {
		visited[u.String()] = true
		answer := get(ctx, u, conditions)
		if notModifiedMayBeOlder(answer, conditions) {
			answer = get(ctx, u, nil)
		}
		target := redirectTarget(u, answer)
		if target == nil || visited[target.String()] || len(visited) > policy.MaxRedirects {
			if len(visited) > 1 && answer.Header != nil {
				answer.Header = answer.Header.Clone()
				answer.Header.Del("ETag")
				answer.Header.Del("Last-Modified")
			}
			answer.RedirectTargets = redirects
			return answer
		}
		u, conditions = target, nil
		if isOwnURL != nil && isOwnURL(u) {
			redirects = append(redirects, u.RequestURI())
		} else {
			redirects = append(redirects, u.String())
		}
	}
}

// conditionalHeader returns the header fields of a conditional request for a stored file (RFC 9110
// section 13.1). conditionalHeader returns nil for a file without validators.
func conditionalHeader(stored *policy.Version) http.Header {
	switch {
	case stored == nil:
		return nil
	case stored.ETag != "":
		return http.Header{"If-None-Match": {stored.ETag}}
	case stored.LastModified != "":
		return http.Header{"If-Modified-Since": {stored.LastModified}}
	}
	return nil
}

// notModifiedMayBeOlder reports whether a 304 response may mean an older file than the stored file, for
// example after a rollback.
func notModifiedMayBeOlder(answer policy.FetchResult, conditions http.Header) bool {
	ifModifiedSince := conditions.Get("If-Modified-Since")
	return ifModifiedSince != "" && answer.Status == http.StatusNotModified && answer.Header.Get("Last-Modified") != ifModifiedSince
}

// redirectTarget returns the absolute URL of a redirect's Location, or nil if answer is no redirect
// or the Location is unusable. u is the requested URL.
func redirectTarget(u *url.URL, answer policy.FetchResult) *url.URL {
	location := answer.Header.Get("Location")
	if answer.Err != nil || answer.Status < 300 || answer.Status > 399 || location == "" || answer.Status == http.StatusNotModified {
		return nil
	}
	target, err := u.Parse(location)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return nil
	}
	// Send no credentials. Servers never see a fragment.
	target.User = nil
	target.Fragment, target.RawFragment = "", ""
	if target.Path == "" {
		target.Path = "/"
	}
	return target
}
