// Package report is what people and programs are told about the crawlers of a
// server: the views of the dashboard, of the admin API and of an audit of log
// files. Its types are what these send as JSON, and the examples in testdata
// show each of them.
//
// The JSON of a view says what was counted and since when, and takes no side:
// a crawler is whoever used its name, as far as its identity says.
//
// Names of fields, which the JSON of all views shares:
//
//   - Times are RFC 3339 in UTC. A time that is not known is absent.
//   - token is a product token that the registry or a robots.txt spells, or
//     _other, which stands for all others, or _spoofed for those that are known
//     to use a false name.
//   - name is what a client calls itself whose token stands for several, and
//     host the host that was asked where the site does.
//   - site is a host that the configuration names (*.example.com where it names
//     a wildcard), or _other, which stands for all others.
//   - version is the SHA-256 of a robots.txt in hexadecimal.
//   - Lists are never null.
package report
