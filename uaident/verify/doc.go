// Package verify tells whether a client that says it is somebody's crawler is
// that crawler, by what the crawler's operator publishes: the addresses it
// fetches from, and the domains that the names of those addresses belong to.
//
//	v := verify.New(verify.Options{})
//	err := v.Configure(verify.Config{
//		Crawlers:   uaident.Default().Crawlers(),
//		Ranges:     true,
//		ReverseDNS: true,
//	})
//	go v.Run(ctx) // keeps the lists of addresses up to date
//	...
//	finding := v.Check(id.Crawler, addr) // never waits
//
// # States
//
//   - [Verified]: one method confirmed that the address belongs to the operator. The
//     lists and domains of all its crawlers count for each of them, since operators
//     move crawlers between their hosts.
//   - [Spoofed]: the address belongs to no crawler of the operator: every method
//     that is switched on denied it, each conclusively.
//   - [Unknown]: not decided: a look-up is under way or failed, a list could not
//     be fetched, or the address is not of the public Internet.
//   - [Claimed]: there is nothing to hold the claim against, or nothing that may
//     deny it.
//
// # What never makes a crawler a liar
//
//   - A failed look-up: a time-out, SERVFAIL, REFUSED, an answer that makes no
//     sense. Only a server's answer that there is no such name, or names that do
//     not fit, count. One thing follows from failures: where current lists of the
//     operator deny an address whose reverse zone did not answer well five times in
//     a row, while the DNS does answer about addresses of these lists, the lists
//     decide alone. Whoever has an address has its zone.
//   - A list that was never loaded, or that could not be confirmed to be current
//     for longer than a week.
//   - Facts that are not from the operator ([uaident.Verification].Unsure). They
//     may confirm, and what the owner of the site configures counts as sure.
//   - Being a link preview: they run on the devices of readers too, as iMessage
//     does, which says that it is facebookexternalhit.
//   - Being a user-triggered fetcher whose addresses are not published: many
//     fetch from where their users are.
//   - An address that is private, loopback or otherwise not of the public
//     Internet: it is that of a proxy in between.
//
// # What a request costs
//
// [Verifier.Check] never waits, takes no lock that all requests share and does
// not allocate when the answer is known. The first request of an address is
// [Unknown] unless a list has it; the look-up that it causes counts for those
// that follow. Look-ups are bounded in number at once, in number waiting, and by
// a rate, so that many invented claims cost little more than one. Operators take
// turns at them, and so do the networks of each, so that those of one cannot hold up
// those of others; nor can zones that answer slowly. What is
// remembered is bounded too, and what is verified is kept apart, so that claims
// that fail cannot displace it.
package verify
