// Package uaident tells from a User-Agent who a client claims to be, and by
// which names a robots.txt may address it.
//
//	id := uaident.Identify(r.UserAgent())
//	id.Token              // "Googlebot-Image", as it was sent
//	id.Class              // uaident.Search
//	id.AppendChain(nil)   // ["Googlebot-Image", "Googlebot"]
//	id.Wildcard()         // true: the `*` group is meant for it
//
// # A claim
//
// Anybody can send any User-Agent. An [Identity] is therefore what a client
// says of itself, to be verified by the facts in [Crawler.Verification] before
// it earns any trust. The other way round, a client that says it is a crawler
// cannot complain if it is treated as one.
//
// # How it decides
//
// A User-Agent is free text, and names of crawlers occur in those of people's
// devices and apps: a phone is called Spider 8, an editor Code. So nothing here
// is a search for substrings. [Registry.Identify] splits the text into words,
// looks each up in a table, and then asks where it stands: as the first product,
// after "compatible;", with a URL or mail address next to it, after "like", among
// the fields that describe an Android device. Words that every browser sends are
// never a name.
//
// Evidence is strong or weak. A name in the registry, a robot's word in the name,
// the form "(compatible; Foo/1.0; +http..." and a contact whose address says robot
// are strong. Any other contact, a name after "compatible;" alone and words for a
// tool's job, such as webhook, are as common with services and apps, and so is a
// robot's word where an app describes the device that it runs on: a client that
// shows no more is called by its name, of class [Other], and no `*` group is meant
// for it.
//
// Where in doubt it says [Browser]: a crawler that is taken for a browser is a
// nuisance, a reader who is taken for a crawler is locked out.
//
// # Edge cases
//
//   - "-" is a letter of a word, so Googlebot-Image never yields Googlebot. That
//     it obeys Googlebot's groups is a fact of the registry, in the chain.
//   - Of several known names one that the `*` group is meant for wins, so that
//     "UptimeRobot/2.0 GPTBot/1.2" is GPTBot; then the client's own: the first
//     product, if the User-Agent does not begin with Mozilla, then one with a
//     contact. An unknown robot's product or a policy's name wins over a known
//     name that `*` spares, too.
//   - A policy's name that stands before a known one is the token, as in
//     "FooSpider/Nutch-1.7"; the names of the known one follow it in the chain.
//   - Case tells one pair of names apart: Exalead's Exabot and Exa's ExaBot.
//   - iMessage sends "facebookexternalhit/1.1 Facebot Twitterbot/1.0" from the
//     reader's own device. It is facebookexternalhit, class [Preview].
//   - An empty User-Agent, or "-" as logs have it, is a browser.
//   - A version belongs to a name only up to its first dot: Nutch-1.7 is sent as
//     "Nutch-1", and its registry entry is Nutch. So FooBot-2.0 is FooBot to a policy
//     that has a group for FooBot.
//   - Tokens such as Google-Extended exist in robots.txt files alone. A client that
//     sends one is identified, but its chain is empty: no group applies to it.
//   - Any bytes will do. At most the first 2,048 are read.
//
// # Names of a policy
//
// A robots.txt may name a crawler that the registry has never heard of. An
// [Overlay] holds such names for [Registry.IdentifyWith]; they count only where
// they stand as products, so that a rule for "Fire" does not catch a tablet.
//
// # The registry
//
// It is compiled from registry.json, one entry a line, by go generate. To add a
// crawler, add its line and run go generate; a test then requires that the
// crawler is found. What a word of a browser is, and which names are those of
// apps too, is in words.json. [Registry.With] adds entries at run time.
package uaident
