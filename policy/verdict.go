package policy

// Verdict is the verdict on one request target, with its evidence.
type Verdict struct {
	// Allowed reports whether the crawler may fetch the target.
	Allowed bool

	// Rule is the deciding rule as written. It is the zero Rule if no rule matches.
	Rule Rule

	// Group is the user-agent line that selected the rule's group. Without a matching rule, it is
	// the first of the crawler's groups. It is the zero Agent if no group applies, and for
	// /robots.txt, which no group can disallow.
	Group Agent

	// Form is the form of the target that the rule matched.
	Form Form

	// Ambiguous reports that compliant crawlers can have another verdict. Either the
	// interpretations differ (see [SelectedGroup.Interpretations]) and the milder one applies, or a
	// wildcard disallows only a decoded form of the target.
	Ambiguous bool
}
