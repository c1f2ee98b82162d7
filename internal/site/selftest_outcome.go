package site

import (
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// selfTestOutcome is the result of fetching a site's robots.txt with one User-Agent.
type selfTestOutcome struct {
	response    responseaudit.RobotsResponse // response is the first response.
	hasResponse bool                         // hasResponse is true if response is set.
	status      int                          // status is the status of the last response, or 0.
	err         error                        // err is the reason for a missing response.
	isFile      bool
	ruleCount   int
	isRefusal   bool   // isRefusal is true if the response is wrong for every host, even for an invented host.
	summary     string // summary is the result in words.
	advice      string // advice is the recommended action, or empty.
}

// isSame reports whether the fetches with two User-Agents have the same result.
func (o selfTestOutcome) isSame(other selfTestOutcome) bool {
	return o.summary == other.summary && o.status == other.status && o.ruleCount == other.ruleCount && o.response.Location == other.response.Location
}

// evaluateFetchResult describes the result of a fetch, and adds advice if the result is not a
// robots.txt.
func evaluateFetchResult(answer policy.FetchResult) selfTestOutcome {
	outcome := selfTestOutcome{status: answer.Status}
	outcome.response, outcome.hasResponse = FirstResponse(answer)
	substitute, _ := outcome.response.Substitute()
	switch {
	case outcome.hasResponse && substitute == responseaudit.NoResponse:
		outcome.isRefusal, outcome.status = true, 0
		outcome.summary = "the connection is closed without a response to the request for robots.txt"
		outcome.advice = "add the matcher \"not path /robots.txt\" to the handler that closes the connection, such as abort"
	case outcome.response.IsLoop:
		outcome.summary = "the redirects of robots.txt lead to no file"
		outcome.advice = "let /robots.txt answer with the file, or redirect to it in at most five steps"
	case outcome.hasResponse && substitute == responseaudit.RedirectElsewhere:
		outcome.status = outcome.response.Status
		outcome.summary = "robots.txt redirects to another page"
		outcome.advice = "add the matcher \"not path /robots.txt\" to the login or the redirect"
	case outcome.hasResponse && substitute == responseaudit.WebPage:
		outcome.isRefusal = answer.Status >= 400
		outcome.summary = "a web page is sent instead of robots.txt"
		outcome.advice = "add the matcher \"not path /robots.txt\" to the login or challenge; if an application answers every path with a page, let it answer /robots.txt with a text file or 404"
	case answer.Err != nil || answer.Status >= 500:
		outcome.isRefusal, outcome.err = true, answer.Err
		outcome.summary = "robots.txt cannot be fetched"
		outcome.advice = "find out why the site does not answer; some crawlers do not visit a site while its robots.txt fails"
	case answer.Status == http.StatusNotFound || answer.Status == http.StatusGone:
		outcome.summary = "robots.txt is missing"
		outcome.advice = "add a robots.txt; without a robots.txt nothing is disallowed"
	case answer.Status >= 400:
		outcome.isRefusal = true
		outcome.summary = "robots.txt is refused"
		outcome.advice = "add the matcher \"not path /robots.txt\" to the handler that refuses the request, such as a login, a firewall or a rate limit; " +
			"if the site admits only requests from its proxy, nothing is wrong"
	default:
		outcome.isFile, outcome.ruleCount = true, policy.Parse(answer.Body).RuleCount()
		outcome.summary = "robots.txt was fetched"
	}
	return outcome
}
