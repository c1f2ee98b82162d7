package guard

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// Policy names in the RateLimit-Policy header.
const (
	delayPolicy      = "crawl-delay"
	limitPolicy      = "limit"
	concurrentPolicy = "concurrent"
)

// refuseTooFast responds with 429 (RFC 6585) to a crawler that is too fast, and with the
// time after which the crawler may send the next request.
func refuseTooFast(w http.ResponseWriter, r *http.Request, j *Judgement) error {
	header, wait := w.Header(), setRetryAfter(w, j)
	header.Set("RateLimit-Policy", rateLimitPolicy(&j.Rate))
	header.Set("RateLimit", fmt.Sprintf("%q;r=0;t=%d", exceededPolicy(&j.Rate), wait))
	PreventCaching(header)
	return writeText(w, r, http.StatusTooManyRequests, []byte(tooFastText(j, wait)))
}

// setRetryAfter returns the seconds until the crawler may send the next request, rounded
// up. It sets Retry-After to up to 10 % more, so that clients do not return at the same
// time.
func setRetryAfter(w http.ResponseWriter, j *Judgement) int {
	wait := int((j.Rate.Wait + time.Second - 1) / time.Second)
	w.Header().Set("Retry-After", strconv.Itoa(wait+rand.IntN(wait/10+1)))
	return wait
}

// formatSeconds formats a number of seconds with its unit.
func formatSeconds(seconds int) string {
	if seconds == 1 {
		return "1 second"
	}
	return fmt.Sprintf("%d seconds", seconds)
}

// exceededPolicy returns the name of the policy that delays the next request.
func exceededPolicy(p *Rate) string {
	switch {
	case p.OverConcurrent:
		return concurrentPolicy
	case p.OverLimit:
		return limitPolicy
	}
	return delayPolicy
}

// rateLimitPolicy returns the RateLimit-Policy of a crawler, as in
// draft-ietf-httpapi-ratelimit-headers: a list of policies with their quota q for a window
// of w seconds, or for concurrent requests.
func rateLimitPolicy(p *Rate) string {
	var items []string
	add := func(name string, quota int, window int64) {
		items = append(items, fmt.Sprintf("%q;q=%d;w=%d", name, quota, window))
	}
	if p.Every > 0 {
		quota, window := rate.Quota(p.Every)
		add(delayPolicy, quota, int64(window/time.Second))
	}
	l := p.Limit
	switch {
	case l == nil || l.Requests == 0:
	case l.Per%time.Second == 0:
		add(limitPolicy, l.Requests, int64(l.Per/time.Second))
	default:
		quota, window := rate.Quota(l.Rule.Interval)
		add(limitPolicy, quota, int64(window/time.Second))
	}
	if l != nil && l.Concurrent > 0 {
		items = append(items, fmt.Sprintf("%q;q=%d;qu=%q", concurrentPolicy, l.Concurrent, "concurrent-requests"))
	}
	return strings.Join(items, ", ")
}

// tooFastText explains to the author of a crawler which limit or line applies.
func tooFastText(j *Judgement, wait int) string {
	var b strings.Builder
	name, p := text.Printable(j.Client.Name()), &j.Rate
	switch {
	case p.OverConcurrent:
		fmt.Fprintf(&b, "%s sends more requests at once than this site allows.\n\n", name)
		fmt.Fprintf(&b, "limit: %d requests at a time (%s)\n", p.Limit.Concurrent, text.Printable(p.Limit.ExceededPart(true)))
	case p.OverLimit:
		fmt.Fprintf(&b, "%s sends requests faster than this site allows.\n\n", name)
		fmt.Fprintf(&b, "limit: %d requests in %s\n", p.Limit.Requests, text.Span(p.Limit.Per))
	default:
		fmt.Fprintf(&b, "%s sends requests faster than the robots.txt of this site allows.\n\n", name)
		fmt.Fprintf(&b, "file:  %s\n", text.Printable(j.Site.Own().String()+"/robots.txt"))
		fmt.Fprintf(&b, "line:  Crawl-delay: %s (line %d)\n", strconv.FormatFloat(p.Delay.Interval.Seconds(), 'f', -1, 64), p.Delay.Line)
		if p.Every != p.Delay.Interval {
			fmt.Fprintf(&b, "applied: %s, the longest Crawl-delay that this site enforces\n", text.Span(p.Every))
		}
	}
	fmt.Fprintf(&b, "again: in %s\n", formatSeconds(wait))
	b.WriteString("\nPlease wait for the time in Retry-After. /robots.txt and sitemaps may be fetched at any time.\n")
	return b.String()
}
