package origin

import (
	"context"
	"net/http"
	"net/url"

	"github.com/robotsguard/caddy-robots-guard/policy"
)

// Follow gets a URL and goes where the answers redirect to, as RFC 9309 section
// 2.3.1.2 asks. A redirect that leads no further, be it the sixth, one back to
// where it came from or one without a usable Location, is itself the answer:
// then there is no robots.txt.
//
// Each hop is a new GET without anything from the one before. From https to
// http is allowed: the RFC wants redirects followed "even across authorities",
// and crawlers do it.
//
// Conditions are for the first hop only: elsewhere "not modified" would be said
// of another file than the one that is known. So the validators of a file that
// was found elsewhere are not kept either.
//
// isOwn reports whether a URL is one of the site; nil for never.
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

// conditionsOf returns the header fields that ask whether a copy still holds
// (RFC 9110 section 13.1), nil if there is nothing to ask by.
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

// mayBeOlder reports whether "not modified since" may be said of another file than the one that is
// known: one that is older, as after a rollback.
func mayBeOlder(answer policy.Answer, conditions http.Header) bool {
	since := conditions.Get("If-Modified-Since")
	return since != "" && answer.Status == http.StatusNotModified && answer.Header.Get("Last-Modified") != since
}

// redirectTarget returns where an answer to a request for u redirects to, nil
// if nowhere.
func redirectTarget(u *url.URL, answer policy.Answer) *url.URL {
	location := answer.Header.Get("Location")
	if answer.Err != nil || answer.Status < 300 || answer.Status > 399 || location == "" || answer.Status == http.StatusNotModified {
		return nil
	}
	next, err := u.Parse(location)
	if err != nil || next.Host == "" || next.Scheme != "http" && next.Scheme != "https" {
		return nil
	}
	// Nobody's credentials are sent along, and servers never see a fragment.
	next.User = nil
	next.Fragment, next.RawFragment = "", ""
	if next.Path == "" {
		next.Path = "/"
	}
	return next
}
