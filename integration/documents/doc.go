// Package documents runs the configurations and commands in the documentation and the
// examples, and compares their output with the documented output.
package documents
