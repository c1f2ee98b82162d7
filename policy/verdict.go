package policy

// Verdict is the verdict on one request target, with the rule that decided.
type Verdict struct {
	// Allowed reports whether the crawler may fetch the target.
	Allowed bool

	// Rule is the deciding rule as written, or the zero Rule without a matching rule.
	Rule Rule

	// Group is the user-agent line that selected the rule's group. Without a matching rule, Group
	// is the first of the crawler's groups. Without a group, and for /robots.txt, which no group
	// can disallow, Group is the zero Agent.
	Group Agent

	// Normalization is how the target was changed to match the rule.
	Normalization Normalization

	// Ambiguous reports that compliant crawlers can have another verdict. Either the
	// interpretations differ (see [SelectedGroup.LenientAndStrict]) and only one disallows the target, or a wildcard disallows
	// only a decoded variant of the target.
	Ambiguous bool
}
