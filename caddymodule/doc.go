// Package caddymodule makes Caddy hold crawlers to the site's own robots.txt.
//
// It registers the handler http.handlers.robots_guard and the page
// http.handlers.robots_guard_dashboard with their Caddyfile directives, the
// request matchers robots_crawler, robots_disallowed, robots_preference and
// robots_rate in http.matchers, the admin API, and the command "caddy
// robots-guard". Package policy knows what a robots.txt means, package uaident
// who a User-Agent claims to be; this package connects both to the server.
package caddymodule
