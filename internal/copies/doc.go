// Package copies records which robots.txt files a crawler may be using.
//
// RFC 9309 section 2.4 lets a crawler use a copy of a robots.txt for 24 hours, the grace. In the
// grace period a crawler may use each file that was the guard's own copy, and each file that the
// site served to its product token. A request is disallowed only if all of these files disallow it.
// No request of a client removes a file.
//
// The change guard keeps a replaced file in force for longer, if its successor disallows pages that search
// engines were served.
package copies
