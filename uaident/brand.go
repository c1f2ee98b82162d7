package uaident

import "strings"

// headlessBrands are brands of headless browsers in Sec-CH-UA. Each is a token of the
// registry.
var headlessBrands = []string{"Lightpanda", "HeadlessChrome"}

// AppendHeadlessBrand returns userAgent followed by a space and the headless browser that secCHUA
// names, or only userAgent if secCHUA names no headless browser. secCHUA is the header field
// Sec-CH-UA (https://wicg.github.io/ua-client-hints/#sec-ch-ua). Lightpanda sends its brand even
// with a custom User-Agent.
func AppendHeadlessBrand(userAgent, secCHUA string) string {
	for _, brand := range headlessBrands {
		if strings.Contains(secCHUA, brand) && hasBrand(secCHUA, brand) {
			return userAgent + " " + brand
		}
	}
	return userAgent
}

// hasBrand reports whether list contains the string brand. list is a Structured Field list of
// strings with parameters (RFC 8941 section 3.1).
func hasBrand(list, brand string) bool {
	isMember := true // This is false for a parameter of a member.
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case ' ', '\t':
		case ',':
			isMember = true
		case '"':
			start := i + 1
			for i = start; i < len(list) && list[i] != '"'; i++ {
				if list[i] == '\\' {
					i++ // This skips the escaped byte.
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
