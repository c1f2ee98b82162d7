package guard

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/site"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// closedRetryAfter is the Retry-After of a response while robots.txt cannot be
// fetched. While crawlers come, the guard retries at least every five minutes, or when the site's
// own Retry-After allows it. Two retries usually fit into this time.
const closedRetryAfter = 10 * time.Minute

// Refuse writes the response to a blocked request: this status, and a plain-text body with the rule
// for the URL. The status is 503 while robots.txt cannot be fetched, and 429 for a crawler over its
// rate.
//
// Refuse never returns a caddyhttp.HandlerError. Error routes run with the requested path, so a
// file server or proxy in them would deliver the disallowed page.
func Refuse(w http.ResponseWriter, r *http.Request, j *Judgement, status int) error {
	header := w.Header()
	if j.Action == judge.Slowed {
		return refuseTooFast(w, r, j)
	}
	PreventCaching(header)
	switch {
	case j.Reason == judge.ReasonSiteClosed:
		header.Set("Retry-After", strconv.Itoa(int(closedRetryAfter.Seconds())))
		return writeText(w, r, http.StatusServiceUnavailable,
			[]byte("The robots.txt of this site cannot be read at the moment, so crawlers have to stay away\n"+
				"(RFC 9309, section 2.3.1.4). Please come back later.\n"))
	case j.OnlySpoofed:
		return writeText(w, r, status, []byte(explainSpoofed(j)+"\n\nIf you do not run this crawler, please let your client use a name of its own. If you do, please\n"+
			"publish the addresses that it uses.\n"))
	}
	return writeText(w, r, status, explainBlock(j))
}

// PreventCaching keeps caches from serving a response to other clients.
func PreventCaching(header http.Header) {
	header["Cache-Control"] = []string{"no-store"}
	header.Add("Vary", "User-Agent")
}

// writeText writes a plain-text response.
func writeText(w http.ResponseWriter, r *http.Request, status int, body []byte) error {
	header, values := w.Header(), [...]string{"text/plain; charset=utf-8", "nosniff", strconv.Itoa(len(body))}
	header["Content-Type"], header["X-Content-Type-Options"], header["Content-Length"] = values[0:1:1], values[1:2:2], values[2:3:3]
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err := w.Write(body)
	return err
}

// explainSpoofed returns a sentence that tells the client why its name is considered spoofed.
func explainSpoofed(j *Judgement) string {
	by := "the addresses"
	if j.VerifiedBy == verify.ReverseDNS {
		by = "the names of the addresses"
	}
	operator := cmp.Or(j.Client.Crawler.Operator, "its operator")
	return fmt.Sprintf("This client calls itself %s, but its address does not fit %s that %s publishes.", text.Printable(j.Client.Name()), by, text.Printable(operator))
}

// explanationSize is the usual size of an explanation, in bytes.
const explanationSize = 768

// explainBlock returns the text of the response to a blocked request: the group, the rule and the
// file, so that the author of an honest crawler can fix it. It does not use package fmt, because a
// crawler may send many blocked requests.
func explainBlock(j *Judgement) []byte {
	b := make([]byte, 0, explanationSize)
	line := func(label, value string) {
		b = append(append(b, label...), text.Printable(value)...)
	}
	lineNumber := func(n int) {
		b = append(strconv.AppendInt(append(b, " (line "...), int64(n), 10), ")\n"...)
	}
	rule, group := &j.RobotsVerdict.Rule, &j.RobotsVerdict.Group
	line("The robots.txt of this site does not allow ", j.Client.Name())
	line(" to fetch this URL.\n\nfile:  ", j.Site.OwnKey().String())
	line("/robots.txt\ngroup: User-agent: ", group.Name)
	lineNumber(group.Line)
	line("rule:  ", rule.String())
	lineNumber(rule.Line)
	if j.RobotsVerdict.Normalization != 0 {
		b = append(append(append(b, "The rule matches another spelling of the same URL ("...), j.RobotsVerdict.Normalization.String()...), ").\n"...)
	}
	if j.Verification == verify.Spoofed {
		b = append(append(b, explainSpoofed(j)...), " So the rules for unnamed crawlers apply, too.\n"...)
	}
	if j.Version != nil {
		b = j.Version.LastFetched.UTC().AppendFormat(append(b, "read:  "...), time.RFC3339)
		b = append(hex.AppendEncode(append(b, ", SHA-256 "...), j.Version.Hash[:]), '\n')
	}
	return append(b, "\nIf you run this crawler, please let it obey the robots.txt (RFC 9309). If you do not run it,\n"+
		"your client sends the name of this crawler in its User-Agent.\n"...)
}

// These are policy names in the RateLimit-Policy header.
const (
	delayPolicy      = "crawl-delay"
	limitPolicy      = "limit"
	concurrentPolicy = "concurrent"
)

