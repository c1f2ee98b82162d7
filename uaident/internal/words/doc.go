// Package words holds what the generator of the tables and the scanner of
// User-Agents must agree on: which bytes make a word, how a word is hashed
// without regard to case, and how the hash table is laid out.
package words
