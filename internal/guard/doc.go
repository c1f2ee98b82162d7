// Package guard implements the handler robots_guard. It judges each request by the robots.txt of the
// site, records the judgement, and passes the request on or responds. [Guard.Serve] shows these steps.
//
// A version is one text of a robots.txt with its times. The copy is the version that the guard
// fetched last. A crawler may be using the copy, a former copy, or a file that the site served to
// it, see package copies: a request that one of these allows is not blocked. A hold is the
// time for which the change guard does not block a search engine by a new rule. A trial judges
// requests by another robots.txt without effect on responses.
package guard
