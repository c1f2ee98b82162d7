// Package evasion tests every way we know of to get a forbidden page nevertheless: spellings, shapes, names and moments.
package evasion
