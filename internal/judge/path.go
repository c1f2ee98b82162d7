package judge

import "github.com/robotsguard/caddy-robots-guard/policy"

// DisallowsPath reports whether a robots.txt disallows a request target, as sent and with this
// decoded path, to a crawler with a product token, "*" for all that no group names. Who sends the
// request plays no part. /robots.txt and what is below /.well-known/ are never disallowed. target
// is the memory that it takes.
func DisallowsPath(robots *policy.Robots, token, sent, decoded string, keepSlashes bool, target *policy.Target) bool {
	target.Set(sent, keepSlashes)
	var names [1]string
	q := Request{Token: token}
	return !q.GroupQuery(names[:0], true).Verdict(robots, target).Allowed && decoded != robotsTxt && !isWellKnown(sent)
}
