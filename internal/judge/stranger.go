package judge

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// Named reports whether a group of a robots.txt is for a client by one of its names.
func Named(robots *policy.Robots, client uaident.Identity, name string) bool {
	if !robots.Named(name) {
		return false
	}
	_, named, _ := Subject{Chain: []string{name}, Stranger: isStranger(client)}.Group(robots)
	return named
}

// isStranger reports whether all that is known of a client is the product that it begins
// with, as of most apps. Had a group its whole name, the policy would know it.
func isStranger(client uaident.Identity) bool {
	return client.Evidence == uaident.FromFirstProduct
}

// isLonger reports whether the name of a group goes on with another word after the token
// that it begins with, and so is that of somebody else: "Yahoo! Slurp" is not for
// "Yahoo%20Mail/5 CFNetwork", nor "Gold Crawler" for the app Gold. A version, a comment
// and what separates names are no words.
func isLonger(group, token string) bool {
	rest := group[min(len(token), len(group)):]
	word := strings.TrimLeft(rest, " \t")
	switch {
	case word == "":
		return false
	case len(word) < len(rest):
		return 'a' <= word[0]|0x20 && word[0]|0x20 <= 'z' || word[0] >= 0x80
	}
	return strings.IndexByte("!:'&+%@~", word[0]) >= 0
}
