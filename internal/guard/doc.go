// Package guard implements the handler robots_guard. It judges each request by the robots.txt of the
// site, records the judgement, and passes the request on or responds. [Guard.Serve] shows these steps.
package guard
