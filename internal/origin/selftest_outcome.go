package origin

import (
	"net/http"

	"github.com/robotsguard/caddy-robots-guard/internal/parity"
	"github.com/robotsguard/caddy-robots-guard/policy"
)

// selfTestOutcome is the result of one fetch.
type selfTestOutcome struct {
	response  parity.RobotsResponse // the first response
	responded bool                  // response is set
	status    int                   // of the last response, or 0
	err       error                 // the reason if there is no response
	isFile    bool
	rules     int
	isRefusal bool   // the response is wrong for every host, even for an invented host
	summary   string // the result in words
	advice    string // the recommended action, or empty
}

// isSame reports whether two clients get the same result.
func (o selfTestOutcome) isSame(other selfTestOutcome) bool {
	return o.summary == other.summary && o.status == other.status && o.rules == other.rules && o.response.Location == other.response.Location
}

// examine distinguishes a robots.txt from other responses.
func examine(a policy.Answer) selfTestOutcome {
	o := selfTestOutcome{status: a.Status}
	o.response, o.responded = ResponseOf(a)
	instead, _ := o.response.Substitute()
	switch {
	case o.responded && instead == parity.NoAnswer:
		o.isRefusal, o.status = true, 0
		o.summary = "the connection is closed without a response to the request for robots.txt"
		o.advice = "exclude /robots.txt from what closes the connection, such as abort: not path /robots.txt"
	case o.responded && instead == parity.OtherPage:
		o.status = o.response.Status
		o.summary = "robots.txt redirects to another page"
		o.advice = "exclude /robots.txt from the login or the redirect: not path /robots.txt"
	case o.responded && instead == parity.WebPage:
		o.isRefusal = a.Status >= 400
		o.summary = "a web page is sent instead of robots.txt"
		o.advice = "exclude /robots.txt from the login or challenge: not path /robots.txt; if an application answers every path with a page, let it answer /robots.txt with a text file or 404"
	case a.Err != nil || a.Status >= 500:
		o.isRefusal, o.err = true, a.Err
		o.summary = "robots.txt cannot be fetched"
		o.advice = "see why the site does not answer; some crawlers do not visit a site while its robots.txt fails"
	case a.Status == http.StatusNotFound || a.Status == http.StatusGone:
		o.summary = "robots.txt is missing"
		o.advice = "add a robots.txt; without one nothing is disallowed"
	case a.Status >= 400:
		o.isRefusal = true
		o.summary = "robots.txt is refused"
		o.advice = "exclude /robots.txt from what refuses the request, such as a login, a firewall or a rate limit: not path /robots.txt; " +
			"if the site admits only requests from its proxy, nothing is wrong"
	case a.Status >= 300:
		o.summary = "the redirects of robots.txt lead to no file"
		o.advice = "let /robots.txt answer with the file, or redirect to it in at most five steps"
	default:
		o.isFile, o.rules = true, policy.Parse(a.Body).RuleCount()
		o.summary = "robots.txt was fetched"
	}
	return o
}
