package crawlers

import (
	"regexp"
	"strings"

	"github.com/jimsmart/grobotstxt"
)

// googleAllows asks Google's library, in its Go port, whether a crawler of this
// name may fetch a target. robots is nil where there is no file.
func googleAllows(robots *string, name, target string) bool {
	if robots == nil || target == "/robots.txt" {
		return true
	}
	// It cuts a name in the file at the first digit, so that none with a digit is
	// ever found.
	whole := func(text string) string { return strings.ReplaceAll(text, "wget2", "wget-two") }
	// It makes the hex digits of rules upper-case, but the port spoils 0 to 9.
	upper := escape.ReplaceAllStringFunc(*robots, strings.ToUpper)
	return grobotstxt.AgentAllowed(whole(upper), whole(name), "http://site.test"+target)
}

var escape = regexp.MustCompile("%[0-9A-Fa-f]{2}")
