package site

import (
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/internal/responseaudit"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// selfTestOutcome is the result of a fetch.
type selfTestOutcome struct {
	response    responseaudit.RobotsResponse // the first response
	hasResponse bool                         // response is set
	status      int                          // of the last response, or 0
	err         error                        // the reason for a missing response
	isFile      bool
	ruleCount   int
	isRefusal   bool   // the response is wrong for every host, even for an invented host
	summary     string // the result in words
	advice      string // the recommended action, or empty
}

// isSame reports whether two clients get the same result.
func (o selfTestOutcome) isSame(other selfTestOutcome) bool {
	return o.summary == other.summary && o.status == other.status && o.ruleCount == other.ruleCount && o.response.Location == other.response.Location
}

// evaluateAnswer distinguishes a robots.txt from other responses.
func evaluateAnswer(answer policy.FetchResult) selfTestOutcome {
	outcome := selfTestOutcome{status: answer.Status}
	outcome.response, outcome.hasResponse = FirstResponse(answer)
	substitute, _ := outcome.response.Substitute()
	switch {
	case outcome.hasResponse && substitute == responseaudit.NoAnswer:
		outcome.isRefusal, outcome.status = true, 0
		outcome.summary = "the connection is closed without a response to the request for robots.txt"
		outcome.advice = "exclude /robots.txt from what closes the connection, such as abort: not path /robots.txt"
	case outcome.response.IsLoop:
		outcome.summary = "the redirects of robots.txt lead to no file"
		outcome.advice = "let /robots.txt answer with the file, or redirect to it in at most five steps"
	case outcome.hasResponse && substitute == responseaudit.RedirectElsewhere:
		outcome.status = outcome.response.Status
		outcome.summary = "robots.txt redirects to another page"
		outcome.advice = "exclude /robots.txt from the login or the redirect: not path /robots.txt"
	case outcome.hasResponse && substitute == responseaudit.WebPage:
		outcome.isRefusal = answer.Status >= 400
		outcome.summary = "a web page is sent instead of robots.txt"
		outcome.advice = "exclude /robots.txt from the login or challenge: not path /robots.txt; if an application answers every path with a page, let it answer /robots.txt with a text file or 404"
	case answer.Err != nil || answer.Status >= 500:
		outcome.isRefusal, outcome.err = true, answer.Err
		outcome.summary = "robots.txt cannot be fetched"
		outcome.advice = "see why the site does not answer; some crawlers do not visit a site while its robots.txt fails"
	case answer.Status == http.StatusNotFound || answer.Status == http.StatusGone:
		outcome.summary = "robots.txt is missing"
		outcome.advice = "add a robots.txt; without a robots.txt nothing is disallowed"
	case answer.Status >= 400:
		outcome.isRefusal = true
		outcome.summary = "robots.txt is refused"
		outcome.advice = "exclude /robots.txt from what refuses the request, such as a login, a firewall or a rate limit: not path /robots.txt; " +
			"if the site admits only requests from its proxy, nothing is wrong"
	default:
		outcome.isFile, outcome.ruleCount = true, policy.Parse(answer.Body).RuleCount()
		outcome.summary = "robots.txt was fetched"
	}
	return outcome
}
