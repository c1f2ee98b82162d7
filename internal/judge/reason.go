package judge

// Reason is the reason for a verdict.
type Reason uint8

// These are the reasons for a verdict.
const (
	ReasonRule          Reason = iota // The longest matching rule decides.
	ReasonNoRule                      // No rule of the client's group matches.
	ReasonNoGroup                     // No group applies to the client.
	ReasonAmbiguous                   // The file has two interpretations, and only one disallows the URL.
	ReasonClass                       // The * group does not apply to the class of the client.
	ReasonMethod                      // The * group does not apply to the method.
	ReasonWellKnown                   // The * group does not apply to /.well-known/.
	ReasonBrowser                     // The client is a browser or has no name.
	ReasonACMEChallenge               // The request is for the token of a certificate validator.
	ReasonRobotsTxt                   // The request is for robots.txt or for the target of its redirect.
	ReasonExempt                      // The configuration exempts the client.
	ReasonNoRobotsTxt                 // No copy of robots.txt is known.
	ReasonSiteClosed                  // No copy is known, and the configuration closes the site.
	ReasonGrace                       // An older version that may still apply allows the request.
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
		return "the rules are unknown, and the option unreachable closes the site to crawlers until they are known"
	case ReasonGrace:
		return "the crawler may still use an older robots.txt that allows the URL"
	}
	return "invalid"
}
