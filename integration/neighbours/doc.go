// Package neighbours tests the guard together with other handlers: Caddy's own, and
// substitutes for those of plugins. A substitute has the same name and handler order
// and behaves like the original.
package neighbours
