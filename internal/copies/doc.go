// Package copies records which robots.txt files a crawler may be using.
//
// A version is one fetched body of a robots.txt. A file is all versions with the same rules. The
// guard's copy is the version that the guard fetched last. A held file is an earlier copy that the
// change guard keeps in force.
//
// RFC 9309 section 2.4 lets a crawler use a copy of a robots.txt for 24 hours, the grace. In the
// grace period a crawler may use each file that was the guard's copy. It may also use each file
// that the site served to its product token. A request is disallowed only if all of these files
// disallow it. A request of a client removes a file only if there are too many. The rules of this
// file then count as unknown.
//
// [policy.State.Previous] is not enough for this: the history also has files served per product
// token, is stored, and continues if a reload changes the policy.Key of a site. Nearly every host
// has a single file, whose contents only the policy cache references. The history itself references
// the contents once a second file is added.
//
// A hold of the change guard keeps a replaced file in force for longer, if its successor disallows
// pages recently served to search engines. [ChangeGuard] starts, lifts and ends the holds of a site.
// [History] stores the end of the hold with the file, as HeldUntil, so that the file is not dropped
// earlier and stays in force for a site whose key has changed. Until that time, a request that the
// file allows is not blocked.
package copies
