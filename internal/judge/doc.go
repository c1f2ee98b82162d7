// Package judge decides what becomes of a request: by the settings of a site,
// its robots.txt, and what is known of the client. The handler, the matchers,
// the commands and the replay of logs all ask [Settings.Judge], so that what one
// of them says is what the others do.
package judge
