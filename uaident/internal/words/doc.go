// Package words defines the words of a User-Agent for the generator of the tables and for the
// scanner: the bytes of a word, the case-insensitive hash, and the layout of the hash table.
package words
