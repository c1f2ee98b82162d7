// Package spacesaving counts the most frequent of many different items in little
// memory.
package spacesaving
