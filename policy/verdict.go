package policy

// Verdict is whether a crawler may fetch a request target, with the rule that decided.
type Verdict struct {
	// Allowed reports whether the crawler may fetch the target.
	Allowed bool

	// Rule is the deciding rule as written. It is the zero Rule if no rule matches.
	Rule Rule

	// Group is the user-agent line that selected the group of the rule. If no rule matches, Group
	// is the first user-agent line that selected a group of the crawler. If no group applies, and
	// for /robots.txt, which no rule can disallow, Group is the zero Agent.
	Group Agent

	// Normalization is the set of operations on the target after which the rule matches.
	Normalization Normalization

	// Ambiguous reports that compliant crawlers can have another verdict. Either only one of the
	// two interpretations disallows the target (see [SelectedGroup.LenientAndStrict]), or a rule
	// with a wildcard disallows only variants with decoded or merged slashes.
	Ambiguous bool
}
