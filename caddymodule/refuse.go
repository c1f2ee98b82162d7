package caddymodule

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/robotsguard/caddy-robots-guard/uaident/verify"
)

// closedRetryAfter is when a crawler may come back that was sent away because
// the robots.txt cannot be read.
const closedRetryAfter = 10 * time.Minute

// refuse answers a request that the robots.txt forbids, or one under a false
// name.
func refuse(w http.ResponseWriter, r *http.Request, j *judgement, status int) error {
	if j.liar {
		summary := falseName(j)
		return answer(w, r, status, summary, summary+"\n\nIf you do not run this crawler, please let your client use a name of its own. If you do, please\n"+
			"publish the addresses that it uses.\n")
	}
	summary := fmt.Sprintf("robots.txt does not allow %s to fetch this URL: line %d, %s", printable(j.client.Name()), j.policy.Rule.Line, printable(j.policy.Rule.String()))
	return answer(w, r, status, summary, explanation(j))
}

// refuseClosed answers a crawler while nobody can know what the robots.txt
// forbids.
func refuseClosed(w http.ResponseWriter, r *http.Request, j *judgement) error {
	w.Header().Set("Retry-After", strconv.Itoa(int(closedRetryAfter.Seconds())))
	const summary = "the robots.txt of this site cannot be read at the moment"
	return answer(w, r, http.StatusServiceUnavailable, summary,
		"The robots.txt of this site cannot be read at the moment, so crawlers have to stay away\n"+
			"(RFC 9309, section 2.3.1.4). Please come back later.\n")
}

// answer returns an error where an error route of the server will turn it into
// a response, and writes the response itself elsewhere: Caddy's would be empty.
func answer(w http.ResponseWriter, r *http.Request, status int, summary, body string) error {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Add("Vary", "User-Agent")
	err := caddyhttp.Error(status, errors.New(summary))
	if hasErrorRoute(r, err) {
		return err
	}
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	_, writeErr := w.Write([]byte(body))
	return writeErr
}

// falseName tells a client how its name is known to be false.
func falseName(j *judgement) string {
	by := "the addresses"
	if j.proof == verify.ReverseDNS {
		by = "the names of the addresses"
	}
	operator := cmp.Or(j.client.Crawler.Operator, "its operator")
	return fmt.Sprintf("This client calls itself %s, but its address does not fit %s that %s publishes.", printable(j.client.Name()), by, printable(operator))
}

// explanation is what an honest crawler's author needs to mend it.
func explanation(j *judgement) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The robots.txt of this site does not allow %s to fetch this URL.\n\n", printable(j.client.Name()))
	fmt.Fprintf(&b, "file:  %s\n", printable(robotsURL(j.site)))
	fmt.Fprintf(&b, "group: User-agent: %s (line %d)\n", printable(j.policy.Group.Name), j.policy.Group.Line)
	fmt.Fprintf(&b, "rule:  %s (line %d)\n", printable(j.policy.Rule.String()), j.policy.Rule.Line)
	if j.policy.Form != 0 {
		fmt.Fprintf(&b, "The rule matches another spelling of the same URL (%s).\n", j.policy.Form)
	}
	if j.identity == identitySpoofed {
		fmt.Fprintf(&b, "%s So the rules for everybody hold, too.\n", falseName(j))
	}
	if j.version != nil {
		fmt.Fprintf(&b, "read:  %s, SHA-256 %x\n", j.version.LastRead.UTC().Format(time.RFC3339), j.version.Hash)
	}
	b.WriteString("\nIf you run this crawler, please let it obey the robots.txt (RFC 9309). If you do not,\n" +
		"your client calls itself by that name in its User-Agent.\n")
	return b.String()
}

// robotsURL is where a crawler finds the file.
func robotsURL(s site) string {
	return s.own.String() + "/robots.txt"
}

// printable makes a text from a robots.txt or a client fit for a line of plain
// text, without what a terminal acts upon or what turns the line around.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return '?'
		}
		return c
	}, strings.ToValidUTF8(s, "?"))
}

// hasErrorRoute reports whether an error route of the request's server handles
// this error. The routes are those of all sites on the listener, so their
// matchers decide.
func hasErrorRoute(r *http.Request, err error) bool {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server.Errors == nil || len(server.Errors.Routes) == 0 {
		return false
	}
	return handles(server.Errors.Routes, server.Errors.WithError(r, err))
}

// handles reports whether one of the routes does anything about a request.
func handles(routes caddyhttp.RouteList, r *http.Request) bool {
	for _, route := range routes {
		if matches, err := route.MatcherSets.AnyMatchWithError(r); err != nil || !matches {
			continue
		}
		for _, handler := range route.Handlers {
			sub, ok := handler.(*caddyhttp.Subroute)
			if !ok || handles(sub.Routes, r) {
				return true
			}
		}
	}
	return false
}
