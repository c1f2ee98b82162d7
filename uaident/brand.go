package uaident

import "strings"

// headlessBrands are brands of headless browsers in Sec-CH-UA. Each is a token of the
// registry and no substring of a browser's brand.
var headlessBrands = []string{"Lightpanda", "HeadlessChrome"}

// WithBrand returns userAgent followed by the headless browser that the Sec-CH-UA header
// field brands names (https://wicg.github.io/ua-client-hints/#sec-ch-ua). Without a headless
// brand it returns userAgent unchanged. Lightpanda sends its brand even with a custom
// User-Agent.
func WithBrand(userAgent, brands string) string {
	for _, brand := range headlessBrands {
		if strings.Contains(brands, brand) {
			return userAgent + " " + brand
		}
	}
	return userAgent
}
