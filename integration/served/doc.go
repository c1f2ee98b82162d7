// Package served tests that the guard applies to a crawler the file that the crawler
// was served, and that no client can change the file that counts for others.
package served
