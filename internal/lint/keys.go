package lint

import "strings"

// isPrefixKey reports whether a key that nobody defined begins with one that
// Google's open-source library looks for. It compares keys by their start only
// (robots.cc, ParsedRobotsKey), so it reads such a line as the shorter key.
func isPrefixKey(key string) bool { return prefixOf(key) != "" }

// prefixOf returns the key for which Google's library takes another, as it is
// usually spelled; "" if it takes it for none.
func prefixOf(key string) string {
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

// checkKeys looks at keys that crawlers take for different ones.
func (c *checker) checkKeys() {
	for i := range c.lines.len() {
		l := c.lines.at(i)
		if strings.EqualFold(l.key, "DisallowAITraining") {
			continue // a record of its own
		}
		if read := prefixOf(l.key); read != "" {
			c.add(PrefixKey, i+1, l.keyColumn(), "%s is not a key that crawlers know, but Google's library compares the start only and reads it as %s; write %s or remove the line",
				quoted(l.key), read, read)
		}
	}
}
