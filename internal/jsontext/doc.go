// Package jsontext reads JSON texts that people write: of a known form, with nothing
// unknown and nothing twice, and with errors that say in which line and column.
package jsontext
