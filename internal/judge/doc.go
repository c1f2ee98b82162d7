// Package judge decides about a request by the settings of a site, its robots.txt and the identity
// of the client. The handler, the matchers, the commands and the audit of logs all call
// [Settings.Judge], so they always agree. Only path verdicts ([DisallowsPath]) and verdicts about
// served pages ([ServedPage.Verdict]) are not about a client's request and do not call it.
package judge
