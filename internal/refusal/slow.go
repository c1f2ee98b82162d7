package refusal

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
)

// The names of the policies in RateLimit-Policy.
const (
	delayPolicy      = "crawl-delay"
	limitPolicy      = "limit"
	concurrentPolicy = "concurrent"
)

// slow responds to a request of a crawler that is too fast: 429 (RFC 6585) with
// the time after which it may come again.
func slow(w http.ResponseWriter, r *http.Request, j *guard.Judgement) error {
	header, wait := w.Header(), comeBack(w, j)
	header.Set("RateLimit-Policy", policies(&j.Rate))
	header.Set("RateLimit", fmt.Sprintf("%q;r=0;t=%d", broken(&j.Rate), wait))
	uncached(header)
	return plain(w, r, http.StatusTooManyRequests, []byte(tooFast(j, wait)))
}

// comeBack returns the seconds after which the client may come again, rounded up, and
// sets Retry-After to up to a tenth more, so that not all come at once.
func comeBack(w http.ResponseWriter, j *guard.Judgement) int {
	wait := int((j.Rate.Wait + time.Second - 1) / time.Second)
	w.Header().Set("Retry-After", strconv.Itoa(wait+rand.IntN(wait/10+1)))
	return wait
}

// inWords writes so many seconds.
func inWords(seconds int) string {
	if seconds == 1 {
		return "1 second"
	}
	return fmt.Sprintf("%d seconds", seconds)
}

// broken names the policy by which the next request has to wait.
func broken(p *guard.Rate) string {
	switch {
	case p.Full:
		return concurrentPolicy
	case p.Limited:
		return limitPolicy
	}
	return delayPolicy
}

// policies writes what is asked of a crawler as draft-ietf-httpapi-ratelimit-headers
// has it: a list of strings with the quota q for a window of w seconds, or of what is
// under way at once.
func policies(p *guard.Rate) string {
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

// tooFast tells a crawler's author which line asks for what.
func tooFast(j *guard.Judgement, wait int) string {
	var b strings.Builder
	name, p := text.Printable(j.Client.Name()), &j.Rate
	switch {
	case p.Full:
		fmt.Fprintf(&b, "%s asks for more at once than this site lets it.\n\n", name)
		fmt.Fprintf(&b, "limit: %d requests at a time (%s)\n", p.Limit.Concurrent, text.Printable(p.Limit.Broken(true)))
	case p.Limited:
		fmt.Fprintf(&b, "%s asks faster than this site lets it.\n\n", name)
		fmt.Fprintf(&b, "limit: %d requests in %s\n", p.Limit.Requests, text.Span(p.Limit.Per))
	default:
		fmt.Fprintf(&b, "%s asks faster than the robots.txt of this site asks it to.\n\n", name)
		fmt.Fprintf(&b, "file:  %s\n", text.Printable(j.Site.Own().String()+"/robots.txt"))
		fmt.Fprintf(&b, "line:  Crawl-delay: %s (line %d)\n", strconv.FormatFloat(p.Delay.Every.Seconds(), 'f', -1, 64), p.Delay.Line)
		if p.Every != p.Delay.Every {
			fmt.Fprintf(&b, "held:  to %s, the longest that counts here\n", text.Span(p.Every))
		}
	}
	fmt.Fprintf(&b, "again: in %s\n", inWords(wait))
	b.WriteString("\nPlease wait for as long as Retry-After says. /robots.txt and sitemaps may be fetched at any time.\n")
	return b.String()
}
