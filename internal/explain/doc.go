// Package explain puts into words why a request is allowed or not: what the
// User-Agent says, which group is for it, which rules match, and what the server
// does about it. It judges nothing itself; whoever judges fills in an
// [Explanation].
package explain
