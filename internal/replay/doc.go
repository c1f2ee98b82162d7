// Package replay judges the requests in access logs by a robots.txt, with the same packages as the
// handler: uaident, judge and policy.
//
// [Run] reads logs in the formats of the package logformat. Workers judge chunks of the logs in
// parallel. The memory depends on the registry, the robots.txt and the number of processors, and
// not on the logs.
//
// [NewAbuseReport] writes and [VerifyAbuseReport] checks abuse reports about requests that a
// robots.txt disallows.
package replay
