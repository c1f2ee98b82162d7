// Package text prepares text from clients and files for output. The result is safe in a line of
// plain text or a terminal, and has a maximum length. The package also formats durations.
package text
