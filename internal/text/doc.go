// Package text makes text that others wrote fit to be shown: safe in a line of
// plain text or a terminal, and no longer than there is room for. It writes durations, too.
package text
