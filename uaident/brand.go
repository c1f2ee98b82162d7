package uaident

import "strings"

// headlessBrands are the headless browsers that name themselves as a brand in Sec-CH-UA.
// Each is a token of the registry, and no browser's brand has it as a part.
var headlessBrands = []string{"Lightpanda", "HeadlessChrome"}

// WithBrand returns a User-Agent followed by the headless browser that a Sec-CH-UA field
// (https://wicg.github.io/ua-client-hints/#sec-ch-ua) names as a brand, so that it can be
// identified by both. Without such a brand it returns the User-Agent as it is. Lightpanda
// sends the brand "Lightpanda" also with a User-Agent that its user chose.
func WithBrand(userAgent, brands string) string {
	for _, brand := range headlessBrands {
		if strings.Contains(brands, brand) {
			return userAgent + " " + brand
		}
	}
	return userAgent
}
