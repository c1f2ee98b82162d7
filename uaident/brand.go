package uaident

import "strings"

// headlessBrands are brands of headless browsers in Sec-CH-UA. Each is a token of the
// registry.
var headlessBrands = []string{"Lightpanda", "HeadlessChrome"}

// WithBrand returns userAgent followed by the headless browser that the Sec-CH-UA header field
// brands names (https://wicg.github.io/ua-client-hints/#sec-ch-ua). Without a headless brand
// WithBrand returns userAgent unchanged. Lightpanda sends its brand even with a custom User-Agent.
func WithBrand(userAgent, brands string) string {
	for _, brand := range headlessBrands {
		if strings.Contains(brands, brand) && hasBrand(brands, brand) {
			return userAgent + " " + brand
		}
	}
	return userAgent
}

// hasBrand reports whether a member of list is the string brand. list is a list of strings with
// parameters (RFC 8941 section 3.1).
func hasBrand(list, brand string) bool {
	isMember := true // false inside the parameters of a member
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case ' ', '\t':
		case ',':
			isMember = true
		case '"':
			start := i + 1
			for i = start; i < len(list) && list[i] != '"'; i++ {
				if list[i] == '\\' {
					i++ // an escaped byte
				}
			}
			if i < len(list) && isMember && list[start:i] == brand {
				return true
			}
			isMember = false
		default:
			isMember = false
		}
	}
	return false
}
