// Package policy reads robots.txt files and judges requests by them.
//
// It implements RFC 9309, the Robots Exclusion Protocol, and settles what the
// RFC leaves open in favour of two principles: nothing is forbidden that a
// compliant crawler could not know to be forbidden, and every spelling of a
// URL that an origin may serve as the same resource is the same URL.
//
// # Use
//
// [Parse] turns the bytes of a file into a [Robots]; it accepts any input.
// [Robots.Select] picks the group that a crawler has to obey, and
// [Selection.Judge] judges a request target:
//
//	robots := policy.Parse(body)
//	group := robots.Select(true, "Googlebot-Image", "Googlebot")
//	verdict := group.Judge("/private/report?page=2")
//	if !verdict.Allowed {
//		log.Printf("forbidden by %s in line %d", verdict.Rule, verdict.Rule.Line)
//	}
//
// A [Verdict] carries its evidence: the rule as written with its line, the
// name and line of the group, the form of the target that matched and whether
// compliant crawlers may disagree about it.
//
// # Files
//
// Lines end with LF, CR or CRLF; # starts a comment anywhere. Keys are compared
// whole and without case; white space is space and tab. Consecutive user-agent
// lines open a group; blank lines, comments, sitemaps and unknown keys do not end
// their run, an allow or disallow line does, empty or not. Groups that name the
// same crawler are merged (RFC 9309 section 2.2.1), but never a named one with the
// * group.
//
// Where parsers differ a file has two readings. The forgiving one, that of
// Google's public library, takes seven misspelled keys and lines of two words
// without a colon as they are meant, and sees nothing in an extension line such as
// Crawl-delay between user-agent lines. In the strict one none of this counts and
// an extension line parts them. Only what both forbid is forbidden. A crawler of
// which it is documented that it forgives, as Google's do, is selected for by
// [Robots.SelectForgiving]: then keys and colons count in both readings.
//
// What is dubious about a file is told by [Robots.Findings], for its owner.
//
// # Names
//
// A crawler is given as a chain of product tokens in order of preference, the
// last usually being a documented fallback (Googlebot for Googlebot-Image).
// The first that any group names decides; the * group applies when none does
// and the caller says that this crawler obeys it. [NameMatches] holds the rule
// by which a group's name is compared with a product token.
//
// # Rules
//
// A rule is compared with a target from its start; * is any run of bytes and $
// at the end of a rule the end of the target (RFC 9309 section 2.2.3). Rules and
// targets are brought into one canonical form first: an escape that means the
// same as the byte is decoded, everything else that is not plain is escaped, so
// that %2A in a rule is a star and no wildcard. The longest rule that matches
// decides, allow among equals (section 2.2.2); the length is that of the
// canonical form, wildcards included. "Allow: /dir/index.html" also allows /dir/
// itself, as for Google. /robots.txt is always allowed.
//
// # Targets
//
// A target is what stands in the request line: an absolute path with an
// optional query, as sent. [TargetOf] makes one of a URL. [Target] describes
// the forms in which a target is compared with rules.
//
// # Cost
//
// A group is compiled when it is first selected. A verdict does not allocate
// and does not try every rule: rules without a wildcard are found by one
// binary search, rules with one through an index of their rarest four bytes. The
// work of one verdict is bounded, also for a file that was written to make verdicts
// expensive: after a few milliseconds the search for a rule is given up, and the
// verdict allows the target without a rule.
// Everything in this package may be used by several goroutines at once.
package policy
