// Package ledger remembers who did what, in bounded memory.
package ledger
