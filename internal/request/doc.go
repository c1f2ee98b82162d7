// Package request reads properties of a request in Caddy: its target, the client address and
// the site whose robots.txt applies. It also walks the routes of a server.
package request
