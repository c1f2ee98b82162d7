// Package cowmap has maps for frequent reads and rare writes. A read does not lock or allocate.
package cowmap
