// Package admin is the part of Caddy's admin API that tells of robots_guard: what
// is known of each robots.txt, what crawlers did, and why a request is judged as
// it is.
package admin
