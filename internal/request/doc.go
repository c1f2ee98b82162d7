// Package request tells what Caddy knows of a request: its target, the address of
// its client, whose robots.txt it is about, and which routes there are.
package request
