// Package guard is the engine of robots_guard: it judges the requests of one
// handler by the robots.txt of their site, notes what it finds and passes them on.
package guard
