// Package uaident identifies clients by their User-Agent and lists the names under which a
// robots.txt can address them.
//
//	id := uaident.Identify(r.UserAgent())
//	id.Token              // "Googlebot-Image", as sent
//	id.Class              // uaident.Search
//	id.AppendNames(nil)   // ["Googlebot-Image", "Googlebot"]
//	id.WildcardApplies()  // true: the `*` group applies
//
// # Trust
//
// Any client can send any User-Agent. An [Identity] is therefore a claim. Verify the client
// with the data in [Crawler.Verification] before you trust it.
//
// # Algorithm
//
// The names of crawlers also occur in the User-Agents of devices and apps: a phone is called Spider
// 8, an editor Code. So the package never searches for these names as substrings.
// [Registry.Identify] splits the User-Agent into words, looks up each word in a table, and checks
// its position: first product, after "compatible;", next to a URL or mail address, after "like", or
// in the device fields of Android. Words of browsers are never names.
//
// Strong evidence is a crawler's name in the registry, a robot word in the name, the form
// "(compatible; Foo/1.0; +http...", or a robot's URL or mail address. Weak evidence is any other
// URL or mail address, a name after "compatible;" alone, a word for a tool such as webhook, an
// unknown product after "Mozilla/5.0", or a robot word next to the description of an app's device.
// Services and apps send weak evidence too. A client with only weak evidence has class [Other], and
// no `*` group applies to it.
//
// In doubt the result is [Browser]. A crawler that passes as a browser is a nuisance. A
// reader who is mistaken for a crawler is locked out.
//
// # Edge cases
//
//   - "-" is part of a word, so Googlebot-Image is never Googlebot. [Identity.AppendNames]
//     adds Googlebot, because the registry has Googlebot as the fallback.
//   - If a User-Agent contains several registry names, a name to which the `*` group applies
//     takes precedence: "UptimeRobot/2.0 GPTBot/1.2" is GPTBot. Next is the first product,
//     unless the User-Agent begins like a browser's, then a name with a contact. An unknown
//     robot's product or a group name of the robots.txt also takes precedence over a registry
//     name that is exempt from `*`.
//   - A group name of the robots.txt before a registry name is the token, as in
//     "FooSpider/Nutch-1.7". [Identity.AppendNames] appends the names of the entry too.
//   - Only one pair of names differs by case: Exalead's Exabot and Exa's ExaBot.
//   - iMessage sends "facebookexternalhit/1.1 Facebot Twitterbot/1.0" from the reader's
//     device. The result is facebookexternalhit of class [Preview].
//   - An empty User-Agent, or "-" as in logs, is a browser.
//   - A token ends at the first dot of its version. Nutch-1.7 has the token "Nutch-1" and the
//     registry entry Nutch. FooBot-2.0 is FooBot if the robots.txt has a group for FooBot.
//   - Google-Extended and similar tokens exist in robots.txt files only. A client that sends
//     such a token is identified, but [Identity.AppendNames] returns no names.
//   - Any bytes are valid input. The package reads the first 2,048 bytes.
//
// # Group names of a robots.txt
//
// A robots.txt can name a crawler without a registry entry. An [Overlay] passes such group names
// to [Registry.IdentifyWithOverlay]. A group name identifies a client only in the position of a
// product or in the host of a URL, so that a rule for "Fire" does not apply to a tablet.
//
// # The registry
//
// go generate compiles the registry from registry.json, which has one entry a line. To add a
// crawler, add its line and run go generate. A test then checks that the crawler is
// identified. words.json lists words with other roles, such as the words of browsers, and the
// crawler names that are also apps, companies or ordinary words.
// [Registry.WithCrawlers] adds entries at run time.
package uaident
