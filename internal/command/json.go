package command

import (
	"encoding/json"
	"io"
)

// newEncoder returns an encoder that leaves <, > and & as they are: what is printed is for
// people and programs, and in no web page.
func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// writeJSON prints a value as an indented JSON object.
func writeJSON(w io.Writer, value any) error {
	enc := newEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}
