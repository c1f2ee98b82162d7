// Package cowmap has a map for what is read at every request and hardly ever
// written.
package cowmap
