package crawlers

import (
	"regexp"
	"strings"

	"github.com/jimsmart/grobotstxt"
)

// googleAllows returns the verdict of the Go port of Google's library. robots is nil if
// there is no file.
func googleAllows(robots *string, name, target string) bool {
	if robots == nil || target == "/robots.txt" {
		return true
	}
	// The library truncates names in the file at the first digit, so names with digits
	// never match.
	whole := func(text string) string { return strings.ReplaceAll(text, "wget2", "wget-two") }
	// The library converts the hex digits of rules to upper case, but the port corrupts
	// 0 to 9.
	upper := escape.ReplaceAllStringFunc(*robots, strings.ToUpper)
	return grobotstxt.AgentAllowed(whole(upper), whole(name), "http://site.test"+target)
}

var escape = regexp.MustCompile("%[0-9A-Fa-f]{2}")
