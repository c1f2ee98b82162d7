package policy

// lineKind is what a line of a robots.txt does, by its key.
type lineKind uint8

const (
	keyUnknown   lineKind = iota // The key is not defined.
	keyUserAgent                 // The line opens or continues a group.
	keyAllow
	keyDisallow
	keySitemap        // The line applies to the whole file, at any place.
	keyFileExtension  // The line is a known extension for the whole file.
	keyGroupExtension // The line is a known extension for a group.
)

// maxKeyLength is the length of the longest known key, in bytes.
const maxKeyLength = len("disallowaitraining")

// lookupKey returns the kind of a line with the key s, or keyUnknown for a key that is not defined.
// misspelt means a misspelling that Google's parser accepts. Keys are compared whole, ignoring
// case. A comparison by prefix would read "DisallowAITraining: /", which is in use, as "Disallow:
// /" and close sites.
func lookupKey(s string) (k lineKind, misspelt bool) {
	switch s { // These are the usual spellings.
	case "Disallow":
		return keyDisallow, false
	case "Allow":
		return keyAllow, false
	case "User-agent":
		return keyUserAgent, false
	}
	if len(s) > maxKeyLength {
		return keyUnknown, false
	}
	var folded [maxKeyLength]byte
	for i := range len(s) {
		folded[i] = lowerASCII(s[i])
	}
	switch string(folded[:len(s)]) {
	case "user-agent":
		return keyUserAgent, false
	case "useragent", "user agent":
		return keyUserAgent, true
	case "allow":
		return keyAllow, false
	case "disallow":
		return keyDisallow, false
	case "dissallow", "dissalow", "disalow", "diasllow", "disallaw":
		return keyDisallow, true
	case "sitemap":
		return keySitemap, false
	case "site-map":
		return keySitemap, true
	case "host", "clean-param", "license", "llm-policy":
		return keyFileExtension, false
	case "crawl-delay", "crawldelay", "request-rate", "visit-time", "noindex", "nofollow",
		"content-signal", "content-usage", "disallowaitraining":
		return keyGroupExtension, false
	}
	return keyUnknown, false
}

// lowerASCII converts an ASCII letter to lower case. Other bytes stay unchanged.
func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}
