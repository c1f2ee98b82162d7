// Package cowmap has maps that every request reads and few requests write. Reading them takes
// no lock and does not allocate.
package cowmap
