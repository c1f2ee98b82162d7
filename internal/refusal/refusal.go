// Package refusal writes the answer to a blocked request: the status, and a text
// from which the author of an honest crawler learns what to mend.
package refusal

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/internal/errorroutes"
	"github.com/robotsguard/caddy-robots-guard/internal/guard"
	"github.com/robotsguard/caddy-robots-guard/internal/judge"
	"github.com/robotsguard/caddy-robots-guard/internal/rate"
	"github.com/robotsguard/caddy-robots-guard/internal/text"
	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// closedRetryAfter is when a crawler may come back that was sent away because
// the robots.txt cannot be read. That is asked for again every five minutes at the latest
// while crawlers come: by then it was so twice.
const closedRetryAfter = 10 * time.Minute

// Write answers a request that the robots.txt forbids, or one under a false name,
// with a status. While nobody can know the rules, or the site is under load, the status is
// 503 instead, and 429 where the crawler is too fast. It
// returns an error where an error route of the server turns that into a response.
func Write(w http.ResponseWriter, r *http.Request, j *guard.Judgement, status int) error {
	return write(w, r, j, status, answer)
}

// Tell is Write for a proxy that asks: no error route can make something else of it.
func Tell(w http.ResponseWriter, r *http.Request, j *guard.Judgement, status int) error {
	return write(w, r, j, status, func(w http.ResponseWriter, r *http.Request, status int, _ func() string, body []byte) error {
		uncached(w.Header())
		return plain(w, r, status, body)
	})
}

// write writes the answer by a function that sends it.
func write(w http.ResponseWriter, r *http.Request, j *guard.Judgement, status int, answer answerer) error {
	switch {
	case j.Action == judge.Slowed && j.Rate.State == rate.Shed:
		return shed(w, r, j)
	case j.Action == judge.Slowed:
		return slow(w, r, j)
	case j.Reason == judge.Closed:
		return closed(w, r, answer)
	case j.Verdict == judge.AgainstPreference:
		return answer(w, r, status, func() string { return againstSummary(j) }, []byte(againstUse(j)))
	case j.FalseName:
		summary := falseName(j)
		return answer(w, r, status, func() string { return summary }, []byte(summary+"\n\nIf you do not run this crawler, please let your client use a name of its own. If you do, please\n"+
			"publish the addresses that it uses.\n"))
	}
	return answer(w, r, status, func() string {
		return fmt.Sprintf("robots.txt does not allow %s to fetch this URL: line %d, %s", text.Printable(j.Client.Name()), j.Evidence.Rule.Line, text.Printable(j.Evidence.Rule.String()))
	}, explanation(j))
}

// answerer sends an answer: a status, what it says in a line, which only error routes are
// told, and the text.
type answerer func(w http.ResponseWriter, r *http.Request, status int, summary func() string, body []byte) error

// closed answers a crawler while nobody can know what the robots.txt
// forbids.
func closed(w http.ResponseWriter, r *http.Request, answer answerer) error {
	w.Header().Set("Retry-After", strconv.Itoa(int(closedRetryAfter.Seconds())))
	summary := func() string { return "the robots.txt of this site cannot be read at the moment" }
	return answer(w, r, http.StatusServiceUnavailable, summary,
		[]byte("The robots.txt of this site cannot be read at the moment, so crawlers have to stay away\n"+
			"(RFC 9309, section 2.3.1.4). Please come back later.\n"))
}

// answer returns an error where an error route of the server will turn it into
// a response, and writes the response itself elsewhere: Caddy's would be empty.
func answer(w http.ResponseWriter, r *http.Request, status int, summary func() string, body []byte) error {
	uncached(w.Header())
	if errorroutes.Any(r) { // an error of Caddy looks up who calls
		err := caddyhttp.Error(status, errors.New(summary()))
		if errorroutes.Handle(r, err) {
			return err
		}
	}
	return plain(w, r, status, body)
}

// uncached keeps an answer from being taken for that to others.
func uncached(header http.Header) {
	header["Cache-Control"] = []string{"no-store"}
	header.Add("Vary", "User-Agent")
}

// plain writes a text as the answer.
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
