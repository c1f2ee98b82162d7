// Package policy parses robots.txt files and evaluates requests.
//
// It implements RFC 9309, the Robots Exclusion Protocol. Two principles apply where the RFC leaves
// a choice. A URL is disallowed only if all compliant crawlers read the file that way. All spellings
// of a URL that an origin may serve as the same resource are the same URL.
//
// # Use
//
// [Parse] parses any bytes into a [Robots]. [Robots.Select] returns the group of a crawler, and
// [SelectedGroup.Judge] evaluates a request target:
//
//	robots := policy.Parse(body)
//	group := robots.Select(true, "Googlebot-Image", "Googlebot")
//	verdict := group.Judge("/private/report?page=2")
//	if !verdict.Allowed {
//		log.Printf("forbidden by %s in line %d", verdict.Rule, verdict.Rule.Line)
//	}
//
// A [Verdict] contains the rule as written with its line, the name and line of the group, and the
// [Normalization] of the target that matched. It also reports whether compliant crawlers may disagree.
//
// # Files
//
// Lines end with LF, CR or CRLF. A # starts a comment anywhere. White space is space and tab. Keys
// are compared whole and without case. Consecutive user-agent lines open a group. An allow or
// disallow line ends the run of user-agent lines, even if the line is empty. Blank lines, comments,
// sitemaps and unknown keys do not. Groups that name the same crawler are merged (RFC 9309 section
// 2.2.1), but never with the * group.
//
// Parsers differ, so a file has two interpretations. The lenient interpretation follows Google's
// public library. It accepts eight misspelled keys, and lines of two words without a colon. It
// ignores an extension line such as Crawl-delay between user-agent lines. The strict interpretation
// ignores misspelled keys and missing colons, and an extension line begins another group. A URL is
// disallowed only if both interpretations disallow it. Some crawlers, such as Google's, document
// that they are lenient. [Robots.SelectWithLenientKeys] selects their group and accepts these keys and
// lines in both interpretations.
//
// Keys and extension lines are two separate choices:
//
//   - [Robots.Select]: the lenient interpretation accepts these keys and ignores extension lines. In
//     the strict interpretation the keys are unknown, and an extension line begins another group.
//   - [Robots.SelectWithLenientKeys]: both interpretations accept these keys. Only extension lines differ.
//   - In a file without such keys and extension lines both interpretations are the same.
//
// [Robots.Findings] reports problems to the owner of a file.
//
// # Names
//
// The caller passes the product tokens of a crawler in order of preference. The last token is
// usually a documented fallback, such as Googlebot for Googlebot-Image. The first token with a group
// decides. Without such a group, the * group applies if the caller says that the crawler obeys it.
// [NameMatches] compares the name of a group with a product token.
//
// # Rules
//
// A rule is compared with the start of a target. A * matches any bytes, and a $ at the end of a rule
// matches the end of the target (RFC 9309 section 2.2.3). Rules and targets are compared in
// canonical form. An escape with the same meaning as its byte is decoded, and all other special
// bytes are escaped. So %2A in a rule is a star and no wildcard. The longest matching rule decides,
// and an allow rule wins among equals (section 2.2.2). The length is measured in canonical form,
// with wildcards. "Allow: /dir/index.html" also allows /dir/ itself, as for Google. /robots.txt is
// always allowed.
//
// # Targets
//
// A target is an absolute path with an optional query, as sent in the request line. [TargetFromURL]
// converts a URL. Servers differ in which spellings of a URL they treat as the same resource, for
// example /a//b and /a/b. A [Target] has all these variants, and each is compared with the rules.
//
// # Cost
//
// A group is compiled when it is first selected. A verdict does not allocate and does not try every
// rule. A binary search finds rules without a wildcard, and an index of their rarest four bytes
// finds the others. The work of one verdict is bounded, even for a file that was written to be
// expensive. After a few milliseconds the search stops, and the verdict allows the target without a
// rule.
//
// This package is safe for concurrent use, except where a type says otherwise.
package policy
