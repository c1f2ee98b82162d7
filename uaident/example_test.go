package uaident_test

import (
	"fmt"

	"github.com/robotsguard/caddy-robots-guard/uaident"
)

func ExampleIdentify() {
	for _, ua := range []string{
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
		"ExampleBot/1.0 (+https://example.com/bot)",
		"curl/8.7.1",
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
	} {
		id := uaident.Identify(ua)
		fmt.Printf("%q %s, by %s\n", id.Token, id.Class, id.Evidence)
	}
	// Output:
	// "Googlebot" search, by registry
	// "ExampleBot" crawler, by suffix
	// "curl" library, by library
	// "" browser, by none
}

func ExampleIdentity_AppendNames() {
	id := uaident.Identify("Googlebot-Image/1.0")
	fmt.Println(id.AppendNames(nil))
	// Output: [Googlebot-Image Googlebot]
}

func ExampleRegistry_Lookup() {
	c := uaident.Default().Lookup("adsbot-google")
	fmt.Println(c.Token, c.Operator, c.Class, c.WildcardApplies())
	// Output: AdsBot-Google Google ads false
}

func ExampleRegistry_NewOverlay() {
	r := uaident.Default()
	names := r.NewOverlay([]string{"Zorbl", "Googlebot", "Mozilla", "*"})
	id := r.IdentifyWithOverlay("Zorbl/1.0", names)
	fmt.Println(id.Name(), id.Class, id.HasKnownName())
	fmt.Println(r.Identify("Zorbl/1.0").HasKnownName())
	// Output:
	// Zorbl other true
	// false
}

func ExampleRegistry_WithCrawlers() {
	r, err := uaident.Default().WithCrawlers(uaident.Crawler{
		Token:    "AcmeFetch",
		Class:    uaident.Monitor,
		Wildcard: uaident.WildcardOn,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	id := r.Identify("acmefetch/2.0")
	fmt.Println(id.Name(), id.Class, id.WildcardApplies())
	// Output: AcmeFetch monitor true
}
