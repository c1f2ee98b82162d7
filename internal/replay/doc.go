// Package replay judges the requests of past access logs by a robots.txt, as the
// handler would have judged them.
//
// [Run] reads any number of logs in the formats that the package logformat
// reads, in chunks that are judged side by side, and returns a
// [Report]. Its memory is bounded whatever is in the logs: it depends on the
// registry, on the robots.txt and on the number of processors.
//
// Who a User-Agent is, which group it has to obey and what the rules say is
// decided by the packages uaident, judge and policy, which the handler uses, too.
package replay
