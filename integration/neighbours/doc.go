// Package neighbours tests the guard beside other handlers: Caddy's own, and stand-ins for those of plugins, which
// behave alike and have the same names and places.
package neighbours
