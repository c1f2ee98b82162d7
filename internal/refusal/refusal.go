// Package refusal writes the response to a blocked request: the status and a
// text that tells the author of an honest crawler which rule disallows the URL.
package refusal

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// closedRetryAfter is the Retry-After of a response while robots.txt cannot be
// read. The guard retries at least every five minutes while crawlers come, so
// it has retried twice by then.
const closedRetryAfter = 10 * time.Minute

// Write responds to a blocked request with this status. The status is 503
// instead while robots.txt cannot be read, and 429 if the crawler is too fast.
//
// Write never returns a caddyhttp.HandlerError: error routes run with the
// requested path, so a file server or proxy among them would deliver the page
// that robots.txt disallows.
func Write(w http.ResponseWriter, r *http.Request, j *guard.Judgement, status int) error {
	header := w.Header()
	switch {
	case j.Action == judge.Slowed:
		return slow(w, r, j)
	}
	uncached(header)
	switch {
	case j.Reason == judge.Closed:
		header.Set("Retry-After", strconv.Itoa(int(closedRetryAfter.Seconds())))
		return plain(w, r, http.StatusServiceUnavailable,
			[]byte("The robots.txt of this site cannot be read at the moment, so crawlers have to stay away\n"+
				"(RFC 9309, section 2.3.1.4). Please come back later.\n"))
	case j.FalseName:
		return plain(w, r, status, []byte(falseName(j)+"\n\nIf you do not run this crawler, please let your client use a name of its own. If you do, please\n"+
			"publish the addresses that it uses.\n"))
	}
	return plain(w, r, status, explanation(j))
}

// uncached keeps caches from serving a response to other clients.
func uncached(header http.Header) {
	header["Cache-Control"] = []string{"no-store"}
	header.Add("Vary", "User-Agent")
}

// plain writes a text response.
func plain(w http.ResponseWriter, r *http.Request, status int, body []byte) error {
	header, values := w.Header(), [...]string{"text/plain; charset=utf-8", "nosniff", strconv.Itoa(len(body))}
	header["Content-Type"], header["X-Content-Type-Options"], header["Content-Length"] = values[0:1:1], values[1:2:2], values[2:3:3]
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err := w.Write(body)
	return err
}

// falseName tells a client how its name is known to be false.
func falseName(j *guard.Judgement) string {
	by := "the addresses"
	if j.Proof == verify.ReverseDNS {
		by = "the names of the addresses"
	}
	operator := cmp.Or(j.Client.Crawler.Operator, "its operator")
	return fmt.Sprintf("This client calls itself %s, but its address does not fit %s that %s publishes.", text.Printable(j.Client.Name()), by, text.Printable(operator))
}

// explanationSize is how long an explanation mostly is at most, in bytes.
const explanationSize = 768

// explanation is what an honest crawler's author needs to mend it. It is written as often
// as a crawler asks, so it is put together without formatting.
func explanation(j *guard.Judgement) []byte {
	b := make([]byte, 0, explanationSize)
	line := func(label, value string) {
		b = append(append(b, label...), text.Printable(value)...)
	}
	number := func(of int) {
		b = append(strconv.AppendInt(append(b, " (line "...), int64(of), 10), ")\n"...)
	}
	rule, group := &j.Evidence.Rule, &j.Evidence.Group
	line("The robots.txt of this site does not allow ", j.Client.Name())
	line(" to fetch this URL.\n\nfile:  ", j.Site.Own().String())
	line("/robots.txt\ngroup: User-agent: ", group.Name)
	number(group.Line)
	line("rule:  ", rule.String())
	number(rule.Line)
	if j.Evidence.Form != 0 {
		b = append(append(append(b, "The rule matches another spelling of the same URL ("...), j.Evidence.Form.String()...), ").\n"...)
	}
	if j.Identity == verify.Spoofed {
		b = append(append(b, falseName(j)...), " So the rules for everybody hold, too.\n"...)
	}
	if j.Version != nil {
		b = j.Version.LastRead.UTC().AppendFormat(append(b, "read:  "...), time.RFC3339)
		b = append(hex.AppendEncode(append(b, ", SHA-256 "...), j.Version.Hash[:]), '\n')
	}
	return append(b, "\nIf you run this crawler, please let it obey the robots.txt (RFC 9309). If you do not,\n"+
		"your client calls itself by that name in its User-Agent.\n"...)
}
