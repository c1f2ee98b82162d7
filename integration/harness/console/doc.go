// Package console parses the commands in the console blocks of a document, and compares
// their output with the output in the document.
package console
