// Package caddymodule makes Caddy hold crawlers to the site's own robots.txt.
//
// It registers the handler http.handlers.robots_guard with its Caddyfile
// directive, the request matchers http.matchers.robots_crawler and
// http.matchers.robots_disallowed, and the command "caddy robots-guard". What a
// robots.txt means is decided by package policy, who a User-Agent claims to be
// by package uaident; this package connects both to the server.
package caddymodule
