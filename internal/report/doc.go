// Package report contains the views of the dashboard, the admin API and audits of log files.
// The types define the returned JSON. The directory testdata has examples.
//
// Conventions of all views:
//
//   - Times are RFC 3339 in UTC. Unknown times are absent.
//   - token is a product token of the registry or of a robots.txt. _other stands for all
//     other clients, _spoofed for clients with a false name.
//   - name is the client's own name under a shared token. host is the requested host of a
//     site that stands for several.
//   - site is a host of the configuration, such as *.example.com for a wildcard. _other
//     stands for all other hosts.
//   - version is the SHA-256 of a robots.txt in hexadecimal.
//   - Lists are never null.
//
// A crawler is any client with its name. The identity states whether the client was verified.
package report
