package lint

import "strings"

// googleKeyFor returns the key that Google's open-source library reads instead of another key, in the
// usual spelling. For other keys it returns an empty string. The library compares only the start of
// a key (robots.cc, ParsedRobotsKey), and reads a longer key as the shorter key.
func googleKeyFor(key string) string {
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

// checkKey finds an unknown key that Google's library reads as another key.
func (c *checker) checkKey(number int, l line) {
	if strings.EqualFold(l.key, "DisallowAITraining") {
		return // has its own finding
	}
	if read := googleKeyFor(l.key); read != "" {
		c.addFinding(PrefixKey, number, l.keyColumn(), "%s is not a key that crawlers know, but Google's library compares the start only and reads it as %s; write %s or remove the line",
			quoteExcerpt(l.key), read, read)
	}
}
