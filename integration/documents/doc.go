// Package documents runs what the documents and the examples show: configurations, commands and their output.
package documents
