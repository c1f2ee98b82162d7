package judge

// Reason is the reason for a verdict.
type Reason uint8

// The reasons for a verdict.
const (
	ReasonRule          Reason = iota // the longest matching rule decides
	ReasonNoRule                      // no rule of its group matches
	ReasonNoGroup                     // no group applies to the client
	ReasonAmbiguous                   // the file has two interpretations, and only one disallows the URL
	ReasonClass                       // the * group does not apply to the class of the client
	ReasonMethod                      // the * group does not apply to the method
	ReasonWellKnown                   // the * group does not apply to /.well-known/
	ReasonBrowser                     // a browser, or a client without a name
	ReasonACMEChallenge               // the token of a certificate validator
	ReasonRobotsTxt                   // robots.txt or the target of its redirect
	ReasonExempt                      // the configuration exempts the client
	ReasonNoRobotsTxt                 // no copy of robots.txt is known
	ReasonSiteClosed                  // no copy, and the configuration closes the site
	ReasonGrace                       // the crawler may obey an older version
)

// String describes the reason for messages, without the matching rule.
func (r Reason) String() string {
	switch r {
	case ReasonRule:
		return "the longest rule that matches"
	case ReasonNoRule:
		return "no rule of the crawler's group matches"
	case ReasonNoGroup:
		return "no group applies to the crawler"
	case ReasonAmbiguous:
		return "crawlers interpret the file in two ways, and only one interpretation disallows the URL"
	case ReasonClass:
		return "the * group does not apply to the client's class"
	case ReasonMethod:
		return MethodExemption.String()
	case ReasonWellKnown:
		return WellKnownExemption.String()
	case ReasonBrowser:
		return "browsers and clients without a name are never judged"
	case ReasonACMEChallenge:
		return "certificate validation is never judged"
	case ReasonRobotsTxt:
		return "robots.txt itself is always allowed"
	case ReasonExempt:
		return "the configuration exempts the crawler"
	case ReasonNoRobotsTxt:
		return "the rules are unknown"
	case ReasonSiteClosed:
		return "the rules are unknown, and the option unreachable disallow closes the site to crawlers until they are known"
	case ReasonGrace:
		return "the crawler may not know the disallowing rule yet"
	}
	return "invalid"
}
