package lint

import "strings"

// keyReadByGoogle returns the standard key that Google's open-source library reads instead of an
// unknown key. For other keys it returns an empty string. The library compares only the beginning
// of a key (robots.cc, ParsedRobotsKey), so it reads "Disallowed" as Disallow.
func keyReadByGoogle(key string) string {
	key = strings.ToLower(key)
	for _, k := range []struct{ start, spelled string }{
		{"user-agent", "User-agent"}, {"useragent", "User-agent"}, {"user agent", "User-agent"},
		{"disallow", "Disallow"}, {"allow", "Allow"},
		{"dissallow", "Disallow"}, {"dissalow", "Disallow"}, {"disalow", "Disallow"},
		{"diasllow", "Disallow"}, {"disallaw", "Disallow"},
	} {
		if strings.HasPrefix(key, k.start) && key != k.start {
			return k.spelled
		}
	}
	return ""
}

// checkKey adds a finding for an unknown key that Google's library reads as another key.
func (c *checker) checkKey(number int, l line) {
	if strings.EqualFold(l.key, "DisallowAITraining") {
		return // Another check reports this key.
	}
	if read := keyReadByGoogle(l.key); read != "" {
		c.addFinding(KeyReadByPrefix, number, l.keyColumn(), "%s is not a key that crawlers know, but Google's library compares the start only and reads it as %s; write %s or remove the line",
			quoteExcerpt(l.key), read, read)
	}
}
