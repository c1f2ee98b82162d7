package judge

// Reason is the reason for a verdict.
type Reason uint8

// The reasons.
const (
	ByRule         Reason = iota // the longest matching rule
	NoRule                       // no rule of its group matches
	NoGroup                      // no group applies to the client
	TwoReadings                  // the file has two interpretations, and only one of them disallows the URL
	NotMeant                     // the * group does not apply to the class of the client
	DeliversOrAsks               // the * group does not apply to the method
	ForPrograms                  // the * group does not apply to /.well-known/
	NobodyJudged                 // a browser, or a client without a name
	Challenge                    // the token of a certificate validator
	RobotsTxt                    // robots.txt or the target of its redirect
	Configured                   // exempt by the configuration
	NoRules                      // there is no copy of robots.txt
	Closed                       // there is no copy, and the configuration closes the site
	NotKnownYet                  // the crawler may obey an older version
)

// String describes the reason, without the rule.
func (r Reason) String() string {
	switch r {
	case ByRule:
		return "the longest rule that matches"
	case NoRule:
		return "no rule of its group matches"
	case NoGroup:
		return "no group is for it"
	case TwoReadings:
		return "crawlers read the file in two ways, and only one of them forbids it"
	case NotMeant:
		return "the * group does not apply to its class"
	case DeliversOrAsks:
		return MethodExemption.String()
	case ForPrograms:
		return WellKnownExemption.String()
	case NobodyJudged:
		return "browsers and clients without a name are never judged"
	case Challenge:
		return "certificate validation is never judged"
	case RobotsTxt:
		return "robots.txt itself is always allowed"
	case Configured:
		return "the configuration exempts it"
	case NoRules:
		return "nobody knows the rules"
	case Closed:
		return "nobody knows the rules, and unreachable disallow closes the site meanwhile"
	case NotKnownYet:
		return "the crawler need not know yet what forbids it"
	}
	return "invalid"
}