// refuseTooFast responds with 429 (RFC 6585) to a crawler over its rate, and with the time until
// its next allowed request.
func refuseTooFast(w http.ResponseWriter, r *http.Request, j *Judgement) error {
	header, wait := w.Header(), setRetryAfter(w, j)
	header.Set("RateLimit-Policy", formatRateLimitPolicy(&j.Rate))
	header.Set("RateLimit", fmt.Sprintf("%q;r=0;t=%d", exceededPolicyName(&j.Rate), wait))
	PreventCaching(header)
	return writeText(w, r, http.StatusTooManyRequests, []byte(explainTooFast(j, wait)))
}

// setRetryAfter returns the seconds until the crawler may send the next request, rounded up. It
// sets the field Retry-After to up to 10 % more, so that clients do not return at the same time.
func setRetryAfter(w http.ResponseWriter, j *Judgement) int {
	wait := int((j.Rate.Wait + time.Second - 1) / time.Second)
	w.Header().Set("Retry-After", strconv.Itoa(wait+rand.IntN(wait/10+1)))
	return wait
}

// formatSeconds returns a number of seconds as text, such as "1 second".
func formatSeconds(seconds int) string {
	if seconds == 1 {
		return "1 second"
	}
	return fmt.Sprintf("%d seconds", seconds)
}

// exceededPolicyName returns the name of the rate limit that the crawler exceeds, as in the
// RateLimit-Policy field.
func exceededPolicyName(p *Rate) string {
	switch {
	case p.IsOverConcurrent:
		return concurrentPolicy
	case p.IsOverLimit:
		return limitPolicy
	}
	return delayPolicy
}

// formatRateLimitPolicy returns the value of the RateLimit-Policy field, as in
// draft-ietf-httpapi-ratelimit-headers. It lists policies with their quota q for a window of w
// seconds, or for concurrent requests.
func formatRateLimitPolicy(p *Rate) string {
	var items []string
	add := func(name string, quota int, window int64) {
		items = append(items, fmt.Sprintf("%q;q=%d;w=%d", name, quota, window))
	}
	if p.EnforcedInterval > 0 {
		quota, window := rate.QuotaForInterval(p.EnforcedInterval)
		add(delayPolicy, quota, int64(window/time.Second))
	}
	l := p.Limit
	switch {
	case l == nil || l.Requests == 0:
	case l.Per%time.Second == 0:
		add(limitPolicy, l.Requests, int64(l.Per/time.Second))
	default:
		quota, window := rate.QuotaForInterval(l.Rule.Interval)
		add(limitPolicy, quota, int64(window/time.Second))
	}
	if l != nil && l.Concurrent > 0 {
		items = append(items, fmt.Sprintf("%q;q=%d;qu=%q", concurrentPolicy, l.Concurrent, "concurrent-requests"))
	}
	return strings.Join(items, ", ")
}

// explainTooFast returns the text of the 429 response, which tells the author of the crawler which
// limit or Crawl-delay it exceeds. wait is the time in seconds until its next allowed request.
func explainTooFast(j *Judgement, wait int) string {
	var b strings.Builder
	name, p := text.Printable(j.Client.Name()), &j.Rate
	switch {
	case p.IsOverConcurrent:
		fmt.Fprintf(&b, "%s sends more requests at once than this site allows.\n\n", name)
		fmt.Fprintf(&b, "limit: %d requests at a time (%s)\n", p.Limit.Concurrent, text.Printable(p.Limit.ExceededPart(true)))
	case p.IsOverLimit:
		fmt.Fprintf(&b, "%s sends requests faster than this site allows.\n\n", name)
		fmt.Fprintf(&b, "limit: %d requests in %s\n", p.Limit.Requests, text.FormatSpan(p.Limit.Per))
	default:
		fmt.Fprintf(&b, "%s sends requests faster than the robots.txt of this site allows.\n\n", name)
		fmt.Fprintf(&b, "file:  %s\n", text.Printable(j.Site.OwnKey().String()+"/robots.txt"))
		fmt.Fprintf(&b, "line:  Crawl-delay: %s (line %d)\n", strconv.FormatFloat(p.Delay.Interval.Seconds(), 'f', -1, 64), p.Delay.Line)
		if p.EnforcedInterval != p.Delay.Interval {
			fmt.Fprintf(&b, "applied: %s, the longest Crawl-delay that this site enforces\n", text.FormatSpan(p.EnforcedInterval))
		}
	}
	fmt.Fprintf(&b, "again: in %s\n", formatSeconds(wait))
	b.WriteString("\nPlease wait for the time in Retry-After. /robots.txt and sitemaps may be fetched at any time.\n")
	return b.String()
}

// isTooEarly reports whether the guard must respond with 425 to a request that it would refuse.
// Early data does not prove the client's address. After the handshake, the client sends the request
// again (RFC 8470 section 5.2).
func isTooEarly(r *http.Request, j *Judgement) bool {
	return j.Verification == verify.Unknown && site.IsEarlyData(r)
}
