package policy

// Verdict is the judgement of one request target with its evidence.
type Verdict struct {
	// Allowed says that the target may be fetched.
	Allowed bool

	// Rule is the deciding rule as written. It is the zero Rule if no rule matches.
	Rule Rule

	// Group is the user-agent line by which the rule's group was chosen, or the
	// first of the crawler's groups where no rule matches. It is the zero Agent
	// where no group is for the crawler, and for /robots.txt itself, which no
	// group can forbid.
	Group Agent

	// Form is the form of the target that the rule matched.
	Form Form

	// Ambiguous reports that compliant crawlers can have another verdict. Either the
	// interpretations differ (see [Selection.Readings]) and the milder one applies, or a
	// wildcard disallows only a decoded form of the target.
	Ambiguous bool
}
