package judge

// Reason is why a verdict is what it is.
type Reason uint8

// The reasons.
const (
	ByRule         Reason = iota // the longest rule that matches
	NoRule                       // no rule of its group matches
	NoGroup                      // no group is for it
	TwoReadings                  // crawlers read the file in two ways, and only one of them forbids it
	NotMeant                     // the * group is not meant for its class
	DeliversOrAsks               // nor for a method other than GET and HEAD
	ForPrograms                  // nor for /.well-known/
	NobodyJudged                 // a browser, or a client without a name
	Challenge                    // the token of a certificate validator
	RobotsTxt                    // the file itself, or where it redirects to
	Configured                   // exempt by the configuration
	NoRules                      // nobody knows the rules
	Closed                       // and the configuration closes the site meanwhile
	NotKnownYet                  // the crawler need not know yet what forbids it
)

// String tells the reason in words, without the rule.
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
		return "the * group is not meant for its class"
	case DeliversOrAsks:
		return MethodExemption.String()
	case ForPrograms:
		return WellKnownExemption.String()
	case NobodyJudged:
		return "browsers and clients without a name are not judged"
	case Challenge:
		return "the token of a certificate validator is not judged"
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
