// Package caddymodule is the Caddy module, which makes crawlers obey the robots.txt of a site.
//
// The package registers the handler http.handlers.robots_guard and the page
// http.handlers.robots_guard_dashboard with their Caddyfile directives, the request matchers
// robots_crawler, robots_disallowed, robots_preference and robots_rate in http.matchers, the admin
// API, and the command "caddy robots-guard". Package policy parses and evaluates a robots.txt.
// Package uaident identifies the client by its User-Agent. This package connects both to Caddy.
package caddymodule
