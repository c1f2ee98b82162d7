// Package console reads the commands that a document shows in its console
// blocks, and compares what comes out with what it shows.
package console
