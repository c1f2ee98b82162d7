package judge

import "github.com/robotsguard/caddy-robots-guard/policy"

// DisallowsPath reports whether a robots.txt disallows a URL to the crawler with a product token,
// or for "*" to a crawler without a group of its own. sent is the request target as sent, and
// decoded is its decoded path. /robots.txt and paths below /.well-known/ are never disallowed.
func DisallowsPath(robots *policy.Robots, token, sent, decoded string, keepSlashes bool) bool {
	var names [1]string
	group, _, _ := tokenQuery(names[:0], token).Group(robots)
	return !group.Allows(sent, keepSlashes) && decoded != robotsTxt && !isWellKnown(sent)
}
