package judge

import (
	"strings"

	"github.com/robotsguard/caddy-robots-guard/policy"
	"github.com/robotsguard/caddy-robots-guard/uaident"
)

// NamesClient reports whether a group of a robots.txt names a client by the given name of the
// client.
func NamesClient(robots *policy.Robots, client uaident.Identity, name string) bool {
	if !robots.NamesToken(name) {
		return false
	}
	_, named, _ := GroupQuery{Names: []string{name}, FirstProductOnly: isFirstProductOnly(client)}.Group(robots)
	return named
}

// isFirstProductOnly reports whether only the first product of the User-Agent identifies a client, as
// with most apps.
func isFirstProductOnly(client uaident.Identity) bool {
	return client.Evidence == uaident.FromFirstProduct
}

// namesLongerProduct reports whether the name of a group has another word after the token, and so names
// another client. For example, "Yahoo! Slurp" does not name "Yahoo%20Mail/5 CFNetwork", and
// "Gold Crawler" does not name the app Gold. Versions, comments and separators are not words.
func namesLongerProduct(group, token string) bool {
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
