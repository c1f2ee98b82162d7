package console

import (
	"regexp"
	"strings"
)

// varying matches header fields that differ between runs. Content-Length differs
// because the port in the tests may have a different number of digits.
var varying = regexp.MustCompile(`(?m)^(Date:|read:|Content-Length:).*$`)

// Same compares the output got with the documented output shown. A line of three dots
// in shown matches any lines.
func Same(shown, got string) bool {
	normal := func(s string) string {
		s = strings.ReplaceAll(s, "\r\n", "\n")
		s = varying.ReplaceAllString(s, "$1 *")
		return strings.TrimRight(s, "\n")
	}
	parts := strings.Split("\n"+normal(shown)+"\n", "\n...\n")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	same, err := regexp.MatchString(`(?s)^`+strings.Join(parts, `\n(?:.*\n)?`)+`$`, "\n"+normal(got)+"\n")
	return err == nil && same
}
