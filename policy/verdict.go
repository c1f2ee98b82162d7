package policy

// Verdict is the judgement of one request target with its evidence.
type Verdict struct {
	// Allowed says that the target may be fetched.
	Allowed bool

	// Rule is the rule that decided, as written. It is the zero Rule where no
	// rule matches, which allows.
	Rule Rule

	// Group is the user-agent line by which the rule's group was chosen, or the
	// first of the crawler's groups where no rule matches. It is the zero Agent
	// where no group is for the crawler, and for /robots.txt itself, which no
	// group can forbid.
	Group Agent

	// Form is the form of the target that the rule matched.
	Form Form

	// Ambiguous says that compliant crawlers may come to another verdict:
	// either they disagree about the rules, see [Selection.Readings], and then
	// the milder reading holds, or only a decoded form of the target is forbidden,
	// by a wildcard.
	Ambiguous bool
}
