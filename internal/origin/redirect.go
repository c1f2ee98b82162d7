package origin

import (
	"context"
	"net/http"
	"net/url"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Follow gets a URL and follows redirects as RFC 9309 section 2.3.1.2 requires. It returns the
// redirect itself after the fifth redirect, for a loop, and for an unusable Location. The site then
// has no robots.txt.
//
// Each redirect causes a new GET without fields of the previous request. A redirect from https to
// http is allowed, since the RFC wants redirects followed "even across authorities" and crawlers do
// so.
//
// Only the first request has conditions, since 304 from another URL might mean another file. Follow
// also drops the validators of a file that was found after a redirect.
//
// isOwn reports whether a URL belongs to the site. A nil isOwn means that no URL does.
func Follow(ctx context.Context, u *url.URL, isOwn func(*url.URL) bool, conditions http.Header, get func(context.Context, *url.URL, http.Header) policy.Answer) policy.Answer {
	seen := make(map[string]bool)
	var via []string
	for {
		seen[u.String()] = true
		answer := get(ctx, u, conditions)
		if mayBeOlder(answer, conditions) {
			answer = get(ctx, u, nil)
		}
		next := redirectTarget(u, answer)
		if next == nil || seen[next.String()] || len(seen) > policy.MaxRedirects {
			if len(seen) > 1 && answer.Header != nil {
				answer.Header = answer.Header.Clone()
				answer.Header.Del("ETag")
				answer.Header.Del("Last-Modified")
			}
			answer.Via = via
			return answer
		}
		u, conditions = next, nil
		if isOwn != nil && isOwn(u) {
			via = append(via, u.RequestURI())
		} else {
			via = append(via, u.String())
		}
	}
}

// conditionsOf returns the header fields of a conditional request for a stored file (RFC 9110
// section 13.1). It returns nil if the file has no validators.
func conditionsOf(have *policy.Version) http.Header {
	switch {
	case have == nil:
		return nil
	case have.ETag != "":
		return http.Header{"If-None-Match": {have.ETag}}
	case have.LastModified != "":
		return http.Header{"If-Modified-Since": {have.LastModified}}
	}
	return nil
}

// mayBeOlder reports whether a 304 response may mean an older file than the stored file, for
// example after a rollback.
func mayBeOlder(answer policy.Answer, conditions http.Header) bool {
	since := conditions.Get("If-Modified-Since")
	return since != "" && answer.Status == http.StatusNotModified && answer.Header.Get("Last-Modified") != since
}

// redirectTarget returns the target of a redirect, or nil.
func redirectTarget(u *url.URL, answer policy.Answer) *url.URL {
	location := answer.Header.Get("Location")
	if answer.Err != nil || answer.Status < 300 || answer.Status > 399 || location == "" || answer.Status == http.StatusNotModified {
		return nil
	}
	next, err := u.Parse(location)
	if err != nil || next.Host == "" || next.Scheme != "http" && next.Scheme != "https" {
		return nil
	}
	// Send no credentials. Servers never see a fragment.
	next.User = nil
	next.Fragment, next.RawFragment = "", ""
	if next.Path == "" {
		next.Path = "/"
	}
	return next
}
