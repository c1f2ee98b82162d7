// Package verify checks whether a client with the name of a crawler is that crawler. It uses
// the data that the operator publishes: address lists, and domains for reverse DNS.
//
//	v := verify.New(verify.Options{})
//	err := v.Configure(verify.Config{
//		Crawlers:   uaident.Default().Crawlers(),
//		Ranges:     true,
//		ReverseDNS: true,
//	})
//	go v.Run(ctx) // keeps the address lists up to date
//	...
//	finding := v.Check(id.Crawler, addr) // never waits
//
// # States
//
//   - [Verified]: one method confirmed that the address belongs to the operator. The lists
//     and domains of all its crawlers apply to each of them, since operators move crawlers
//     between hosts.
//   - [Spoofed]: every enabled method conclusively denied the address.
//   - [Unknown]: not decided. A lookup is running or failed, a list could not be fetched, or
//     the address is not public.
//   - [Claimed]: the operator publishes no method, or no method that can deny a client.
//
// # What never makes a client spoofed
//
//   - A failed lookup, such as a timeout, SERVFAIL or REFUSED. Only a server's answer that no
//     such name exists, or other names, can deny a client.
//   - A list that was never loaded, or that was not confirmed for more than a week.
//   - Facts from other sources than the operator ([uaident.Verification.IsThirdParty]). Such
//     facts can confirm a client, but not deny one. Lists and domains that the site's owner
//     configured can do both.
//   - A link preview. Readers' devices fetch previews too: iMessage sends the name
//     facebookexternalhit.
//   - A user-triggered fetcher without published addresses. Many fetch from their users'
//     networks.
//   - An address that is private, loopback or otherwise not public, since that is a proxy.
//
// # Cost of a request
//
// [Verifier.Check] never waits for the network, and does not allocate if the result is cached.
// A request takes a lock that all requests share only to queue a lookup. If reverse DNS has to
// decide, the first request from an address is [Unknown] and queues a lookup. The result of the
// lookup decides later requests. The number of running lookups, the length of the queue and the
// rate are bounded. Operators take turns in the queue, and so do the networks of an operator, so
// that one network cannot delay others. Networks with slow DNS zones share a part of the slots. The
// cache of results is bounded, and verified results have a cache of their own that failed ones
// cannot evict.
package verify
