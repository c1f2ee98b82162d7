// Package site identifies the site of a request, and fetches its robots.txt: from the server of the
// site with a request of the guard's own, from a URL, or from a file.
//
// A [Site] has a key of its own, the key of its robots.txt, a label and a segment of the cache:
//
//	host of the request          own key: Site, Host        Label          CacheSegment
//	named in the configuration   a.test, a.test             a.test         ConfiguredHosts
//	matched by a wildcard        *.a.test, x.a.test         *.a.test       UnknownHosts
//	any other host               "", the host               judge.OtherName  UnknownHosts
//
// The two keys differ only for a guard with a source: the key of the robots.txt then has the
// Source. Logs show keys. Reports, metrics and events show labels.
package site
